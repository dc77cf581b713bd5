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

from grader.decisions import conditions, published
from grader.decisions.comparison import RunName, check_comparable, distinct_names
from grader.decisions.published import PublishedModel
from grader.errors import UsageError
from grader.results import READINGS, Metric, Part, ReadingName, Report, metrics_leaving_out_unscored
from grader.scorers import declarations
from grader.scorers.pairing import NothingPairedError, Side, comparable_reports
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
    why_separate: dict[int, str] = {}
    for run in _with_distinct_names(runs):
        index, reason = _board_index(run, boards)
        if index is None:
            why_separate[len(boards)] = reason
            boards.append([run])
        else:
            boards[index].append(run)
    return Leaderboard(
        reading=reading,
        boards=[
            _board(board_runs, reading, why_separate[index], with_published=with_published)
            for index, board_runs in enumerate(boards)
        ],
    )


def _with_distinct_names(runs: Sequence[NamedReport]) -> list[NamedReport]:
    """Return the runs; those without a user's name and without a model get distinct names from their paths."""
    unnamed = [index for index, (name, _) in enumerate(runs) if not (name.name or name.model)]
    named_runs = list(runs)
    names = _names_from_folders([runs[index] for index in unnamed]) or distinct_names([runs[i][0] for i in unnamed])
    for index, name in zip(unnamed, names, strict=True):
        named_runs[index] = name, runs[index][1]
    return named_runs


def _names_from_folders(runs: list[NamedReport]) -> list[RunName]:
    """Return the runs' folders as the names of their models: `m1/vstar`, `m1/gsm`, `m2/vstar` are of `m1` and `m2`.

    Empty if the folders do not seem to be models: no file name repeats, or a folder has two runs of one benchmark.
    """
    names = [name for name, _ in runs]
    folders = [str(PurePath(name.results).parent) for name in names]
    has_repeats = len({name.short for name in names}) < len(names)
    in_folders = {(folder, report.benchmark) for folder, (_, report) in zip(folders, runs, strict=True)}
    if not has_repeats or len(in_folders) < len(runs):
        return []
    # With the same file name everywhere, only the folders tell the paths apart.
    models = distinct_names([RunName(results=str(PurePath(folder, "run"))) for folder in folders])
    return [msgspec.structs.replace(name, name=model.name) for name, model in zip(names, models, strict=True)]


def _board_index(run: NamedReport, boards: list[list[NamedReport]]) -> tuple[int | None, str]:
    """Return the index of the board that fits a run; else None, and why not (empty: its benchmark has no board yet)."""
    _, report = run
    reason = ""
    for index, board_runs in enumerate(boards):
        _, first = board_runs[0]
        if (first.benchmark, first.split, first.protocol) != (report.benchmark, report.split, report.protocol):
            continue
        reasons = [why for other in board_runs if (why := _why_apart(other, report))]
        if not reasons:
            return index, ""
        reason = reason or reasons[0]
    return None, reason


def _why_apart(other: NamedReport, report: Report) -> str:
    """Return why a run cannot be on the board of another one; empty if it can.

    A run must fit every run of a board, not only the first: recorded replies fit each of two judge models, and the two
    models do not fit each other.
    """
    name, other_report = other
    try:
        _check_fits(other_report, report)
    except UsageError as error:
        return f"Not in the same table as {name.short}. {error}"
    return ""


def _check_fits(other: Report, report: Report) -> None:
    """Raise UsageError if two runs cannot be on one board."""
    check_comparable(other, report)
    if (other.part and other.part.ids_hash) != (report.part and report.part.ids_hash):
        raise UsageError("These runs cannot be compared: they are of different parts of the benchmark.")


def _board(runs: list[NamedReport], reading: ReadingName, why_separate: str, *, with_published: bool) -> Board:
    """Return the board of runs, in the order of `reading`. `why_separate`: why they fit no earlier board, or empty."""
    if len(runs) > MOST_RUNS:
        raise UsageError(f"{len(runs)} runs of one benchmark; a leaderboard compares at most {MOST_RUNS}.")
    metric = _first_common_metric([report for _, report in runs])
    ordered = sorted(runs, key=lambda run: _sort_key(run[1], metric, reading))
    names, reports = distinct_names([name for name, _ in ordered]), [report for _, report in ordered]
    first = reports[0]
    models, published_notes = _published_models(names, reports, metric) if with_published else ([], [])
    # Published values are official ones.
    published_by_reading: dict[ReadingName, list[PublishedModel]] = {"official": models, "careful": []}
    return Board(
        benchmark=first.benchmark,
        title=declarations.name_of(first),
        split=first.split,
        protocol=first.protocol,
        part=first.part,
        judge=conditions.judge_of(first),
        metric=metric,
        runs=names,
        rankings={name: _ranking(reports, metric, name, published_by_reading[name]) for name in READINGS},
        published=models,
        notes=[
            *([why_separate] if why_separate else []),
            *_notes(list(zip(names, reports, strict=True))),
            *published_notes,
        ],
    )


def _first_common_metric(reports: list[Report]) -> str:
    """Return the first metric that all runs with metrics have; if there is none, the first one of any."""
    names = [list(dict.fromkeys(metric.name for metric in report.metrics)) for report in reports if report.metrics]
    first = names[0] if names else []
    common = [name for name in first if all(name in others for others in names)]
    return next(iter([*common, *first]), "")


def _sort_key(report: Report, name: str, reading: ReadingName) -> tuple[bool, float]:
    """Return the key that sorts the highest value first, and runs without a value last."""
    metric = report.metric(name, reading)
    value = None if metric is None else metric.value
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
        notes += published.setting_notes(name.short, report, metric, known)
    return published.models(reports, metric, known), notes


# --- rankings -----------------------------------------------------------------------------------------------------


def _ranking(reports: list[Report], metric_name: str, reading: ReadingName, models: list[PublishedModel]) -> Ranking:
    """Return the ranks of runs, with published `models` among them, that paired tests of all pairs allow (Holm)."""
    metrics = [report.metric(metric_name, reading) for report in reports]
    changes = dict(_changes(reports, metric_name, reading))
    p_values = holm([change.p_value for change in changes.values()])
    # (winner, loser) of each significant difference.
    wins = [
        (second, first) if change.value > 0 else (first, second)
        for ((first, second), change), p_value in zip(changes.items(), p_values, strict=True)
        if p_value < LEVEL
    ]
    ranked = {index for pair in changes for index in pair}
    if models:
        # A single run, too, has a rank among published models.
        ranked |= {index for index, metric in enumerate(metrics) if metric is not None and metric.value is not None}
    ranks = [
        _rank(index, wins, len(ranked), metric, models) if index in ranked else None
        for index, metric in enumerate(metrics)
    ]
    tests = list(dict.fromkeys(change.test for change in changes.values()))
    return Ranking(values=metrics, ranks=ranks, tests=tests, comparisons=len(changes))


def _changes(reports: list[Report], name: str, reading: ReadingName) -> Iterator[tuple[tuple[int, int], Difference]]:
    """Yield ((first, second), the change from the first run to the second) for each pair that can be compared."""
    scorer = scorer_of(reports[0])
    for pair in combinations(range(len(reports)), 2):
        first, second = comparable_reports(*(reports[index] for index in pair))
        metrics = [report.metric(name, reading) for report in (first, second)]
        if any(metric is None or metric.value is None for metric in metrics):
            continue
        with suppress(NothingPairedError):
            comparison = scorer.compare(Side(first, reading), Side(second, reading), name, None)
            if comparison is None:
                return  # differences in this metric cannot be tested, whatever the pair
            yield pair, comparison.difference


def _rank(
    index: int, wins: list[tuple[int, int]], run_count: int, metric: Metric | None, models: list[PublishedModel]
) -> tuple[int, int]:
    """Return the best and the worst rank that agree with all significant differences: `wins` (winner, loser).

    Published values have no intervals: they are better or worse if they are outside the interval of the run.
    """
    low, high = (metric.ci95 if metric is not None else None) or (0.0, 100.0)
    better = sum(loser == index for _, loser in wins) + sum(model.value > high for model in models)
    worse = sum(winner == index for winner, _ in wins) + sum(model.value < low for model in models)
    return 1 + better, run_count + len(models) - worse


# --- notes --------------------------------------------------------------------------------------------------------


def _notes(runs: list[NamedReport]) -> list[str]:
    notes = []
    first_name, first = runs[0]
    for name, report in runs:
        if differences := conditions.differences(first, report):
            in_words = conditions.in_words(differences)
            notes.append(f"{first_name.short} and {name.short} had different conditions: {in_words}.")
        if report.unscored:
            samples = f"{counted(report.unscored, 'sample')} of {name.short} {'is' if report.unscored == 1 else 'are'}"
            notes.append(f"{samples} unscored: excluded from {metrics_leaving_out_unscored(report)}.")
    items = [{sample.qid for sample in report.samples} for _, report in runs]
    if any(ids != items[0] for ids in items):
        notes.append("The runs do not have the same items. Tests use the items that both runs have.")
    digests = [digest for _, report in runs if (digest := report.provenance.predictions_digest)]
    if len(set(digests)) < len(digests):
        notes.append("Some runs graded the same outputs.")
    return notes
