"""A leaderboard of runs of one or several benchmarks: their values, and the ranks that the differences allow.

Every pair of runs of a benchmark is compared with a paired test. The p values are corrected for the number of
comparisons (Holm): the probability that a ranking reports a difference that does not exist is at most 5 %.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import combinations
from pathlib import PurePath
from typing import TYPE_CHECKING

import msgspec

from grader.decisions import published
from grader.decisions.comparison import RunName, check_comparable, distinct_names
from grader.decisions.conditions import differences, in_words, judge_of
from grader.decisions.published import PublishedModel
from grader.errors import UsageError
from grader.results import READINGS, Metric, Part, ReadingName, Report, metrics_without_unscored
from grader.scorers import declarations
from grader.scorers.pairing import NothingPairedError, Side
from grader.scorers.registry import scorer_of
from grader.statistics.corrections import holm
from grader.statistics.paired import LEVEL, Difference, TestName
from grader.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST_RUNS = 60
"""Maximum number of runs of one benchmark: every pair of them is compared."""


class Ranking(msgspec.Struct, frozen=True, kw_only=True):
    """The values of a board's runs in one reading, and their ranks."""

    values: list[Metric | None]
    """One value per run, in the board's order; None: the run does not have the metric."""
    ranks: list[tuple[int, int] | None]
    """Best and worst possible rank of each run; None: not compared."""
    tests: list[TestName] = []
    """The tests of the comparisons."""
    comparisons: int = 0
    """Number of comparisons for which the p values are corrected; 0: the metric is not tested."""


class Board(msgspec.Struct, frozen=True, kw_only=True):
    """The runs of one benchmark that can be compared."""

    benchmark: str
    title: str
    """The benchmark's display name."""
    split: str
    protocol: str
    part: Part | None = None
    judge: str = ""
    metric: str
    """The benchmark's first metric."""
    runs: list[RunName]
    rankings: dict[ReadingName, Ranking]
    published: list[PublishedModel] = []
    """The published models that were asked for; the ranks of the official reading count them."""
    notes: list[str] = []

    def index_of(self, model: str) -> int | None:
        """Return the index of a run, by its name in tables; None: it is not on this board."""
        return next((index for index, run in enumerate(self.runs) if run.short == model), None)


class Leaderboard(msgspec.Struct, frozen=True, kw_only=True):
    """Models by benchmarks."""

    schema: int = 1
    reading: ReadingName
    """The reading that orders the runs."""
    level: float = LEVEL
    """Probability of one or more false positives among all comparisons of a ranking."""
    correction: str = "Holm"
    boards: list[Board]

    def models(self) -> list[str]:
        """Return the names of all runs, each once."""
        return list(dict.fromkeys(str(run.short) for board in self.boards for run in board.runs))


NamedReport = tuple[RunName, Report]


def leaderboard(
    runs: Sequence[NamedReport], *, reading: ReadingName = "careful", with_published: bool = False
) -> Leaderboard:
    """Rank runs. Runs that cannot be compared with the others get a separate board. Raises UsageError.

    `with_published`: rank them among the published models of their benchmarks, too.
    """
    boards: list[list[NamedReport]] = []
    reasons: dict[int, str] = {}
    for run in _with_distinct_names(runs):
        index, reason = _board_index(run, boards)
        if index is None:
            reasons[len(boards)] = reason
            boards.append([run])
        else:
            boards[index].append(run)
    return Leaderboard(
        reading=reading,
        boards=[
            _board(members, reading, reasons[index], with_published=with_published)
            for index, members in enumerate(boards)
        ],
    )


def _with_distinct_names(runs: Sequence[NamedReport]) -> list[NamedReport]:
    """Return the runs; two unrelated files of one name are not taken for one model on two benchmarks.

    Where file names repeat, the folder is the model: `m1/vstar`, `m1/gsm`, `m2/vstar` are two models, `m1` and `m2`.
    """
    unnamed = [(name, report) for name, report in runs if not (name.name or name.model)]
    names = [name for name, _ in unnamed]
    folders = [str(PurePath(name.results).parent) for name in names]
    has_repeats = len({name.short for name in names}) < len(names)
    in_folders = {(folder, report.benchmark) for folder, (_, report) in zip(folders, unnamed, strict=True)}
    if has_repeats and len(in_folders) == len(names):
        models = distinct_names([RunName(results=str(PurePath(folder, "run"))) for folder in folders])
        names = [msgspec.structs.replace(name, name=model.name) for name, model in zip(names, models, strict=True)]
    else:
        names = distinct_names(names)
    new_names = iter(names)
    return [(name if name.name or name.model else next(new_names), report) for name, report in runs]


def _board_index(run: NamedReport, boards: list[list[NamedReport]]) -> tuple[int | None, str]:
    """Return the board of a run; or None, and why it does not fit the boards of its benchmark (empty: it has none)."""
    _, report = run
    reason = ""
    for index, members in enumerate(boards):
        name, first = members[0]
        if (first.benchmark, first.split, first.protocol) != (report.benchmark, report.split, report.protocol):
            continue
        try:
            _check_fits(first, report)
        except UsageError as error:
            reason = reason or f"Not in the same table as {name.short}. {error}"
            continue
        return index, ""
    return None, reason


def _check_fits(first: Report, report: Report) -> None:
    """Raise UsageError if a run cannot be on the board that begins with `first`."""
    check_comparable(first, report)
    if (first.part and first.part.ids_hash) != (report.part and report.part.ids_hash):
        raise UsageError("These runs cannot be compared: they are of different parts of the benchmark.")


def _board(members: list[NamedReport], reading: ReadingName, reason: str, *, with_published: bool) -> Board:
    if len(members) > MOST_RUNS:
        raise UsageError(f"{len(members)} runs of one benchmark; a leaderboard compares at most {MOST_RUNS}.")
    metric = next((row.name for _, report in members for row in report.metrics), "")
    ordered = sorted(members, key=lambda run: _sort_key(run[1], metric, reading))
    names, reports = distinct_names([name for name, _ in ordered]), [report for _, report in ordered]
    first = reports[0]
    models, notes = _published_models(names, reports, metric) if with_published else ([], [])
    # Published values are official ones.
    rivals: dict[ReadingName, list[PublishedModel]] = {"official": models, "careful": []}
    return Board(
        benchmark=first.benchmark,
        title=declarations.name_of(first),
        split=first.split,
        protocol=first.protocol,
        part=first.part,
        judge=judge_of(first),
        metric=metric,
        runs=names,
        rankings={name: _ranking(reports, metric, name, rivals[name]) for name in READINGS},
        published=models,
        notes=[*([reason] if reason else []), *_notes(ordered), *notes],
    )


def _sort_key(report: Report, metric: str, reading: ReadingName) -> tuple[bool, float]:
    """Return the key that sorts the highest value first, and runs without one last."""
    row = report.metric(metric, reading)
    value = None if row is None else row.value
    return value is None, -(value or 0.0)


def _published_models(
    names: list[RunName], reports: list[Report], metric: str
) -> tuple[list[PublishedModel], list[str]]:
    """Return the published models to show among runs, and notes. The runs of a board are of the same tasks."""
    benchmark = declarations.name_of(reports[0])
    known = published.load(reports[0].benchmark)
    if known is None:
        return [], [f"No published values of {benchmark} are known."]
    if why := published.why_not_comparable(reports[0], known):
        return [], [f"The published models of {benchmark} are not shown: {why}."]
    notes = [f"Published: {known.source}."]
    for name, report in zip(names, reports, strict=True):
        notes += published.notes(name.short, report, metric, known)
    return published.models(reports, metric, known), notes


# --- rankings -----------------------------------------------------------------------------------------------------


def _ranking(reports: list[Report], metric: str, reading: ReadingName, models: list[PublishedModel]) -> Ranking:
    """Return the ranks that the paired tests of all pairs of runs allow, corrected for their number (Holm)."""
    values = [report.metric(metric, reading) for report in reports]
    changes = dict(_changes(reports, metric, reading))
    p_values = holm([change.p_value for change in changes.values()])
    wins = [
        (second, first) if change.value > 0 else (first, second)
        for ((first, second), change), p_value in zip(changes.items(), p_values, strict=True)
        if p_value < LEVEL
    ]
    ranked = {run for pair in changes for run in pair}
    if models:
        # A single run, too, has a rank among published models.
        ranked |= {run for run, value in enumerate(values) if value is not None and value.value is not None}
    ranks = [
        _rank(run, wins, len(ranked), value, models) if run in ranked else None for run, value in enumerate(values)
    ]
    tests = list(dict.fromkeys(change.test for change in changes.values()))
    return Ranking(values=values, ranks=ranks, tests=tests, comparisons=len(changes))


def _changes(reports: list[Report], metric: str, reading: ReadingName) -> Iterator[tuple[tuple[int, int], Difference]]:
    """Yield ((first, second), the change from the first run to the second) for each pair that can be compared."""
    scorer = scorer_of(reports[0])
    for pair in combinations(range(len(reports)), 2):
        first, second = (reports[run] for run in pair)
        values = [report.metric(metric, reading) for report in (first, second)]
        if any(value is None or value.value is None for value in values):
            continue
        with suppress(NothingPairedError):
            compared = scorer.compare(Side(first, reading), Side(second, reading), metric, None)
            if compared is None:
                return
            yield pair, compared.difference


def _rank(
    run: int, wins: list[tuple[int, int]], runs: int, value: Metric | None, models: list[PublishedModel]
) -> tuple[int, int]:
    """Return the best and the worst rank that agree with all significant differences: `wins` (winner, loser).

    Published values have no intervals: they are better or worse if they are outside the interval of the run.
    """
    low, high = (value.ci95 if value is not None else None) or (0.0, 100.0)
    better = sum(loser == run for _, loser in wins) + sum(model.value > high for model in models)
    worse = sum(winner == run for winner, _ in wins) + sum(model.value < low for model in models)
    return 1 + better, runs + len(models) - worse


# --- notes --------------------------------------------------------------------------------------------------------


def _notes(members: list[NamedReport]) -> list[str]:
    notes = []
    first_name, first = members[0]
    for name, report in members:
        conditions = differences(first, report)
        if conditions:
            notes.append(f"{first_name.short} and {name.short} had different conditions: {in_words(conditions)}.")
        if report.unscored:
            number = counted(report.unscored, "sample")
            notes.append(f"{number} of {name.short} unscored: excluded from {metrics_without_unscored(report)}.")
    sizes = {len({sample.observation for sample in report.samples}) for _, report in members}
    if len(sizes) > 1:
        notes.append("The runs do not have the same items. Tests use the items that both runs have.")
    outputs = [report.provenance.predictions_digest for _, report in members]
    if len(set(filter(None, outputs))) < len(list(filter(None, outputs))):
        notes.append("Some runs graded the same outputs.")
    return notes
