"""A leaderboard as text for a terminal."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from grader.predictions.record import counted
from grader.reports.leaderboard import texts
from grader.reports.text import clean
from grader.results import READINGS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.decisions.leaderboard import Board, Leaderboard, Ranking

MOST_COLUMNS = 6
"""A field with more categories than this is only shown in files."""


def render(made: Leaderboard, *, width: int = 100, colour: bool = False) -> str:
    """Return the leaderboard as text."""
    from rich.console import Console

    text = io.StringIO()
    console = Console(file=text, width=width, force_terminal=colour, highlight=False, emoji=False, markup=False)
    if len(made.boards) > 1:
        console.print(_overview(made))
    for board in made.boards:
        console.print(_board(board, made))
        lines = [texts.method(made, board.ranking(board.metric, made.reading)), *texts.notes(board)]
        for line in filter(None, lines):
            console.print(clean(line), soft_wrap=len(line) > width)
        for field, groups in texts.fields(board).items():
            console.print("")
            console.print(*_categories(board, made, field, groups))
    return text.getvalue()


def _table(title: str, left: list[str], right: list[str]) -> Any:
    from rich import box
    from rich.table import Table

    table = Table(title=clean(title), box=box.SIMPLE_HEAD, title_justify="left")
    for name in left:
        table.add_column(clean(name), overflow="fold")
    for name in right:
        table.add_column(clean(name), justify="right", no_wrap=True)
    return table


def _overview(made: Leaderboard) -> Any:
    """Return a table with a row per model, and a column per benchmark and reading."""
    heads = [f"{board.title}, {reading}" for board in made.boards for reading in READINGS]
    table = _table("Models by benchmarks", ["model"], heads)
    models = made.models()
    columns = [
        _column(board.ranking(board.metric, reading), [board.place(model) for model in models])
        for board in made.boards
        for reading in READINGS
    ]
    for row in zip(map(clean, models), *columns, strict=True):
        table.add_row(*row)
    return table


def _column(ranking: Ranking | None, places: Sequence[int | None]) -> list[str]:
    """Return a column of values with their letters, aligned."""
    if ranking is None:
        return [texts.NOTHING] * len(places)
    wide = max(map(len, ranking.letters), default=0)
    return [
        f"{texts.NOTHING if at is None else texts.value(ranking.values[at])}"
        + (f" {'' if at is None else ranking.letters[at]:{wide}}" if wide else "")
        for at in places
    ]


def _board(board: Board, made: Leaderboard) -> Any:
    heads = ["official", "careful", f"95 % interval ({made.reading})", "n", *board.metrics[1:]]
    table = _table(f"{texts.heading(board)}: {board.metric}", ["rank", "model"], heads)
    order = board.ranking(board.metric, made.reading)
    if order is None:
        return table
    rankings = [board.ranking(board.metric, reading) for reading in READINGS]
    others = [board.ranking(name, made.reading) for name in board.metrics[1:]]
    columns = [
        [texts.rank(ranks) for ranks in order.ranks],
        [clean(run.short) for run in board.runs],
        *(_column(one, range(len(board.runs))) for one in rankings),
        [texts.interval(value) for value in order.values],
        ["" if value is None else str(value.n) for value in order.values],
        *(_column(one, range(len(board.runs))) for one in others),
    ]
    for row in zip(*columns, strict=True):
        table.add_row(*row)
    return table


def _categories(board: Board, made: Leaderboard, field: str, groups: list[str]) -> list[Any]:
    if len(groups) > MOST_COLUMNS:
        return [f"{len(groups)} categories of {clean(field)}: only shown in files (-o FILE.html, .md, .csv, .json)."]
    table = _table(f"{board.metric} by {field} ({made.reading})", ["model"], [texts.label(group) for group in groups])
    rankings = [board.ranking(board.metric, made.reading, group) for group in groups]
    columns = [_column(one, range(len(board.runs))) for one in rankings]
    for row in zip([clean(run.short) for run in board.runs], *columns, strict=True):
        table.add_row(*row)
    number = next((one.comparisons for one in rankings if one), 0)
    return [table, f"Letters: corrected for {counted(number, 'comparison')}."] if number else [table]
