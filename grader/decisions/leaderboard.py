"""A leaderboard of runs of one or several benchmarks: their values, and which differences are significant.

Every pair of runs of a benchmark is compared with a paired test. The p values are corrected for the number of
comparisons (Holm): the probability that a ranking reports a difference that does not exist is at most 5 %.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import msgspec

from grader.decisions.comparison import RunName, check_comparable, fields_shown, told_apart
from grader.decisions.made_differently import differences, in_words, judge_of
from grader.errors import UsageError
from grader.predictions.record import counted
from grader.results import READINGS, Metric, Part, ReadingName, Report, excluded_from
from grader.scorers import declarations
from grader.scorers.capabilities import Compares
from grader.scorers.pairing import NothingPairedError, Side
from grader.scorers.registry import scorer_of
from grader.statistics.corrections import groups_of, holm, letters
from grader.statistics.paired import LEVEL, TestName

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.scorers.registry import AnyScorer

MOST_RUNS = 60
"""Maximum number of runs of one benchmark: every pair of them is compared, in every category."""


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """Two runs of a board, compared in one metric."""

    a: int
    """Index of the run on the board, from 0."""
    b: int
    change: float
    """B minus A over the items scored in both, in points."""
    ci95: tuple[float, float]
    p_value: float
    corrected: float
    """The p value, corrected for all comparisons of the family."""
    test: TestName
    n: int
    """Number of paired observations."""

    @property
    def is_different(self) -> bool:
        """Whether the difference is significant."""
        return self.corrected < LEVEL


class Ranking(msgspec.Struct, frozen=True, kw_only=True):
    """One metric in one reading, for all runs of a board."""

    metric: str
    reading: ReadingName
    group: str | None = None
    """None: the whole benchmark, else `field=value`."""
    values: list[Metric | None]
    """One value per run, in the board's order; None: the run does not have the metric."""
    ranks: list[tuple[int, int] | None] = []
    """Best and worst possible rank of each run; None: not compared."""
    groups: list[list[int]] = []
    """Groups of runs that do not differ significantly, as indexes, best group first; groups may overlap."""
    letters: list[str] = []
    """The groups of each run, as letters: `a` is the first group."""
    pairs: list[Pair] = []
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
    """The benchmark's first metric, which orders the runs."""
    runs: list[RunName]
    rankings: list[Ranking]
    """Overall metrics first, then the first metric by category."""
    notes: list[str] = []

    def ranking(self, metric: str, reading: ReadingName, group: str | None = None) -> Ranking | None:
        """Return the named ranking, or None."""
        for row in self.rankings:
            if (row.metric, row.reading, row.group) == (metric, reading, group):
                return row
        return None

    def place(self, model: str) -> int | None:
        """Return the index of a run, by its name in tables; None: it is not on this board."""
        return next((at for at, run in enumerate(self.runs) if run.short == model), None)

    @property
    def groups(self) -> list[str]:
        """The categories, as `field=value`."""
        return list(dict.fromkeys(row.group for row in self.rankings if row.group is not None))

    @property
    def metrics(self) -> list[str]:
        """The overall metrics."""
        return list(dict.fromkeys(row.metric for row in self.rankings if row.group is None))


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


Run = tuple[RunName, Report]


def leaderboard(runs: Sequence[Run], *, reading: ReadingName = "careful") -> Leaderboard:
    """Rank runs. Runs that cannot be compared with the others get a separate board. Raises UsageError."""
    boards: list[list[Run]] = []
    reasons: dict[int, str] = {}
    for run in _named_apart(runs):
        place, reason = _place(run, boards)
        if place is None:
            reasons |= {len(boards): reason} if reason else {}
            boards.append([run])
        else:
            boards[place].append(run)
    compared = [_board(members, reading, reasons.get(at, "")) for at, members in enumerate(boards)]
    return Leaderboard(reading=reading, boards=compared)


def _named_apart(runs: Sequence[Run]) -> list[Run]:
    """Return the runs; two unrelated files of one name are not taken for one model on two benchmarks."""
    apart = iter(told_apart([name for name, _ in runs if not (name.name or name.model)]))
    return [(name if name.name or name.model else next(apart), report) for name, report in runs]


def _place(run: Run, boards: list[list[Run]]) -> tuple[int | None, str]:
    """Return the board of a run, or None and the reason why it does not fit a board of its benchmark."""
    _, report = run
    reason = ""
    for at, members in enumerate(boards):
        name, first = members[0]
        if (first.benchmark, first.split, first.protocol) != (report.benchmark, report.split, report.protocol):
            continue
        try:
            _check_same(first, report)
        except UsageError as error:
            reason = reason or f"Not in the same table as {name.short}. {error}"
            continue
        return at, ""
    return None, reason


def _check_same(first: Report, report: Report) -> None:
    check_comparable(first, report)
    if (first.part and first.part.ids_hash) != (report.part and report.part.ids_hash):
        raise UsageError("These runs cannot be compared: they are of different parts of the benchmark.")


def _board(members: list[Run], reading: ReadingName, reason: str) -> Board:
    if len(members) > MOST_RUNS:
        raise UsageError(f"{len(members)} runs of one benchmark; a leaderboard compares at most {MOST_RUNS}.")
    metric = next((row.name for _, report in members for row in report.metrics), "")
    ordered = sorted(members, key=lambda run: _sort_key(run[1], metric, reading))
    reports = [report for _, report in ordered]
    first = reports[0]
    return Board(
        benchmark=first.benchmark,
        title=declarations.name_of(first),
        split=first.split,
        protocol=first.protocol,
        part=first.part,
        judge=judge_of(first),
        metric=metric,
        runs=told_apart([name for name, _ in ordered]),
        rankings=list(_rankings(reports, scorer_of(first), metric)),
        notes=[*([reason] if reason else []), *_notes(ordered)],
    )


def _sort_key(report: Report, metric: str, reading: ReadingName) -> tuple[bool, float]:
    row = report.metric(metric, reading)
    value = None if row is None else row.value
    return value is None, -(value or 0.0)


# --- rankings -----------------------------------------------------------------------------------------------------


def _rankings(reports: list[Report], scorer: AnyScorer, headline: str) -> Iterator[Ranking]:
    names = dict.fromkeys(m.name for report in reports for m in report.metrics if m.group is None)
    for name in names:
        for reading in READINGS:
            yield from _family(reports, scorer, name, reading, [None])
    shown = set.union(*map(fields_shown, reports))
    groups = [m.group for report in reports for m in report.metrics if m.name == headline and m.group is not None]
    for field in dict.fromkeys(group.partition("=")[0] for group in groups):
        labels: list[str | None] = list(dict.fromkeys(g for g in groups if g.partition("=")[0] == field))
        for reading in READINGS if field in shown else ():
            yield from _family(reports, scorer, headline, reading, labels)


def _family(
    reports: list[Report], scorer: AnyScorer, metric: str, reading: ReadingName, groups: list[str | None]
) -> Iterator[Ranking]:
    """Yield one ranking per group; the p values of all groups are corrected together."""
    pairs_of = {group: list(_pairs(reports, scorer, metric, reading, group)) for group in groups}
    every = [pair for pairs in pairs_of.values() for pair in pairs]
    corrected = iter(holm([pair.p_value for pair in every]))
    for group, pairs in pairs_of.items():
        named = [msgspec.structs.replace(pair, corrected=next(corrected)) for pair in pairs]
        values = [report.metric(metric, reading, group) for report in reports]
        blank = Ranking(metric=metric, reading=reading, group=group, values=values, comparisons=len(every))
        yield _ranked(blank, named)


def _pairs(
    reports: list[Report], scorer: AnyScorer, metric: str, reading: ReadingName, group: str | None
) -> Iterator[Pair]:
    if not Compares.of(scorer).is_compared(metric, reports[0]):
        return
    for a, b in combinations(range(len(reports)), 2):
        values = [report.metric(metric, reading, group) for report in (reports[a], reports[b])]
        if any(value is None or value.value is None for value in values):
            continue
        try:
            first, second = Side(reports[a], reading), Side(reports[b], reading)
            moved = Compares.of(scorer).compare(first, second, metric, group).difference
        except NothingPairedError:
            continue
        yield Pair(
            a=a,
            b=b,
            change=moved.value,
            ci95=moved.ci95,
            p_value=moved.p_value,
            corrected=moved.p_value,
            test=moved.test,
            n=moved.n,
        )


def _ranked(blank: Ranking, pairs: list[Pair]) -> Ranking:
    """Return a ranking with the groups and ranks that follow from its pairs."""
    places = range(len(blank.values))
    compared = sorted({at for pair in pairs for at in (pair.a, pair.b)}, key=lambda at: _by_value(blank.values[at]))
    groups = groups_of(compared, [(pair.a, pair.b) for pair in pairs if pair.is_different])
    named = list(zip(letters(len(groups)), groups, strict=True))
    return msgspec.structs.replace(
        blank,
        pairs=pairs,
        ranks=[_rank(at, pairs, len(compared)) if at in compared else None for at in places],
        groups=groups,
        letters=["".join(name for name, group in named if at in group) for at in places],
    )


def _by_value(metric: Metric | None) -> float:
    return -metric.number if metric is not None else 0.0


def _rank(run: int, pairs: list[Pair], runs: int) -> tuple[int, int]:
    """Return the best and the worst rank that agree with all significant differences."""
    changes = [
        pair.change if pair.b == run else -pair.change
        for pair in pairs
        if pair.is_different and run in (pair.a, pair.b)
    ]
    return 1 + sum(change < 0 for change in changes), runs - sum(change > 0 for change in changes)


# --- notes --------------------------------------------------------------------------------------------------------


def _notes(members: list[Run]) -> list[str]:
    notes = []
    first_name, first = members[0]
    for name, report in members:
        conditions = differences(first, report)
        if conditions:
            notes.append(f"{first_name.short} and {name.short} had different conditions: {in_words(conditions)}.")
        if report.unscored:
            number = counted(report.unscored, "sample")
            notes.append(f"{number} of {name.short} unscored: excluded from {excluded_from(report)}.")
    sizes = {len({sample.cluster for sample in report.samples}) for _, report in members}
    if len(sizes) > 1:
        notes.append("The runs do not have the same items. Tests use the items that both runs have.")
    outputs = [report.provenance.predictions_digest for _, report in members]
    if len(set(filter(None, outputs))) < len(list(filter(None, outputs))):
        notes.append("Some runs graded the same outputs.")
    return notes
