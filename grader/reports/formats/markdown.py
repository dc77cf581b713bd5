"""GitHub's Markdown, for a pull request.

A comment on GitHub can have 65,536 characters. A document has at most 60,000 bytes here, so that it fits however
characters are counted: the longest tables and lists are cut between rows, with a count of the rest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from grader.reports.document import Table, shows_title
from grader.reports.formats.markdown_text import code, heading, prose
from grader.reports.text import truncate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.reports.document import Cell, Column, Document, Part, Section

MOST_ROWS = 20
"""Rows of a list of items."""
MOST_BYTES = 59_000
"""Of all blocks: 1,000 of the 60,000 bytes are a reserve."""
CUT_NOTE_BYTES = 100
"""Reserve for the blank line and the number of further rows that follow a block."""
LONGEST = 400
"""Characters of a sentence in a table."""
_UNSAFE = re.compile(r"[^\w\s.,;()%†*<>=–+\N{MINUS SIGN}/·✅❌❔\u26a0\ufe0f-]|//|__|\w_|_\w")
_STARS = str.maketrans({"*": "\\*", "<": "&lt;", ">": "&gt;"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    """Rows that may be cut, between lines that may not."""

    before: Sequence[Markup] = ()
    rows: Sequence[Markup] = ()
    omitted: int = 0
    """Number of rows of the table that are not in `rows`."""
    after: Sequence[Markup] = ()

    def lines(self, max_bytes: int) -> list[Markup]:
        """Return all other lines, and the first rows that fit in `max_bytes`, with a note on those that do not."""
        rows: list[Markup] = []
        room = max_bytes
        for row in self.rows:
            room -= _size([row])
            if room < 0:
                break
            rows.append(row)
        note = []
        if omitted := self.omitted + len(self.rows) - len(rows):
            verb = "is" if omitted == 1 else "are"
            note = [Markup(), Markup("*… {} more {} in the .json.*").format(omitted, verb)]
        return [*self.before, *rows, *note, *self.after]


def make(document: Document) -> bytes:
    """Return the document as GitHub's Markdown, UTF-8, at most 60,000 bytes: the rows of its longest blocks are cut."""
    blocks = list(_blocks(document))
    fixed_bytes = sum(_size([*block.before, *block.after]) + CUT_NOTE_BYTES for block in blocks)
    max_row_bytes = _max_bytes_per_block([_size(block.rows) for block in blocks], MOST_BYTES - fixed_bytes)
    text = "\n".join(line for block in blocks for line in (*block.lines(max_row_bytes), ""))
    return re.sub(r"\n{3,}", "\n\n", text).strip().encode() + b"\n"


def _size(lines: Sequence[Markup]) -> int:
    return sum(len(line.encode()) + 1 for line in lines)


def _max_bytes_per_block(sizes: Sequence[int], total: int) -> int:
    """Return the largest size of a block with which all fit in `total`: long ones share what short ones leave."""
    for index, size in enumerate(sorted(sizes)):
        longer_blocks = len(sizes) - index
        if size * longer_blocks > total:
            return max(0, total // longer_blocks)
        total -= size
    return max(sizes, default=0)


def _blocks(document: Document) -> Iterator[_Block]:
    names = Markup(" · ").join(map(heading, document.names))
    yield _Block(before=[Markup("## grade: {}").format(names)])
    if document.lead:
        yield _Block(before=[prose(document.lead)])
    for section, parts in document.for_medium("file"):
        yield from _section_blocks(section, parts)


def _section_blocks(section: Section, parts: Sequence[Part]) -> Iterator[_Block]:
    """Yield a section's blocks. Sentences that follow each other are the rows of one block: many of them may be cut."""
    title = heading(section.title)
    if section.is_folded:
        yield _Block(before=[Markup("<details><summary>{}</summary>").format(title)])
    elif title:
        sign = f"{section.sign} " if section.sign else ""
        yield _Block(before=[Markup("### {}{}").format(Markup(sign), title)])  # noqa: S704 - a sign of the grader's own
    if section.lead:
        yield _Block(before=[prose(section.lead)])
    sentences: list[Markup] = []
    for index, part in enumerate(parts):
        if isinstance(part, str):
            sentences.append(Markup("- {}").format(prose(part)))
            continue
        if sentences:
            yield _Block(rows=sentences)
            sentences = []
        if isinstance(part, Table):
            yield _table_block(part, with_title=shows_title(parts, index))
    if sentences:
        yield _Block(rows=sentences)
    if section.is_folded:
        yield _Block(before=[Markup("</details>")])


def _table_block(table: Table, *, with_title: bool) -> _Block:
    rows = table.rows[:MOST_ROWS] if table.is_list else table.rows
    alignments = ("--:" if column.kind == "number" else ":--" for column in table.columns)
    return _Block(
        before=[
            *([Markup("**{}**").format(prose(table.title)), Markup()] if with_title else []),
            _row([prose(column.name) for column in table.columns]),
            _row(map(Markup, alignments)),
        ],
        rows=[_row([_cell(*pair) for pair in zip(row, table.columns, strict=True)]) for row in rows],
        omitted=len(table.rows) - len(rows),
        after=[Markup(), prose(table.note)] if table.note else [],
    )


def _row(cells: Sequence[Markup] | map[Markup]) -> Markup:
    return Markup("| {} |").format(Markup(" | ").join(cells))


def _cell(cell: Cell, column: Column) -> Markup:
    if column.kind == "sentence":
        return _sentence(cell.text, LONGEST)
    text = code(cell.text) if column.kind == "name" or _UNSAFE.search(cell.text) else _plain(cell.text)
    return Markup("**{}**").format(text) if cell.tone == "strong" and column.kind != "name" and text else text


def _plain(text: str) -> Markup:
    """Return a number or a word. Two stars would mark emphasis."""
    return Markup(text.translate(_STARS))  # noqa: S704 - `_UNSAFE` has found nothing in it


def _sentence(text: str, limit: int) -> Markup:
    """Return a sentence as text, or all of it as one code span if a part needs one: so a quoted program stays whole."""
    markup = prose(text, limit)
    needs_no_code = str(markup) == truncate(" ".join(text.split()), limit)
    return markup if needs_no_code else code(text, limit)
