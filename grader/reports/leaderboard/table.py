"""A leaderboard as text for a terminal."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from grader.predictions.record import counted
from grader.reports.leaderboard import texts
from grader.reports.text import clean
from grader.results import READINGS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.decisions.leaderboard import Board, Leaderboard, Ranking

MOST_COLUMNS = 6
"""A field with more categories than this is only shown in files."""
NAME_ROOM = 16
"""Number of characters that names keep on a narrow terminal."""
WORD_ROOM, HEAD_ROOM = 14, 24
"""Maximum number of characters of a word in a heading that is not broken, and of a line of a heading."""

Columns = list[tuple[str, list[str]]]
"""Columns with their headings."""


def render(made: Leaderboard, *, width: int = 100, colour: bool = False) -> str:
    """Return the leaderboard as text."""
    from rich.console import Console

    text = io.StringIO()
    console = Console(file=text, width=width, force_terminal=colour, highlight=False, emoji=False, markup=False)
    if len(made.boards) > 1:
        for overview in _overviews(made, width):
            console.print(overview)
    for board in made.boards:
        console.print(_board(board, made))
        lines = [texts.method(made, board.ranking(board.metric, made.reading)), *texts.notes(board)]
        for line in filter(None, lines):
            console.print(clean(line), soft_wrap=len(line) > width)
        for field, groups in texts.fields(board).items():
            console.print("")
            console.print(*_categories(board, made, field, groups))
    return text.getvalue()


def _table(title: str, left: Columns, right: Columns) -> Any:
    """Return a table with columns of text at the left, and of values at the right.

    On a narrow terminal headings and names are broken, but values never, and a name always keeps some room.
    """
    from rich import box
    from rich.table import Table

    table = Table(title=clean(title), box=box.SIMPLE_HEAD, title_justify="left")
    for name, cells in left:
        least = min(NAME_ROOM, max(map(len, cells), default=0))
        table.add_column(clean(name), overflow="fold", min_width=least)
    for name, cells in right:
        head = "\n".join(map(clean, name.split("\n")))
        table.add_column(head, justify="right", overflow="fold", min_width=_room(name, cells), max_width=HEAD_ROOM)
    for row in zip(*(cells for _, cells in (*left, *right)), strict=True):
        table.add_row(*row)
    return table


def _room(name: str, cells: list[str]) -> int:
    """Return the width of a column of values: neither a value nor a word of its heading is broken, if possible."""
    return max(*map(len, cells), *(min(len(word), WORD_ROOM) for word in name.split()), 0)


def _overviews(made: Leaderboard, width: int) -> Iterator[Any]:
    """Yield tables with a row per model, and a column per benchmark and reading: as many benchmarks as fit."""
    models = made.models()
    columns: Columns = []
    left = width - NAME_ROOM - 4
    for board in made.boards:
        places = [board.place(model) for model in models]
        both = [
            (f"{board.title}\n{reading}", _column(board.ranking(board.metric, reading), places)) for reading in READINGS
        ]
        needed = sum(_room(name, cells) + 3 for name, cells in both)
        if columns and needed > left:
            yield _table("Models by benchmarks", [("model", list(map(clean, models)))], columns)
            columns, left = [], width - NAME_ROOM - 4
        columns += both
        left -= needed
    yield _table("Models by benchmarks", [("model", list(map(clean, models)))], columns)


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
    title = f"{texts.heading(board)}: {board.metric}"
    order = board.ranking(board.metric, made.reading)
    if order is None:
        return _table(title, [("rank", []), ("model", [])], [])
    everyone = range(len(board.runs))
    readings = [(reading, _column(board.ranking(board.metric, reading), everyone)) for reading in READINGS]
    others = [(name, _column(board.ranking(name, made.reading), everyone)) for name in board.metrics[1:]]
    intervals = [texts.interval(value) for value in order.values]
    numbers = ["" if value is None else str(value.n) for value in order.values]
    return _table(
        title,
        [("rank", [texts.rank(ranks) for ranks in order.ranks]), ("model", [clean(run.short) for run in board.runs])],
        [*readings, (f"95 % interval ({made.reading})", intervals), ("n", numbers), *others],
    )


def _categories(board: Board, made: Leaderboard, field: str, groups: list[str]) -> list[Any]:
    if len(groups) > MOST_COLUMNS:
        return [f"{len(groups)} categories of {clean(field)}: only shown in files (-o FILE.html, .md, .csv, .json)."]
    rankings = [board.ranking(board.metric, made.reading, group) for group in groups]
    columns = [
        (texts.label(group), _column(one, range(len(board.runs)))) for group, one in zip(groups, rankings, strict=True)
    ]
    title = f"{board.metric} by {field} ({made.reading})"
    table = _table(title, [("model", [clean(run.short) for run in board.runs])], columns)
    number = next((one.comparisons for one in rankings if one), 0)
    return [table, f"Letters: corrected for {counted(number, 'comparison')}."] if number else [table]
