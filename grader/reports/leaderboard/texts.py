"""Texts that all formats of a leaderboard share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from grader.predictions.record import counted

if TYPE_CHECKING:
    from grader.decisions.leaderboard import Board, Leaderboard, Ranking
    from grader.results import Metric

NOTHING = "–"


def value(metric: Metric | None) -> str:
    """Return a value with one decimal, and a star if unscored samples are excluded from it."""
    if metric is None or metric.value is None:
        return NOTHING
    return f"{metric.value:.1f}" if metric.bounds is msgspec.UNSET else f"{metric.value:.1f}*"


def interval(metric: Metric | None) -> str:
    """Return the 95 % interval as text."""
    return "" if metric is None or metric.ci95 is None else f"{metric.ci95[0]:.1f} to {metric.ci95[1]:.1f}"


def rank(ranks: tuple[int, int] | None) -> str:
    """Return the best and the worst possible rank as text."""
    if ranks is None:
        return NOTHING
    return str(ranks[0]) if ranks[0] == ranks[1] else f"{ranks[0]}–{ranks[1]}"


def heading(board: Board) -> str:
    """Return a board's title: name, split, protocol and part."""
    part = f" · a part: {board.part.n} of {board.part.of}" if board.part is not None else ""
    return f"{board.title} · {board.split} · {board.protocol}{part}"


def label(group: str) -> str:
    """Return a category's label, which is a column heading."""
    return group.partition("=")[2]


def field(group: str) -> str:
    """Return the name of a category's field."""
    return group.partition("=")[0]


def fields(board: Board) -> dict[str, list[str]]:
    """Return field -> its categories."""
    found: dict[str, list[str]] = {}
    for group in board.groups:
        found.setdefault(field(group), []).append(group)
    return found


def method(made: Leaderboard, ranking: Ranking | None) -> str:
    """Describe how the runs were compared and ranked."""
    if ranking is None or not ranking.comparisons:
        return ""
    number = counted(ranking.comparisons, "comparison")
    return (
        "Runs that share a letter in a column do not differ significantly. Every pair of runs is compared with a "
        f"paired test by item ({tests(ranking)}). P values are corrected for {number} ({made.correction}, "
        f"level {100 * made.level:g} %). The rank is the best and the worst rank that these tests allow."
    )


def tests(ranking: Ranking) -> str:
    """Name the tests that were used."""
    names = dict.fromkeys(pair.test for pair in ranking.pairs)
    return " or ".join(name for name in names if name != "no difference to test") or "no item differs"


def unscored(board: Board) -> str:
    """Explain the star, if any value has one; else return an empty string."""
    starred = any(
        metric is not None and metric.bounds is not msgspec.UNSET
        for ranking in board.rankings
        for metric in ranking.values
    )
    return "* Unscored samples are excluded." if starred else ""


def notes(board: Board) -> list[str]:
    """Return all notes of a board."""
    return [*board.notes, *filter(None, [unscored(board)])]
