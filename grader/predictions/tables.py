"""Tables of predictions: workbooks, and text separated by tabs or commas, row by row with each row's first line."""

from __future__ import annotations

import csv
import io
import re
import sys
from typing import TYPE_CHECKING, NamedTuple

from grader.files.json_text import quoted
from grader.files.workbook import WorkbookError, is_zip, read_sheet

if TYPE_CHECKING:
    from _csv import Reader
    from collections.abc import Iterator

    from grader.predictions.record import Row

ID_COLUMNS = ("index", "qid")
"""Possible names of the id column: in VLMEvalKit, and in grade's own records."""
TEXT_COLUMN = "prediction"
_SEPARATORS = {"\t": "tab", ",": "comma"}
_NAME = re.compile(r"[^\W\d][\w -]{0,40}")
"""What a column may be called."""


class TableRow(NamedTuple):
    """One row of a table: its first line (or its spreadsheet row), and its cells by column."""

    line: int
    cells: Row


class TableFault(Exception):  # noqa: N818 - a place in a file, found on purpose
    """Raised for a table that cannot be read, with the line."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line, self.message = line, message


def separator(data: bytes) -> str | None:
    """Return the tab or comma that separates the column names, if the first line is that of a prediction table."""
    head = data[: data.find(b"\n") if b"\n" in data else len(data)]
    for mark in _SEPARATORS:
        names = {name.strip().strip(b'"').decode(errors="replace") for name in head.split(mark.encode())}
        if TEXT_COLUMN in names and names.intersection(ID_COLUMNS):
            return mark
    return None


def not_named(head: bytes) -> str:
    """Return what is missing in the first line of a text that looks like a table; empty if it looks like none."""
    line, *more = head.decode(errors="replace").splitlines()
    if line.startswith("sep="):
        return f"begins with {quoted(line)}; remove this line, and separate the columns by commas or tabs"
    mark = max("\t,;", key=line.count)
    names = [name.strip().strip('"') for name in line.split(mark)]
    if len(names) < 2 or not more or more[0].count(mark) < len(names) - 1 or not all(map(_NAME.fullmatch, names)):
        return ""
    if mark == ";":
        return "is a table separated by semicolons; separate the columns by commas or tabs"
    missing = [] if {*names}.intersection(ID_COLUMNS) else ['the id of the task to "qid"']
    missing += [] if TEXT_COLUMN in names else [f'the answer to "{TEXT_COLUMN}"']
    return f"has the columns {', '.join(map(quoted, names[:20]))}: rename {', and '.join(missing)}"


def read_table(data: bytes) -> Iterator[TableRow]:
    """Yield the rows of a workbook or of a table of text; raises `TableFault`."""
    return _workbook_rows(data) if is_zip(data) else _text_rows(data)


def _text_rows(data: bytes) -> Iterator[TableRow]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TableFault(line, f"byte {error.start} of the file (0x{data[error.start]:02x}) is not UTF-8") from error
    mark = separator(data.removeprefix(b"\xef\xbb\xbf")) or "\t"
    # The limit is global in the csv module; its default of 131,072 characters is too small for a base64 image.
    before = csv.field_size_limit(sys.maxsize)
    try:
        yield from _csv_rows(csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True), mark)
    finally:
        csv.field_size_limit(before)


def _csv_rows(reader: Reader, mark: str) -> Iterator[TableRow]:
    start = 1
    try:
        header = [name.strip() for name in next(reader)]
        _check_header(header)
        start = reader.line_num + 1
        for cells in reader:
            if len(cells) not in (0, len(header)):
                counts = f"{len(header)} columns, but {len(cells)} in this row"
                raise TableFault(start, f"{counts} (a {_SEPARATORS[mark]} or a line break outside quotes?)")
            if any(cells):
                yield TableRow(start, dict(zip(header, cells, strict=True)))
            start = reader.line_num + 1
    except csv.Error as error:
        hint = " (was the file cut off inside a quoted cell?)" if "unexpected end" in str(error) else ""
        raise TableFault(start, f"not a {_SEPARATORS[mark]}-separated table: {error}{hint}") from error


def _check_header(header: list[str]) -> None:
    for name in header:
        if name and header.count(name) > 1:
            raise TableFault(1, f"the column {quoted(name)} is a duplicate")
    if not _has_columns(header):
        raise TableFault(1, "the first row has no columns index and prediction")


def _has_columns(header: list[str]) -> bool:
    return TEXT_COLUMN in header and any(name in header for name in ID_COLUMNS)


def _workbook_rows(data: bytes) -> Iterator[TableRow]:
    try:
        sheet = read_sheet(data, _has_columns, "the columns index and prediction")
    except WorkbookError as error:
        raise TableFault(error.row, error.message) from error
    _check_header(sheet.header)
    for number, cells in sheet.rows:
        yield TableRow(number, cells)
