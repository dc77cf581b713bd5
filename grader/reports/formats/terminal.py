"""A document as text for a terminal, with the tables of rich."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as Drawn
from rich.text import Text

from grader.reports.document import Table, cells, has_title
from grader.reports.text import clean, folded, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.reports.document import Cell, Column, Document, Part

MOST_ROWS = 10
"""Rows of a list of items; files have all."""
MOST_GROUPS = 8
"""More groups than this are only shown on request."""
HEAD_ROOM = 16
"""A longer heading of words or numbers has several lines."""
LONGEST = 400
"""Characters of a sentence in a table."""
LEAST_SENTENCE = 40
"""Where a column of sentences would be narrower than this, each stands below its row."""
_NAMES = ("name", "sentence")
_BREAK = "\x1f"
"""A blank without width, which rich breaks lines at; it is not printed."""
_BELOW = "\ue000"
"""Begins a line of rich's table in whose place a sentence stands."""
_JOINTS = re.compile(r"(?<=\w)([-_/=]+)(?=\w)")
"""What joins the words of a name."""


def render(document: Document, *, width: int = 100, colour: bool = False, verbose: bool = False) -> str:
    """Return the document as text. On a narrow terminal names and headings are broken between words, values never.

    `verbose`: end with the evidence for every verdict, and show all groups, however many there are.
    """
    bold = "\x1b[1m{}\x1b[0m" if colour else "{}"

    def prose(text: str) -> str:
        return wrapped(clean(text), width)

    lines = [bold.format(clean(document.title)), ""]
    for section, parts in document.on("terminal"):
        hidden = [] if verbose else _hidden(parts)
        heads = [bold.format(clean(section.title))] if section.title and not hidden else []
        lines += [*([""] if lines[-1] else []), *heads, *([prose(section.lead)] if section.lead else [])]
        for at, part in enumerate(parts):
            if isinstance(part, str):
                lines.append(prose(part))
            elif isinstance(part, Table) and not (hidden and part.groups):
                lines += [""] if lines[-1] and not (at == 0 and heads) else []
                title = bold.format(clean(part.title)) if has_title(parts, at) else ""
                lines += _table(part, width, colour=colour, title=title)
        lines += map(prose, hidden)
    if verbose and (evidence := document.evidence()) is not None:
        lines += [
            *([""] if lines[-1] else []),
            *_table(evidence, width, colour=colour, title=bold.format(clean(evidence.title))),
        ]
    return "\n".join(lines).rstrip() + "\n"


def _hidden(parts: Sequence[Part]) -> list[str]:
    """Return the line in place of tables with many groups; nothing if they are few."""
    groups = [group for part in parts if isinstance(part, Table) for group in part.groups]
    if len(groups) <= MOST_GROUPS:
        return []
    fields = ", ".join(dict.fromkeys(group.partition("=")[0] for group in groups))
    return [f"{len(groups)} groups ({clean(fields)}): `-v` shows them here, `-o FILE.html` on a page."]


def _table(table: Table, width: int, *, colour: bool, title: str) -> Iterator[str]:
    yield from [title] if title else []
    yield from table_lines(table, width, colour=colour)
    left = len(table.rows) - MOST_ROWS
    if table.is_list and left > 0:
        yield f"  ... {left:,} more; `-o FILE.json` has all."
    yield from [wrapped(clean(table.note), width)] if table.note else []
    yield ""


def table_lines(table: Table, width: int, *, colour: bool = False) -> list[str]:
    """Return the lines of a table.

    Nothing is ever cut off: if the numbers do not fit side by side, all rows are repeated with the next numbers.
    """
    rows = table.rows[:MOST_ROWS] if table.is_list else table.rows
    columns, sentences = table.columns, list[str]()
    if columns[-1].kind == "sentence" and _room(columns, rows, width) < LEAST_SENTENCE:
        sentences = [_text(row[-1]) for row in rows]
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    lines: list[str] = []
    for block in _blocks(columns, rows, width):
        shown = _fitting(columns, rows, block, width, colour=colour, below=bool(sentences))
        lines += [*([""] if lines else []), *shown]
    left = iter(sentences)
    return [part for line in lines for part in (_below(next(left), width) if line.startswith(_BELOW) else [line])]


def _room(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], width: int) -> int:
    """Return the width that is left for the last column if the others have one line a row."""
    names = [cells(column.name for column in columns), *rows]
    return width - sum(2 + max(cell_len(_text(row[at])) for row in names) for at in range(len(columns) - 1))


def _below(sentence: str, width: int) -> list[str]:
    """Return the lines of a sentence below its row."""
    return [f"    {line}" for line in folded(sentence, width - 4)] if sentence else []


def _fitting(
    columns: Sequence[Column],
    rows: Sequence[Sequence[Cell]],
    block: Sequence[int],
    width: int,
    *,
    colour: bool,
    below: bool,
) -> list[str]:
    """Return the lines of a block. If they are too long for the terminal, shorter words of its names are broken.

    `below`: each row is followed by a line for a sentence.
    """
    lines: list[str] = []
    for longest in (UNBROKEN, 16, 12, 8, 4):
        console = Console(
            file=io.StringIO(), width=width, force_terminal=colour, color_system="standard" if colour else None,
            legacy_windows=False, _environ={},
        )  # fmt: skip
        console.print(_grid(columns, rows, block, longest, below=below), crop=False)
        text = console.file.getvalue().replace(_BREAK, "")  # type: ignore[attr-defined]
        lines = [line.rstrip() for line in text.rstrip("\n").split("\n")]
        if all(cell_len(Text.from_ansi(line).plain) <= width for line in lines):
            break
    return lines


def _blocks(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], width: int) -> list[list[int]]:
    """Return the places of the columns of each block: all that are not numbers, and as many numbers as fit.

    A word of a name is whole if it takes at most a third of the terminal: then fewer numbers are beside it.
    """
    least = [_least(column, [row[at] for row in rows], width // 3) + 2 for at, column in enumerate(columns)]
    kept = [at for at, column in enumerate(columns) if column.kind != "number"]
    blocks: list[list[int]] = [[]]
    for at in (at for at in range(len(columns)) if at not in kept):
        if blocks[-1] and sum(least[each] for each in [*kept, *blocks[-1], at]) > width + 2:
            blocks.append([])
        blocks[-1].append(at)
    return [sorted([*kept, *block]) for block in blocks]


UNBROKEN = 20
"""A word of a name that has at most so many characters is broken only if the numbers need its room."""


def _least(column: Column, cells: Sequence[Cell], most: int) -> int:
    """Return the least width of a column: that of its numbers, or of its names' longest word, but at most `most`."""
    if column.kind in _NAMES:
        words = (word for text in (column.name, *map(_text, cells)) for word in text.split())
        return min(max(map(cell_len, words), default=1), most)
    return max(map(cell_len, [*folded(column.name, HEAD_ROOM), *map(_text, cells)]))


def _breakable(text: str, longest: int) -> str:
    """Return a name with possible line breaks after the characters that join its words, where these are `longest`."""
    parts = (_JOINTS.sub(rf"\1{_BREAK}", word) if cell_len(word) > longest else word for word in text.split(" "))
    return " ".join(parts)


def _text(cell: Cell) -> str:
    text = clean(cell.text)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _grid(
    columns: Sequence[Column], rows: Sequence[Sequence[Cell]], block: Sequence[int], longest: int, *, below: bool
) -> Drawn:
    grid = Drawn(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for at in block:
        column = columns[at]
        is_name = column.kind in _NAMES
        grid.add_column(
            Text("\n".join(folded(clean(column.name), HEAD_ROOM))),
            justify="right" if column.kind == "number" else "left",
            vertical="top",
            no_wrap=not is_name,
            overflow="fold",
            min_width=_least(column, [row[at] for row in rows], longest),
        )
    for row in rows:
        grid.add_row(
            *(
                Text(_cell_text(row[at], columns[at], longest), "bold" if row[at].tone == "strong" else "")
                for at in block
            )
        )
        if below:
            grid.add_row(_BELOW)
    return grid


def _cell_text(cell: Cell, column: Column, longest: int) -> str:
    return _breakable(_text(cell), longest) if column.kind == "name" else _text(cell)
