"""A leaderboard as a self-contained page, which is complete without a script. Names in it are always escaped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from grader.decisions.many import letters
from grader.predictions.record import counted
from grader.reports.comparison.texts import p_value
from grader.reports.leaderboard import texts
from grader.reports.web import page, readings
from grader.reports.web.scale import Scale
from grader.results import READINGS, ReadingName

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.decisions.leaderboard import Board, Leaderboard, Pair, Ranking
    from grader.results import Metric

MOST_ACROSS = 6
"""Maximum number of categories as columns; with more categories, the runs are the columns."""
MOST_IN_MATRIX = 12
"""Maximum number of runs in the matrix of comparisons."""


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """A value with the letters of its groups."""

    value: str
    letters: str = ""
    reading: ReadingName = "careful"
    interval: str = ""
    n: int = 0


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """A value and its interval, in coordinates of the plot."""

    reading: ReadingName
    y: int
    x: float
    low: float | None = None
    high: float | None = None


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a board."""

    name: str
    file: str
    rank: str
    cells: dict[str, Cell]
    """Reading -> cell."""
    points: list[Point]
    change: str
    n: int


class Grid(msgspec.Struct, frozen=True, kw_only=True):
    """A table of values: categories, other metrics, or models by benchmarks."""

    title: str
    corner: str
    heads: list[str]
    rows: list[tuple[str, list[Cell]]]
    note: str = ""


class Move(msgspec.Struct, frozen=True, kw_only=True):
    """The comparison of one run with another."""

    change: str
    interval: str
    p: str
    is_different: bool


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """The part of the page about one board."""

    id: str
    heading: str
    facts: list[str]
    metric: str
    rows: list[Row]
    scale: Scale
    method: str
    groups: list[tuple[str, list[str]]]
    matrix: list[tuple[str, list[Move | None]]]
    grids: list[Grid]
    notes: list[str]


def make(made: Leaderboard) -> bytes:
    """Return the page."""
    blocks = [_block(number, board, made) for number, board in enumerate(made.boards)]
    models = made.models()
    return page.render(
        "leaderboard.html.j2",
        styles=("style", "many"),
        scripts=("core", "theme", "static"),
        reading=made.reading,
        facts=[
            counted(len(models), "model"),
            ", ".join(dict.fromkeys(board.title for board in made.boards)),
            f"ordered by the {made.reading} reading",
        ],
        lead=readings.lead(board.benchmark for board in made.boards),
        blocks=blocks,
        overview=_overview(made) if len(made.boards) > 1 else None,
        readings=READINGS,
    )


def _block(number: int, board: Board, made: Leaderboard) -> Block:
    order = board.ranking(board.metric, made.reading)
    scale = _scale(board)
    part = [f"part: {board.part.n} of {board.part.of}"] if board.part else []
    return Block(
        id=f"board-{number}",
        heading=board.title,
        facts=[f"split {board.split}", f"protocol {board.protocol}", *part],
        metric=board.metric.replace("_", " "),
        rows=[_row(board, made, at, scale) for at in range(len(board.runs))],
        scale=scale,
        method=texts.method(made, order),
        groups=_groups(board, order),
        matrix=_matrix(board, order),
        grids=[*_others(board), *_categories(board, made)],
        notes=texts.notes(board),
    )


def _scale(board: Board) -> Scale:
    rankings = [board.ranking(board.metric, reading) for reading in READINGS]
    found = [value for ranking in rankings if ranking for value in ranking.values if value]
    return Scale.of([end for value in found for end in (value.value, *(value.ci95 or ())) if end is not None])


def _row(board: Board, made: Leaderboard, at: int, scale: Scale) -> Row:
    run = board.runs[at]
    rankings = {reading: board.ranking(board.metric, reading) for reading in READINGS}
    order = rankings[made.reading]
    values = [one.values[at] if one else None for one in rankings.values()]
    return Row(
        name=run.short,
        file=run.results,
        rank=texts.rank(order.ranks[at]) if order else texts.NOTHING,
        cells={reading: _cell(one, at) for reading, one in rankings.items()},
        points=[p for n, (r, v) in enumerate(zip(READINGS, values, strict=True)) if (p := _point(r, n, v, scale))],
        change=_change(*values),
        n=next((value.n for value in reversed(values) if value), 0),
    )


def _cell(ranking: Ranking | None, at: int) -> Cell:
    if ranking is None:
        return Cell(value=texts.NOTHING)
    value = ranking.values[at]
    number = value.n if value else 0
    return Cell(
        value=texts.value(value),
        letters=ranking.letters[at],
        reading=ranking.reading,
        interval=texts.interval(value),
        n=number,
    )


def _point(reading: ReadingName, number: int, value: Metric | None, scale: Scale) -> Point | None:
    if value is None or value.value is None:
        return None
    low, high = (None, None) if value.ci95 is None else map(scale.at, value.ci95)
    return Point(reading=reading, y=9 + 12 * number, x=scale.at(value.value), low=low, high=high)


def _change(official: Metric | None, careful: Metric | None) -> str:
    if official is None or careful is None or official.value is None or careful.value is None:
        return texts.NOTHING
    return signed(careful.value - official.value)


def signed(value: float) -> str:
    """Return a change as text, with its sign and one decimal."""
    return "0.0" if abs(value) < 0.05 else f"{value:+.1f}".replace("-", "\N{MINUS SIGN}")


def _groups(board: Board, order: Ranking | None) -> list[tuple[str, list[str]]]:
    """Return (letter, names of the runs) for each group."""
    if order is None:
        return []
    names = letters(len(order.groups))
    return [(name, [board.runs[at].short for at in group]) for name, group in zip(names, order.groups, strict=True)]


def _matrix(board: Board, order: Ranking | None) -> list[tuple[str, list[Move | None]]]:
    """Return the difference between each run (row) and each other run (column)."""
    if order is None or not 2 <= len(board.runs) <= MOST_IN_MATRIX:
        return []
    moves = {}
    for pair in order.pairs:
        moves[pair.b, pair.a] = _move(pair, 1)
        moves[pair.a, pair.b] = _move(pair, -1)
    runs = range(len(board.runs))
    return [(board.runs[row].short, [moves.get((row, column)) for column in runs]) for row in runs]


def _move(pair: Pair, sign: int) -> Move:
    low, high = sorted(sign * end for end in pair.ci95)
    return Move(
        change=signed(sign * pair.change),
        interval=f"{signed(low)} to {signed(high)}",
        p=p_value(pair.corrected),
        is_different=pair.is_different,
    )


def _overview(made: Leaderboard) -> Grid:
    rows = []
    for model in made.models():
        cells = []
        for board in made.boards:
            at = board.place(model)
            for reading in READINGS:
                cells.append(
                    Cell(value=texts.NOTHING) if at is None else _cell(board.ranking(board.metric, reading), at)
                )
        rows.append((model, cells))
    heads = [f"{board.title}, {reading}" for board in made.boards for reading in READINGS]
    return Grid(title="Models by benchmarks", corner="Model", heads=heads, rows=rows)


def _others(board: Board) -> list[Grid]:
    names = [name for name in board.metrics if name != board.metric]
    if not names:
        return []
    rankings = [board.ranking(name, reading) for name in names for reading in READINGS]
    heads = [f"{name.replace('_', ' ')}, {reading}" for name in names for reading in READINGS]
    rows = [(run.short, [_cell(one, at) for one in rankings]) for at, run in enumerate(board.runs)]
    return [Grid(title="Other metrics", corner="Model", heads=heads, rows=rows)]


def _categories(board: Board, made: Leaderboard) -> list[Grid]:
    other: Sequence[ReadingName] = [reading for reading in READINGS if reading != made.reading]
    return [
        _category(board, reading, field, groups)
        for field, groups in texts.fields(board).items()
        for reading in (made.reading, *other)
    ]


def _category(board: Board, reading: ReadingName, field: str, groups: list[str]) -> Grid:
    rankings = [board.ranking(board.metric, reading, group) for group in groups]
    labels = [texts.label(group).replace("_", " ") for group in groups]
    names = [run.short for run in board.runs]
    cells = [[_cell(ranking, at) for ranking in rankings] for at in range(len(names))]
    number = next((one.comparisons for one in rankings if one), 0)
    note = f"Letters: corrected for {counted(number, 'comparison')}." if number else ""
    title = f"By {field.replace('_', ' ')}, {reading}"
    if len(groups) <= MOST_ACROSS:
        return Grid(title=title, corner="Model", heads=labels, rows=list(zip(names, cells, strict=True)), note=note)
    turned = [(label, [row[at] for row in cells]) for at, label in enumerate(labels)]
    return Grid(title=title, corner=field.replace("_", " "), heads=names, rows=turned, note=note)
