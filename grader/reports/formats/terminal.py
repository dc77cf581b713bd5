"""A document as text for a terminal, with the tables of rich."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from grader.reports.document import Table, cells, shows_title
from grader.reports.text import fold, wrap
from grader.wording import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.reports.document import Cell, Column, Document, Part

MOST_ROWS = 10
"""Rows of a list of items; files have all."""
MOST_GROUPS = 8
"""More groups than this are only shown on request."""
HEADING_WIDTH = 16
"""A longer heading of words or numbers has several lines."""
LONGEST = 400
"""Characters of a sentence in a table."""
LEAST_SENTENCE = 40
"""Where a column of sentences would be narrower than this, each stands below its row."""
COLUMN_GAP = 2
"""Characters between two columns: rich pads each by one, and separates them by one."""
_BREAKABLE_KINDS = ("name", "sentence")
_BREAK = "\x1f"
"""A blank without width, which rich breaks lines at; it is not printed."""
_PLACEHOLDER = "\ue000"
"""The first cell of a placeholder row of rich's table: `table_lines` puts the sentence of the row above there."""
_JOINTS = re.compile(r"(?<=\w)([-_/=]+)(?=\w)")
"""What joins the words of a name."""


def render(document: Document, *, width: int = 100, colour: bool = False, verbose: bool = False) -> str:
    """Return the document as text. On a narrow terminal names and headings are broken between words, values never.

    `verbose`: end with the evidence for every verdict, and show all groups, however many there are.
    """
    bold = "\x1b[1m{}\x1b[0m" if colour else "{}"

    def prose(text: str) -> str:
        return wrap(clean(text), width)

    lines = [bold.format(clean(document.title)), ""]
    for section, parts in document.for_medium("terminal"):
        # The note names the fields of the groups, so it stands for the section's title, too.
        groups_note = "" if verbose else _hidden_groups_note(parts)
        has_heading = bool(section.title) and not groups_note
        _end_block(lines)
        if has_heading:
            lines.append(bold.format(clean(section.title)))
        if section.lead:
            lines.append(prose(section.lead))
        for index, part in enumerate(parts):
            if isinstance(part, str):
                lines.append(prose(part))
            elif isinstance(part, Table) and not (groups_note and part.groups):
                if index > 0 or not has_heading:
                    _end_block(lines)
                title = bold.format(clean(part.title)) if shows_title(parts, index) else ""
                lines += _titled_table(part, width, colour=colour, title=title)
        if groups_note:
            lines.append(prose(groups_note))
    if verbose and (evidence := document.evidence()) is not None:
        _end_block(lines)
        lines += _titled_table(evidence, width, colour=colour, title=bold.format(clean(evidence.title)))
    return "\n".join(lines).rstrip() + "\n"


def _end_block(lines: list[str]) -> None:
    """Add a blank line, unless the last line is one."""
    if lines[-1]:
        lines.append("")


def _hidden_groups_note(parts: Sequence[Part]) -> str:
    """Return the line in place of tables with many groups; empty if they are few."""
    groups = [group for part in parts if isinstance(part, Table) for group in part.groups]
    if len(groups) <= MOST_GROUPS:
        return ""
    fields = ", ".join(dict.fromkeys(group.partition("=")[0] for group in groups))
    return f"{len(groups)} groups ({clean(fields)}): `-v` shows them here, `-o FILE.html` on a page."


def _titled_table(table: Table, width: int, *, colour: bool, title: str) -> Iterator[str]:
    if title:
        yield title
    yield from table_lines(table, width, colour=colour)
    more = len(table.rows) - MOST_ROWS
    if table.is_list and more > 0:
        yield f"  ... {more:,} more; `-o FILE.json` has all."
    if table.note:
        yield wrap(clean(table.note), width)
    yield ""


def table_lines(table: Table, width: int, *, colour: bool = False) -> list[str]:
    """Return the lines of a table.

    Nothing is ever cut off: if the numbers do not fit side by side, all rows are repeated with the next numbers. If a
    last column of sentences would be too narrow, each sentence stands below its row.
    """
    rows = table.rows[:MOST_ROWS] if table.is_list else table.rows
    columns = table.columns
    if columns[-1].kind != "sentence" or _last_column_width(columns, rows, width) >= LEAST_SENTENCE:
        return _block_lines(columns, rows, width, colour=colour)
    sentences = iter([_text(row[-1]) for row in rows])
    lines: list[str] = []
    for line in _block_lines(columns[:-1], [row[:-1] for row in rows], width, colour=colour, with_placeholders=True):
        lines += _sentence_lines(next(sentences), width) if line.startswith(_PLACEHOLDER) else [line]
    return lines


def _last_column_width(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], width: int) -> int:
    """Return the width that remains for the last column if the others have one line a row."""
    rows = [cells(column.name for column in columns), *rows]
    widths = (COLUMN_GAP + max(cell_len(_text(row[index])) for row in rows) for index in range(len(columns) - 1))
    return width - sum(widths)


def _sentence_lines(sentence: str, width: int) -> list[str]:
    """Return the lines of a sentence below its row."""
    return [f"    {line}" for line in fold(sentence, width - 4)] if sentence else []


def _block_lines(
    columns: Sequence[Column],
    rows: Sequence[Sequence[Cell]],
    width: int,
    *,
    colour: bool,
    with_placeholders: bool = False,
) -> list[str]:
    """Return the lines of all blocks of a table, with a blank line between two.

    `with_placeholders`: below each row is `_PLACEHOLDER`, in whose place `table_lines` puts the row's sentence.
    """
    lines: list[str] = []
    for block in _columns_by_block(columns, rows, width):
        if lines:
            lines.append("")
        lines += _render_block(columns, rows, block, width, colour=colour, with_placeholders=with_placeholders)
    return lines


UNBROKEN_LENGTHS = (20, 16, 12, 8, 4)
"""Characters: longer words of names may be broken. The next length is tried if a block is too wide."""


def _render_block(
    columns: Sequence[Column],
    rows: Sequence[Sequence[Cell]],
    block: Sequence[int],
    width: int,
    *,
    colour: bool,
    with_placeholders: bool,
) -> list[str]:
    """Return the lines of a block, with names broken as seldom as the terminal's width allows."""
    lines: list[str] = []
    for max_unbroken in UNBROKEN_LENGTHS:
        console = _console(width, colour=colour)
        grid = _grid(columns, rows, block, max_unbroken, with_placeholders=with_placeholders)
        console.print(grid, crop=False)
        # The marks at which rich broke no line are still there, and would be seen.
        text = console.file.getvalue().replace(_BREAK, "")  # type: ignore[attr-defined]
        lines = [line.rstrip() for line in text.rstrip("\n").split("\n")]
        if all(cell_len(Text.from_ansi(line).plain) <= width for line in lines):
            break
    return lines


def _console(width: int, *, colour: bool) -> Console:
    """Return a console of rich that writes to memory, and whose output no environment variable changes."""
    return Console(
        file=io.StringIO(), width=width, force_terminal=colour, color_system="standard" if colour else None,
        legacy_windows=False, _environ={},
    )  # fmt: skip


def _columns_by_block(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], width: int) -> list[list[int]]:
    """Return the indexes of each block's columns: as many columns of numbers as fit, beside all other columns.

    Words of names are whole here, unless they take more than a third of the terminal.
    """
    min_widths = [
        _min_width(column, [row[index] for row in rows], width // 3) + COLUMN_GAP
        for index, column in enumerate(columns)
    ]
    repeated_columns = [index for index, column in enumerate(columns) if column.kind != "number"]
    number_columns = [index for index, column in enumerate(columns) if column.kind == "number"]
    blocks: list[list[int]] = [[]]
    for number in number_columns:
        needed = sum(min_widths[index] for index in [*repeated_columns, *blocks[-1], number])
        if blocks[-1] and needed > width + COLUMN_GAP:  # there is no gap after the last column
            blocks.append([])
        blocks[-1].append(number)
    return [sorted([*repeated_columns, *block]) for block in blocks]


def _min_width(column: Column, cells: Sequence[Cell], max_word: int) -> int:
    """Return the least width of a column: that of its texts, or of its names' longest word, at most `max_word`."""
    if column.kind in _BREAKABLE_KINDS:
        words = (word for text in (column.name, *map(_text, cells)) for word in text.split())
        return min(max(map(cell_len, words), default=1), max_word)
    return max(map(cell_len, [*fold(column.name, HEADING_WIDTH), *map(_text, cells)]))


def _breakable(text: str, max_unbroken: int) -> str:
    """Return a name with possible line breaks after the characters that join its words, in longer words only."""
    words = text.split(" ")
    return " ".join(_JOINTS.sub(rf"\1{_BREAK}", word) if cell_len(word) > max_unbroken else word for word in words)


def _text(cell: Cell) -> str:
    text = clean(cell.text)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _grid(
    columns: Sequence[Column],
    rows: Sequence[Sequence[Cell]],
    block: Sequence[int],
    max_unbroken: int,
    *,
    with_placeholders: bool,
) -> RichTable:
    """Return a block as a table of rich; words of names stay whole up to `max_unbroken` characters."""
    grid = RichTable(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for index in block:
        column = columns[index]
        grid.add_column(
            Text("\n".join(fold(clean(column.name), HEADING_WIDTH))),
            justify="right" if column.kind == "number" else "left",
            vertical="top",
            no_wrap=column.kind not in _BREAKABLE_KINDS,
            overflow="fold",
            min_width=_min_width(column, [row[index] for row in rows], max_unbroken),
        )
    for row in rows:
        grid.add_row(*(_rich_text(row[index], columns[index], max_unbroken) for index in block))
        if with_placeholders:
            grid.add_row(_PLACEHOLDER)
    return grid


def _rich_text(cell: Cell, column: Column, max_unbroken: int) -> Text:
    text = _breakable(_text(cell), max_unbroken) if column.kind == "name" else _text(cell)
    return Text(text, "bold" if cell.tone == "strong" else "")
