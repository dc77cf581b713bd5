"""A document in GitHub's Markdown, for pull requests and step summaries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.reports import markdown
from grader.reports.markdown_text import code, prose
from grader.reports.runs.document import Chart, Table
from grader.reports.runs.terminal import bars

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.reports.runs.document import Cell, Column, Document, GradedFile, Section

MOST_ROWS = 50
"""Rows of a list of items; the JSON has all."""
MOST_BYTES = 60_000
"""A comment on GitHub can have little more. Reports of files that do not fit are left out, and counted."""


def make(document: Document) -> bytes:
    """Return the file."""
    lines = [f"## grade: {code(document.title)}", ""] if document.title else []
    for section in document.sections:
        lines += ["", f"### {code(section.title)}", ""] if section.title else []
        lines += _section(section)
    return _with_reports(("\n".join(lines).strip() + "\n").encode(), document.files)


def _section(section: Section) -> Iterator[str]:
    is_first = True
    for part in section.texts():
        if isinstance(part, str):
            yield f"- {prose(part)}"
        else:
            yield from _chart(part) if isinstance(part, Chart) else _table(part, has_title=not is_first)
            is_first = False


def _chart(chart: Chart) -> list[str]:
    return [f"{chart.reading}: `{bars(chart)}`", ""]


def _table(table: Table, *, has_title: bool) -> Iterator[str]:
    yield ""
    if has_title:
        yield f"**{prose(table.title)}**"
        yield ""
    yield f"| {' | '.join(map(_head, table.columns))} |"
    yield f"| {' | '.join('--:' if column.kind == 'number' else ':--' for column in table.columns)} |"
    rows = table.rows[:MOST_ROWS] if table.is_list else table.rows
    for row in rows:
        yield f"| {' | '.join(_cell(cell, column) for cell, column in zip(row, table.columns, strict=True))} |"
    yield ""
    if left := len(table.rows) - len(rows):
        yield f"*… {left} more are in the .json.*"
        yield ""
    if table.note:
        yield str(prose(table.note))
        yield ""


def _head(column: Column) -> str:
    return str(prose(column.name))


def _cell(cell: Cell, column: Column) -> str:
    if column.kind == "name":
        return str(code(cell.text))
    # Two stars would mark emphasis.
    text = cell.text.replace("*", "\\*").replace("<", "&lt;")
    shown = f"**{text}**" if cell.tone == "strong" and text else text
    return f"{shown} <sup>{cell.letters}</sup>" if cell.letters else shown


def _with_reports(text: bytes, files: Sequence[GradedFile]) -> bytes:
    left_out = 0
    for one in files:
        part = f"\n# {code(one.file)}\n\n".encode()
        part += markdown.render(one.report, one.gates) if one.report is not None else f"{code(one.problem)}\n".encode()
        if len(text) + len(part) > MOST_BYTES:
            left_out += 1
        else:
            text += part
    if left_out:
        text += f"\nThe reports of {left_out} more files are left out here; their results files have them.\n".encode()
    return text
