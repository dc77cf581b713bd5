"""A paired comparison of two runs of one benchmark: the change of every metric, and the items that changed."""

from __future__ import annotations

from contextlib import suppress
from itertools import takewhile
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from grader.decisions import conditions
from grader.decisions.conditions import ConditionDifference, check_judges
from grader.errors import UsageError
from grader.results import READINGS, ReadingName, Report, SampleResult, metrics_leaving_out_unscored
from grader.results.groups import by_observation, grouped, in_group
from grader.results.names import stem_of
from grader.scorers.means import mean_credit
from grader.scorers.pairing import (
    MetricComparison,
    NothingPairedError,
    Side,
    comparable_reports,
    incomparable_observations,
)
from grader.scorers.registry import AnyScorer, scorer_of
from grader.statistics.corrections import benjamini_hochberg
from grader.statistics.paired import DECIMALS, LEVEL
from grader.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from grader.results import Metric

MAX_GROUPS = 40
"""The groups of a field with more groups than this are not compared: each would be one more test to correct for."""


class Flip(msgspec.Struct, frozen=True, kw_only=True):
    """An item whose value in the first metric changed."""

    item: str
    before: float
    """From 0 to 1."""
    after: float
    outcomes: tuple[list[str], list[str]]
    """Outcomes of the samples that the values are of, before and after."""


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

    @property
    def file(self) -> str:
        """Its results file, or its prediction file; empty if neither is known."""
        return self.results or self.predictions

    def __str__(self) -> str:
        """Return the file and the user's name or the model, if they are known."""
        name = self.name or self.model
        return f"{self.file} ({name})" if self.file and name else self.file or name


def _stem(file: str) -> str:
    return stem_of(Path(file)).name.removesuffix("_results")


def distinct_names(names: Sequence[RunName]) -> list[RunName]:
    """Return the names of runs; equal ones get the part of their paths that differs.

    It replaces a name that is from the path, and follows a name of the user or the model: `tiny (step300)`.
    """
    names_by_path: dict[str, str] = {}
    for equal_names in grouped(names, lambda name: name.short).values():
        if len(equal_names) > 1:
            names_by_path |= _names_from_paths(equal_names)
    return [
        msgspec.structs.replace(name, name=new_name) if (new_name := names_by_path.get(name.path)) else name
        for name in names
    ]


def _names_from_paths(runs: list[RunName]) -> dict[str, str]:
    """Return path -> name with the part of the path that differs: `m1` of `out/m1/vstar` beside `out/m2/vstar`.

    The whole path, if a run has no such part.
    """
    paths = [PurePath(run.path).parts for run in runs]
    prefix = _common_prefix_length(paths)
    suffix = _common_prefix_length([path[::-1] for path in paths])
    parts = [path[prefix : len(path) - suffix] for path in paths]
    middles = [str(PurePath(*part)) for part in parts] if all(parts) else [run.path for run in runs]
    distinct = {}
    for run, middle in zip(runs, middles, strict=True):
        name = run.name or run.model
        distinct[run.path] = f"{name} ({middle})" if name and middle else middle
    return distinct


def _common_prefix_length(paths: Sequence[Sequence[str]]) -> int:
    """Return how many first parts all paths have in common."""
    levels = zip(*paths, strict=False)
    return sum(1 for _ in takewhile(lambda parts: len(set(parts)) == 1, levels))


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """The differences between two runs of one benchmark."""

    schema: int = 1
    benchmark: str
    split: str
    protocol: str
    reading: ReadingName
    """The reading of the flips."""
    metrics: list[MetricComparison]
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


def check_comparable(before: Report, after: Report) -> None:
    """Raise UsageError if a difference between two runs would be meaningless."""
    if problem := _why_not_comparable(before, after):
        raise UsageError(f"These runs cannot be compared: {problem}.")
    check_judges(before, after)
    for report, which in ((before, "first"), (after, "second")):
        if not report.samples:
            raise UsageError(f"These runs cannot be compared: the {which} one has no scored samples.")


def _why_not_comparable(before: Report, after: Report) -> str:
    """Return what differs in benchmark, data or scoring, so that metrics mean different things; empty if nothing."""
    for field in ("benchmark", "split", "protocol"):
        first, second = getattr(before, field), getattr(after, field)
        if first != second:
            return f"{field} {first!r} and {second!r}"
    first, second = before.provenance.data_digest, after.provenance.data_digest
    if first != second:
        return f"they were graded against different data ({first or 'unknown'} and {second or 'unknown'})"
    first, second = before.provenance.settings, after.provenance.settings
    if first != second:
        first, second = _differing(first, second), _differing(second, first)
        return f"their scorer had different settings ({first} and {second})"
    aggregations = [(run.aggregation.mean_over, run.aggregation.f1_of) for run in (before, after)]
    # A run without `mean_over` and `f1_of` has fewer metrics, and these mean the same as in the other run.
    have_aggregations = all(any(aggregation) for aggregation in aggregations)
    if have_aggregations and aggregations[0] != aggregations[1]:
        return "`mean_over` or `f1_of` in benchmark.toml is another one"
    return ""


def _differing(settings: Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that are not the same in others."""
    return {
        name: _differing(value, others.get(name, {})) if isinstance(value, dict) else value
        for name, value in settings.items()
        if value != others.get(name)
    }


def compare(
    before: Report,
    after: Report,
    *,
    reading: ReadingName = "careful",
    names: tuple[RunName, RunName] | None = None,
) -> Comparison:
    """Compare two runs, paired by observation. Raises UsageError if benchmark, data or protocol differ.

    `reading`: that of the flips. `names`: those of the runs, for runs of files.
    """
    check_comparable(before, after)
    scorer = scorer_of(after)
    headline = _headline(before, after)
    notes_on_runs = _notes(before, after)
    a, b = distinct_names(names or (run_name(before), run_name(after)))
    before, after = comparable_reports(before, after)
    comparisons = []
    for metric in _metrics_to_compare(after, headline):
        comparison = compare_metric(before, after, scorer, metric.name, metric.reading, group=metric.group)
        if comparison is not None:
            comparisons.append(comparison)
    if not comparisons:
        raise NothingPairedError
    comparisons = _with_corrected_p_values(comparisons, headline)
    risen, fallen = _flips(before, after, reading)
    notes = _correction_notes(comparisons, headline)
    if condition_differences := conditions.differences(before, after):
        in_words = conditions.in_words(condition_differences)
        notes.append(f"The runs had different conditions, which may change items: {in_words}.")
    return Comparison(
        benchmark=after.benchmark,
        split=after.split,
        protocol=after.protocol,
        reading=reading,
        metrics=comparisons,
        risen=risen,
        fallen=fallen,
        made_differently=condition_differences,
        notes=[*notes, *notes_on_runs],
        a=a,
        b=b,
    )


def _metrics_to_compare(report: Report, headline: str) -> Iterator[Metric]:
    """Yield the overall metrics, and of each group the headline; the two readings of a metric are adjacent.

    The other metrics of groups, and fields with more than `MAX_GROUPS` groups, are not compared: correcting for so many
    tests would hide changes.
    """
    groups_of_field: dict[str, set[str]] = {}
    for metric in report.metrics:
        if metric.group is not None:
            groups_of_field.setdefault(_field_of(metric.group), set()).add(metric.group)
    for metric in (metric for pair in report.pairs().values() for metric in pair if metric is not None):
        group = metric.group
        if group is None or (metric.name == headline and len(groups_of_field[_field_of(group)]) <= MAX_GROUPS):
            yield metric


def _field_of(group: str) -> str:
    return group.partition("=")[0]


def compare_metric(
    before: Report, after: Report, scorer: AnyScorer, name: str, reading: ReadingName, *, group: str | None
) -> MetricComparison | None:
    """Compare one metric of two runs; None if a run has no value, or no item of the group is scored in both."""
    metrics = [run.metric(name, reading, group) for run in (before, after)]
    if any(metric is None or metric.value is None for metric in metrics):
        return None
    with suppress(NothingPairedError):
        return scorer.compare(Side(before, reading), Side(after, reading), name, group)
    return None


def _with_corrected_p_values(comparisons: list[MetricComparison], headline: str) -> list[MetricComparison]:
    """Correct all p values but that of the first metric, which was chosen before the data were seen."""
    comparisons = comparisons.copy()
    for reading in READINGS:
        indexes = [
            index
            for index, comparison in enumerate(comparisons)
            if comparison.reading == reading and (comparison.name, comparison.group) != (headline, None)
        ]
        p_values = benjamini_hochberg([comparisons[index].difference.p_value for index in indexes])
        for index, p_value in zip(indexes, p_values, strict=True):
            comparisons[index] = msgspec.structs.replace(comparisons[index], corrected=p_value)
    return comparisons


def _correction_notes(comparisons: list[MetricComparison], headline: str) -> list[str]:
    number = max(
        sum(comparison.corrected is not None and comparison.reading == reading for comparison in comparisons)
        for reading in READINGS
    )
    if number < 2:
        return []
    correction = (
        f"corrected for {number} comparisons (Benjamini-Hochberg: of all significant ones, {100 * LEVEL:.0f} % are "
        "false on average)"
    )
    if all(comparison.corrected is not None for comparison in comparisons):  # the first metric has no value
        return [f"The p values are {correction}; no interval is corrected."]
    return [
        f"The p values of the other metrics and of the categories are {correction}. The p value of {headline}, the "
        "first metric, is not corrected; neither is any interval."
    ]


def run_name(report: Report, results_path: str = "", name: str = "") -> RunName:
    """Return the names of a run; `name` is the user's name for it."""
    return RunName(
        results=results_path,
        predictions=report.provenance.predictions,
        model=report.model or "",
        name=name,
        official_notes=report.official_notes(),
    )


def _flips(before: Report, after: Report, reading: ReadingName) -> tuple[list[Flip], list[Flip]]:
    """Return the items whose value rose and those whose value fell, largest change first."""
    first, second = _items(before, after, reading)
    flips = []
    for item, value_before in first.values.items():
        value_after = second.values.get(item)
        if value_before is None or value_after is None or round(value_after - value_before, DECIMALS) == 0:
            continue
        outcomes = _outcomes(first.samples[item], reading), _outcomes(second.samples[item], reading)
        flips.append(Flip(item=item, before=value_before, after=value_after, outcomes=outcomes))
    flips.sort(key=lambda flip: -abs(flip.after - flip.before))
    return [flip for flip in flips if flip.after > flip.before], [flip for flip in flips if flip.after < flip.before]


def item_values(
    before: Report, after: Report, reading: ReadingName
) -> tuple[Mapping[str, float | None], Mapping[str, float | None]]:
    """Return item -> its value in [0, 1] in each of two runs, without items that have different parts in them.

    None: it is unscored. The value is that in the first metric. If this is no mean over items, it is the mean credit
    over the samples that both runs scored.
    """
    first, second = _items(*comparable_reports(before, after), reading)
    return first.values, second.values


class _Items(NamedTuple):
    """The items of one of two runs."""

    values: Mapping[str, float | None]
    samples: dict[str, list[SampleResult]]
    """The samples that the values are of."""


def _items(before: Report, after: Report, reading: ReadingName) -> tuple[_Items, _Items]:
    """Return the items of both runs, with the values of `item_values`."""
    scorer, metric = scorer_of(after), _headline(before, after)
    samples_before, samples_after = in_group(before, None), in_group(after, None)
    values_before, values_after = (scorer.observations(report, metric, reading) for report in (before, after))
    if values_before is not None and values_after is not None:
        return _Items(values_before, samples_before), _Items(values_after, samples_after)
    scored = _scored_ids(samples_before, reading) & _scored_ids(samples_after, reading)
    first, second = (
        {item: [sample for sample in samples if (sample.qid, sample.sample) in scored] for item, samples in run.items()}
        for run in (samples_before, samples_after)
    )
    return _Items(_mean_credits(first, reading), first), _Items(_mean_credits(second, reading), second)


def _headline(before: Report, after: Report) -> str:
    """Return the name of the first metric; empty without metrics."""
    return next((metric.name for report in (after, before) for metric in report.metrics), "")


def _mean_credits(items: dict[str, list[SampleResult]], reading: ReadingName) -> dict[str, float | None]:
    return {item: mean_credit(samples, reading) for item, samples in items.items()}


def _scored_ids(items: dict[str, list[SampleResult]], reading: ReadingName) -> set[tuple[str, int]]:
    """Return (task, number) of the scored samples."""
    samples = (sample for samples in items.values() for sample in samples)
    return {(sample.qid, sample.sample) for sample in samples if sample.reading(reading).is_scored}


def _outcomes(samples: list[SampleResult], reading: ReadingName) -> list[str]:
    return [str(sample.reading(reading).outcome) for sample in samples]


def _notes(before: Report, after: Report) -> list[str]:
    names_before, names_after = (
        dict.fromkeys(metric.name for metric in run.metrics if metric.group is None and metric.value is not None)
        for run in (before, after)
    )
    in_one_run = [name for name in names_before | names_after if name not in names_before or name not in names_after]
    notes = [f"Not compared, because only one run has a value: {', '.join(in_one_run)}."] if in_one_run else []
    items_before, items_after = (set(by_observation(report.samples)) for report in (before, after))
    for items, which in ((items_before - items_after, "first"), (items_after - items_before, "second")):
        if items:
            number = counted(len(items), "item")
            verb = "is" if len(items) == 1 else "are"
            notes.append(f"{number} {verb} only in the {which} run: excluded from all differences.")
    if incomparable := incomparable_observations(before, after):
        number = counted(len(incomparable), "item")
        notes.append(f"{number} with different parts (passes, solutions) in the runs: excluded from all differences.")
    for report, which in ((before, "first"), (after, "second")):
        if report.unscored:
            number, verb = counted(report.unscored, "sample"), "is" if report.unscored == 1 else "are"
            metrics = metrics_leaving_out_unscored(report)
            notes.append(f"{number} of the {which} run {verb} unscored: excluded from the differences of {metrics}.")
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
