"""A document as text for a terminal."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from grader.reports.document import Chart, Table
from grader.reports.text import broken, clean, longest_part

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console
    from rich.table import Table as Drawn

    from grader.reports.document import Cell, Column, Document

MOST_ROWS = 10
"""Rows of a list of items; files have all."""
NAME_ROOM = 8
"""Number of characters that names keep on a narrow terminal."""
HEAD_ROOM = 16
"""Maximum number of characters of a line of a heading."""
BARS = "▁▂▃▄▅▆▇█"
GAP = " "
INDENT = "  "
"""Of the further lines of a name."""


def render(document: Document, *, width: int = 100, colour: bool = False) -> str:
    """Return the document as text. On a narrow terminal names and headings are broken, but values never."""
    text = io.StringIO()
    console = console_on(text, width, colour=colour)
    for place, section in enumerate(document.sections):
        title = section.title or document.title
        console.print(*([""] if place else []), end="\n" if place else "")
        for part in section.texts():
            _show(console, part, title, width)
            title = title if isinstance(part, str) else ""
    return text.getvalue()


def text(table: Table, width: int) -> str:
    """Return one table as text."""
    written = io.StringIO()
    console_on(written, width).print(*drawn(table, table.title, width))
    return written.getvalue()


def console_on(file: io.StringIO, width: int, *, colour: bool = False) -> Console:
    """Return a console that writes texts as they are, at this width."""
    from rich.console import Console

    return Console(file=file, width=width, force_terminal=colour, highlight=False, emoji=False, markup=False)


def _show(console: Console, part: Table | Chart | str, title: str, width: int) -> None:
    if isinstance(part, str):
        console.print(clean(part), soft_wrap=len(part) > width)
    elif isinstance(part, Chart):
        if title:
            console.print(clean(title), soft_wrap=True)
        console.print(f"{part.reading}: {bars(part)}", soft_wrap=True)
    else:
        console.print(*drawn(part, title or part.title, width))
        left = len(part.rows) - MOST_ROWS
        if part.is_list and left > 0:
            console.print(f"  ... {left} more; -o FILE.json has all.")
        if part.note:
            console.print(part.note, soft_wrap=True)


def bars(chart: Chart) -> str:
    """Return one bar per step; the lowest value has the lowest bar, the highest value the highest."""
    values = [None if metric is None else metric.value for metric in chart.lines[chart.reading]]
    known = [value for value in values if value is not None]
    if not known:
        return ""
    low, span = min(known), max(known) - min(known)
    return "".join(
        GAP if value is None else BARS[round((value - low) / span * (len(BARS) - 1)) if span else 0] for value in values
    )


def drawn(table: Table, title: str, width: int) -> Iterator[Drawn]:
    """Yield tables of the same rows: columns of numbers that do not fit beside the others go into another one."""
    from rich import box
    from rich.table import Table as Drawn

    rows = table.rows[:MOST_ROWS] if table.is_list else table.rows
    texts = [[clean(f"{cell.text} {cell.letters}".rstrip()) for cell in row] for row in rows]
    wide = [_wide(column, [row[at] for row in texts]) for at, column in enumerate(table.columns)]
    _widen_names(table, texts, wide, width)
    left = [at for at, column in enumerate(table.columns) if column.kind != "number"]
    right = [at for at, column in enumerate(table.columns) if column.kind == "number"]
    for number, columns in enumerate(_fitting(right, wide, width - sum(wide[at] + 3 for at in left) - 1)):
        made = Drawn(
            title=f"{clean(title)}, continued".removeprefix(", ") if number else clean(title),
            box=box.SIMPLE_HEAD,
            title_justify="left",
        )
        shown = sorted([*left, *columns])
        rooms = _rooms(table, texts, wide, shown, width)
        for at in shown:
            head = "\n".join(broken(table.columns[at].name, max(rooms[at], HEAD_ROOM)))
            made.add_column(head, justify="right" if at in right else "left", no_wrap=True)
        for row, cells in zip(texts, rows, strict=True):
            made.add_row(*("\n".join(_lines(row[at], rooms[at])) for at in shown), style=_style(cells))
        yield made


def _lines(name: str, room: int) -> list[str]:
    """Return the lines of a name, indented from the second on if that breaks no part of it."""
    return broken(name, room, indent=INDENT if longest_part(name, INDENT) <= room else "")


def _widen_names(table: Table, texts: list[list[str]], wide: list[int], width: int) -> None:
    """Give names the width at which no part of them is broken, as far as one column of numbers fits beside them.

    Beside no numbers, no word of them is broken.
    """
    names = [at for at, column in enumerate(table.columns) if column.kind == "name"]
    numbers = [wide[at] for at, column in enumerate(table.columns) if column.kind == "number"]
    words = [wide[at] for at, column in enumerate(table.columns) if column.kind == "word"]
    free = width - 1 - sum(words) - max(numbers, default=0) - 3 * (len(names) + len(words) + bool(numbers))
    needed = sorted((max((longest_part(row[at], words=not numbers) for row in texts), default=0), at) for at in names)
    for number, (width_of_part, at) in enumerate(needed):
        wide[at] = max(wide[at], min(width_of_part, free // (len(needed) - number)))
        free -= wide[at]


def _rooms(table: Table, texts: list[list[str]], wide: list[int], shown: list[int], width: int) -> dict[int, int]:
    """Return the width of each column: names share what the others leave, none more than it needs."""
    rooms = {at: wide[at] for at in shown if table.columns[at].kind != "name"}
    names = sorted((max((len(row[at]) for row in texts), default=0), at) for at in shown if at not in rooms)
    free = width - sum(rooms.values()) - 3 * len(shown) - 1
    for number, (widest, at) in enumerate(names):
        rooms[at] = max(wide[at], min(max(widest, len(table.columns[at].name)), free // (len(names) - number)))
        free -= rooms[at]
    return rooms


def _style(cells: Sequence[Cell]) -> str | None:
    return "bold" if any(cell.tone == "strong" for cell in cells) or all(cell.tone == "bad" for cell in cells) else None


def _wide(column: Column, cells: list[str]) -> int:
    """Return the width that a column keeps: nothing but names is broken."""
    widest = max(map(len, cells), default=0)
    if column.kind == "name":
        return max(len(column.name), min(NAME_ROOM, widest))
    return max(widest, *(len(line) for line in broken(column.name, HEAD_ROOM)), 0)


def _fitting(columns: list[int], wide: list[int], room: int) -> list[list[int]]:
    """Return the columns of each table."""
    tables: list[list[int]] = [[]]
    free = room
    for at in columns:
        if tables[-1] and wide[at] + 3 > free:
            tables.append([])
            free = room
        tables[-1].append(at)
        free -= wide[at] + 3
    return tables
