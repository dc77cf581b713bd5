"""A document as text for a terminal."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from rich.cells import cell_len

from grader.reports.document import Table
from grader.reports.text import clean, folded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.reports.document import Cell, Column, Document

MOST_ROWS = 10
"""Rows of a list of items; files have all."""
MOST_GROUPS = 8
"""More groups than this are only shown on request."""
HEAD_ROOM = 16
"""A longer heading of words or numbers has several lines."""
GAP = "  "
INDENT = "  "
"""Of tables, of the further lines of a name, and of values below a name."""


def render(document: Document, *, width: int = 100, colour: bool = False, groups: bool = False) -> str:
    """Return the document as text. On a narrow terminal names and headings are broken between words, values never.

    `groups`: show all groups, however many there are.
    """
    lines: list[str] = []
    for section in document.sections:
        title = section.title or document.title
        lines += [""] if lines and lines[-1] else []
        for part in section.texts():
            lines += [""] if isinstance(part, Table) and lines and lines[-1] else []
            hidden = [] if groups or not isinstance(part, Table) else groups_hidden(part.groups)
            lines += hidden or _lines(part, title, width, colour=colour)
            title = title if isinstance(part, str) else ""
    return "\n".join([*lines, ""])


def groups_hidden(groups: Sequence[str]) -> list[str]:
    """Return the lines in place of many groups, given as `field=value`; nothing if they are few."""
    if len(groups) <= MOST_GROUPS:
        return []
    fields = ", ".join(dict.fromkeys(group.partition("=")[0] for group in groups))
    return [f"{len(groups)} groups ({clean(fields)}): `--groups` shows them here, `-o FILE.html` on a page.", ""]


def _lines(part: Table | str, title: str, width: int, *, colour: bool) -> Iterator[str]:
    if isinstance(part, str):
        yield clean(part)
    else:
        yield from drawn(part, title or part.title, width, colour=colour)
        left = len(part.rows) - MOST_ROWS
        if part.is_list and left > 0:
            yield f"  ... {left} more; `-o FILE.json` has all."
        yield from [part.note] if part.note else []


def drawn(table: Table, title: str, width: int, *, colour: bool = False) -> Iterator[str]:
    """Yield the lines of a table. No word is broken, and no column is left out.

    If the columns do not fit side by side, the first name of a row is a line above its values, then all its names. If
    the numbers do not fit in one line even so, all rows are repeated with the next numbers.
    """
    rows = table.rows[:MOST_ROWS] if table.is_list else table.rows
    columns = [_column(column, [row[at] for row in rows]) for at, column in enumerate(table.columns)]
    names = [column for column in columns if column.kind == "name"]
    layouts = [
        (above, _fitting([column for column in columns if column not in above], above, width))
        for above in ([], names[:1], names if len(names) < len(columns) else [])
    ]
    above, blocks = min(layouts, key=lambda each: (any(_wide(b, each[0]) > width for b in each[1]), len(each[1])))
    bold = _BOLD if colour else ""
    styles = [bold if _is_bold(row) else "" for row in rows]
    yield from [_styled(clean(title), bold)] if title else []
    for beside in blocks:
        yield ""
        yield from _block(above, beside, styles, width, head_style=bold)
    yield ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Column:
    name: str
    kind: str
    cells: Sequence[str]
    least: int
    """Width below which a word would be broken."""
    most: int
    """Width of everything in one line."""


def _column(column: Column, cells: Sequence[Cell]) -> _Column:
    texts = [clean(f"{cell.text} {cell.letters}".rstrip()) for cell in cells]
    if column.kind == "name":
        words = [word for text in (column.name, *texts) for word in folded(text, 1, INDENT)]
        least, most = (max(map(cell_len, found)) for found in (words, [column.name, *texts]))
    else:
        least = most = max(map(cell_len, [*folded(column.name, HEAD_ROOM), *texts]))
    return _Column(name=column.name, kind=column.kind, cells=texts, least=least, most=most)


def _wide(beside: Sequence[_Column], above: Sequence[_Column]) -> int:
    """Return the least width of a table."""
    margin = len(INDENT) * (2 if above else 1)
    return margin + sum(column.least for column in beside) + len(GAP) * (len(beside) - 1)


def _fitting(columns: list[_Column], above: list[_Column], width: int) -> list[list[_Column]]:
    """Return the columns of each block: all that are not numbers, and as many numbers as fit."""
    kept = [column for column in columns if column.kind != "number"]
    blocks: list[list[_Column]] = [[]]
    for column in (column for column in columns if column not in kept):
        if blocks[-1] and _wide([*kept, *blocks[-1], column], above) > width:
            blocks.append([])
        blocks[-1].append(column)
    return [[column for column in columns if column in kept or column in block] for block in blocks]


def _block(
    above: list[_Column], beside: list[_Column], styles: Sequence[str], width: int, head_style: str
) -> Iterator[str]:
    """Yield the heading and the rows of these columns."""
    rooms = _rooms(beside, width - _wide(beside, above))
    margin = INDENT * (2 if above else 1)
    heads = [folded(column.name, max(room, HEAD_ROOM)) for column, room in zip(beside, rooms, strict=True)]
    highest = max(map(len, heads), default=0)
    heads = [[""] * (highest - len(lines)) + lines for lines in heads]
    label = GAP.join(column.name for column in above)
    yield from [_styled(f"{INDENT}{label}", head_style)] if label else []
    yield from (_styled(f"{margin}{line}", head_style) for line in _side_by_side(beside, rooms, heads))
    yield " " + "─" * (len(margin) - 1 + sum(rooms) + len(GAP) * (len(rooms) - 1))
    for at, style in enumerate(styles):
        # A row without names belongs to the row before.
        before, label = label, GAP.join(filter(None, (column.cells[at] for column in above))) or label
        yield from [_styled(f"{INDENT}{label}", style)] if label != before else []
        cells = [
            folded(column.cells[at], room, INDENT) if column.kind == "name" else [column.cells[at]]
            for column, room in zip(beside, rooms, strict=True)
        ]
        yield from (_styled(f"{margin}{line}", style) for line in _side_by_side(beside, rooms, cells))


def _rooms(columns: Sequence[_Column], free: int) -> list[int]:
    """Return the width of each column: names share what is free, none takes more than it needs."""
    rooms = {}
    by_need = sorted(columns, key=lambda column: column.most - column.least)
    for number, column in enumerate(by_need):
        more = max(0, min(column.most - column.least, free // (len(by_need) - number)))
        rooms[column], free = column.least + more, free - more
    return [rooms[column] for column in columns]


def _side_by_side(columns: Sequence[_Column], rooms: Sequence[int], texts: Sequence[list[str]]) -> Iterator[str]:
    """Yield the lines of one row, whose cells may have several."""
    for parts in zip_longest(*texts, fillvalue=""):
        blanks = [" " * (room - cell_len(part)) for part, room in zip(parts, rooms, strict=True)]
        cells = zip(columns, parts, blanks, strict=True)
        yield GAP.join(f"{gap}{part}" if c.kind == "number" else f"{part}{gap}" for c, part, gap in cells).rstrip()


_BOLD = "\x1b[1m"


def _styled(line: str, style: str) -> str:
    return f"{style}{line}\x1b[0m" if style and line.strip() else line


def _is_bold(cells: Sequence[Cell]) -> bool:
    return any(cell.tone == "strong" for cell in cells) or all(cell.tone == "bad" for cell in cells)
