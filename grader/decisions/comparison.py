"""A paired comparison of two runs of one benchmark: the change of every metric, and the items that changed."""

from __future__ import annotations

from contextlib import suppress
from itertools import takewhile
from pathlib import PurePath
from typing import TYPE_CHECKING

import msgspec

from grader.decisions.conditions import ConditionDifference, check_judges, differences, in_words
from grader.errors import UsageError
from grader.results import READINGS, ReadingName, Report, SampleResult, metrics_without_unscored
from grader.results.groups import by_observation, grouped, in_group
from grader.scorers.means import mean_credit
from grader.scorers.pairing import Compared, NothingPairedError, Side
from grader.scorers.registry import AnyScorer, scorer_of
from grader.statistics.corrections import benjamini_hochberg
from grader.statistics.paired import LEVEL
from grader.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_LABELS = 40
"""A breakdown with more labels than this is not compared group by group."""


class Flip(msgspec.Struct, frozen=True, kw_only=True):
    """An observation whose value in a metric changed."""

    item: str
    before: float
    """From 0 to 1."""
    after: float
    outcomes: tuple[list[str], list[str]]
    """Outcomes of its samples, before and after."""


class RunName(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The names of a run."""

    results: str = ""
    """Path of its results file, as the user gave it."""
    predictions: str = ""
    """Name of its prediction file."""
    model: str = ""
    name: str = ""
    """The user's name for it: NAME of `NAME=RESULTS`."""
    official_notes: list[str] = []
    """The notes on its official values."""

    @property
    def short(self) -> str:
        """Its name in tables: the user's name, its model, or the file name without its ending."""
        return self.name or self.model or _stem(self.predictions) or _stem(self.results) or "unnamed run"

    @property
    def path(self) -> str:
        """The path of its results file without its ending."""
        return str(PurePath(self.results).with_name(_stem(self.results))) if self.results else ""

    def __str__(self) -> str:
        """Return the file and the model, if they are known."""
        known = self.results or self.predictions
        called = self.name or self.model
        return f"{known} ({called})" if known and called else known or called


_ENDINGS = (".gz", ".json", ".jsonl", ".tsv", ".csv", ".xlsx", ".eval", "_results")


def _stem(file: str) -> str:
    name = PurePath(file).name
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    return name


def distinct_names(names: Sequence[RunName]) -> list[RunName]:
    """Return the names of runs; those that are called alike get the part of their paths that differs.

    It follows a name that the user or the prediction file gave: `tiny (step300)`.
    """
    alike = grouped(names, lambda run: run.short)
    parts = {run.path: part for runs in alike.values() if len(runs) > 1 for run, part in _differing(runs)}
    return [msgspec.structs.replace(run, name=part) if (part := parts.get(run.path)) else run for run in names]


def _differing(runs: list[RunName]) -> Iterator[tuple[RunName, str]]:
    """Yield each run with the part of its path that differs: `m1` of `out/m1/vstar` beside `out/m2/vstar`."""
    paths = [PurePath(run.path).parts for run in runs]
    same_folders, same_ends = (
        sum(1 for _ in takewhile(lambda level: len(set(level)) == 1, zip(*each, strict=False)))
        for each in (paths, [path[::-1] for path in paths])
    )
    middles = [
        str(PurePath(*path[same_folders : len(path) - same_ends])) if len(path) > same_folders + same_ends else ""
        for path in paths
    ]
    for run, middle in zip(runs, middles if all(middles) else [run.path for run in runs], strict=True):
        name = run.name or run.model
        yield run, f"{name} ({middle})" if name and middle else middle


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """The differences between two runs of one benchmark."""

    schema: int = 1
    benchmark: str
    split: str
    protocol: str
    reading: ReadingName
    """The reading of the flips."""
    metrics: list[Compared]
    risen: list[Flip]
    fallen: list[Flip]
    made_differently: list[ConditionDifference] = []
    """Differences in the conditions of the two runs that may matter."""
    notes: list[str] = []
    a: RunName = RunName()
    b: RunName = RunName()

    def names(self) -> tuple[str, str]:
        """Return descriptions of A and B; empty if nothing is known."""
        return str(self.a), str(self.b)


def check_comparable(before: Report, after: Report) -> AnyScorer:
    """Return the scorer of two runs. Raises UsageError if a difference between them would be meaningless."""
    for what in ("benchmark", "split", "protocol"):
        first, second = getattr(before, what), getattr(after, what)
        if first != second:
            raise UsageError(f"These runs cannot be compared: {what} {first!r} and {second!r}.")
    first, second = before.provenance.data_digest, after.provenance.data_digest
    if first != second:
        raise UsageError(
            "These runs cannot be compared: they were graded against different data "
            f"({first or 'unknown'} and {second or 'unknown'})."
        )
    if before.provenance.settings != after.provenance.settings:
        raise UsageError(
            "These runs cannot be compared: their scorer had different settings "
            f"({before.provenance.settings} and {after.provenance.settings})."
        )
    ways = [(run.aggregation.mean_over, run.aggregation.f1_of) for run in (before, after)]
    if ways[0] != ways[1] and all(map(any, ways)):
        raise UsageError("These runs cannot be compared: `mean_over` or `f1_of` in benchmark.toml is another one.")
    check_judges(before, after)
    scorer = scorer_of(after)
    for report, which in ((before, "first"), (after, "second")):
        if not report.samples:
            raise UsageError(f"These runs cannot be compared: the {which} one has no scored samples.")
    return scorer


def compare(
    before: Report,
    after: Report,
    *,
    reading: ReadingName = "careful",
    files: tuple[str, str] = ("", ""),
    names: tuple[str, str] = ("", ""),
) -> Comparison:
    """Compare two runs, paired by observation. Raises UsageError if benchmark, data or protocol differ.

    `files` are the paths of the results files, `names` the user's names for the runs.
    """
    scorer = check_comparable(before, after)
    rows = []
    headline = next((metric.name for report in (after, before) for metric in report.metrics), "")
    fields = fields_shown(after)
    # Both readings of a metric are adjacent.
    for metric in (metric for pair in after.pairs().values() for metric in pair if metric is not None):
        if metric.group is not None and (metric.name != headline or metric.group.partition("=")[0] not in fields):
            continue
        row = compare_metric(before, after, scorer, metric.name, metric.reading, group=metric.group)
        if row is not None:
            rows.append(row)
    if not rows:
        raise NothingPairedError
    rows = _corrected(rows, headline)
    risen, fallen = flips(before, after, scorer, headline, reading)
    conditions = differences(before, after)
    warning = (
        [f"The runs had different conditions, which may change items: {in_words(conditions)}."] if conditions else []
    )
    return Comparison(
        benchmark=after.benchmark,
        split=after.split,
        protocol=after.protocol,
        reading=reading,
        metrics=rows,
        risen=risen,
        fallen=fallen,
        made_differently=conditions,
        notes=[*_correction(rows), *warning, *_notes(before, after)],
        a=run_name(before, files[0], names[0]),
        b=run_name(after, files[1], names[1]),
    )


def compare_metric(
    before: Report, after: Report, scorer: AnyScorer, name: str, reading: ReadingName, *, group: str | None
) -> Compared | None:
    """Compare one metric of two runs; None if a run has no value, or no item of the group is scored in both."""
    metrics = [run.metric(name, reading, group) for run in (before, after)]
    if any(metric is None or metric.value is None for metric in metrics):
        return None
    with suppress(NothingPairedError):
        return scorer.compare(Side(before, reading), Side(after, reading), name, group)
    return None


def _corrected(rows: list[Compared], headline: str) -> list[Compared]:
    """Correct the p values of every row but the first metric's, which was chosen before the data were seen."""
    by_id = {id(row): row for row in rows}
    for reading in READINGS:
        others = [row for row in rows if row.reading == reading and (row.name, row.group) != (headline, None)]
        p_values = benjamini_hochberg([row.difference.p_value for row in others])
        for row, corrected in zip(others, p_values, strict=True):
            by_id[id(row)] = msgspec.structs.replace(row, corrected=corrected)
    return list(by_id.values())


def _correction(rows: list[Compared]) -> list[str]:
    number = max(sum(row.corrected is not None and row.reading == reading for row in rows) for reading in READINGS)
    if number < 2:
        return []
    return [
        f"The p values of the other metrics and of the categories are corrected for {number} comparisons "
        f"(Benjamini-Hochberg: of all significant ones, {100 * LEVEL:.0f} % are false on average). The p value of "
        f"{rows[0].name}, the first metric, is not corrected; neither is any interval."
    ]


def run_name(report: Report, results: str, name: str = "") -> RunName:
    """Return the names of a run; `name` is the user's name for it."""
    return RunName(
        results=results,
        predictions=report.provenance.predictions,
        model=report.model or "",
        name=name,
        official_notes=report.official_notes(),
    )


def fields_shown(report: Report) -> set[str]:
    """Return the fields that have few enough categories to compare each of them."""
    labels: dict[str, set[str]] = {}
    for metric in report.metrics:
        if metric.group is not None:
            labels.setdefault(metric.group.partition("=")[0], set()).add(metric.group)
    return {field for field, names in labels.items() if len(names) <= MAX_LABELS}


def flips(
    before: Report, after: Report, scorer: AnyScorer, metric: str, reading: ReadingName
) -> tuple[list[Flip], list[Flip]]:
    """Return the observations whose value in a metric rose and those whose value fell, largest change first.

    Of a metric that is not a mean of observations, those whose mean credit changed.
    """
    earlier, later = (in_group(report, None) for report in (before, after))
    if scorer.observe(metric) is not None:
        first, second = (scorer.observations(report, metric, reading) or {} for report in (before, after))
    else:
        first, second = (
            {item: mean_credit(rows, reading) for item, rows in side.items()}
            for side in (_scored_in(earlier, later, reading), _scored_in(later, earlier, reading))
        )
    changed = []
    for item, was in first.items():
        now = second.get(item)
        if was is None or now is None or round(now - was, 12) == 0:
            continue
        outcomes = _outcomes(earlier[item], reading), _outcomes(later[item], reading)
        changed.append(Flip(item=item, before=was, after=now, outcomes=outcomes))
    changed.sort(key=lambda flip: -abs(flip.after - flip.before))
    return [f for f in changed if f.after > f.before], [f for f in changed if f.after < f.before]


def item_values(report: Report, scorer: AnyScorer, metric: str, reading: ReadingName) -> dict[str, float | None]:
    """Return each item's value in [0, 1]: in the metric if it is a mean over items, else its mean credit."""
    if scorer.observe(metric) is not None:
        return scorer.observations(report, metric, reading) or {}
    return {item: mean_credit(rows, reading) for item, rows in by_observation(report.samples).items()}


def _scored_in(
    clusters: dict[str, list[SampleResult]], others: dict[str, list[SampleResult]], reading: ReadingName
) -> dict[str, list[SampleResult]]:
    """Keep only the samples that the other run scored, so that both runs are compared on the same samples."""
    scored = {
        (sample.qid, sample.sample)
        for members in others.values()
        for sample in members
        if sample.reading(reading).is_scored
    }
    return {item: [s for s in members if (s.qid, s.sample) in scored] for item, members in clusters.items()}


def _outcomes(members: list[SampleResult], reading: ReadingName) -> list[str]:
    return [str(sample.reading(reading).outcome) for sample in members]


def _notes(before: Report, after: Report) -> list[str]:
    valued = [
        dict.fromkeys(metric.name for metric in run.metrics if metric.group is None and metric.value is not None)
        for run in (before, after)
    ]
    in_one = [name for name in valued[0] | valued[1] if not all(name in names for names in valued)]
    notes = [f"Not compared, because only one run has a value: {', '.join(in_one)}."] if in_one else []
    first, second = (set(by_observation(report.samples)) for report in (before, after))
    for alone, which in ((first - second, "first"), (second - first, "second")):
        if alone:
            number = counted(len(alone), "item")
            notes.append(f"{number} only in the {which} run: excluded from all differences.")
    for report, which in ((before, "first"), (after, "second")):
        if report.unscored:
            number, metrics = counted(report.unscored, "sample"), metrics_without_unscored(report)
            notes.append(f"{number} of the {which} run unscored: excluded from the differences of {metrics}.")
    if before.provenance.data_digest is None:
        # Runs with different digests are not compared, so neither has one here.
        notes.append("Neither run records its data, so it is unknown whether both were graded against the same data.")
    if same_outputs(before, after):
        notes.append("Both runs graded the same outputs.")
    return notes


def same_outputs(before: Report, after: Report) -> bool:
    """Return whether both runs graded identical outputs, so that no statistics are needed."""
    first = before.provenance.predictions_digest
    return first is not None and first == after.provenance.predictions_digest
