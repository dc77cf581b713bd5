"""Tables of predictions: workbooks, and text separated by tabs or commas, row by row with each row's first line."""

from __future__ import annotations

import csv
import io
import re
import sys
import warnings
from typing import TYPE_CHECKING, NamedTuple

from grader.files.json_text import quoted

if TYPE_CHECKING:
    from _csv import Reader
    from collections.abc import Iterator
    from zipfile import ZipInfo

    from grader.predictions.record import Row

EXCEL_CELL_LIMIT = 32767
"""Maximum characters of a cell; Excel writers cut or drop the rest."""
ID_COLUMNS = ("index", "qid")
"""Possible names of the id column: in VLMEvalKit, and in grade's own records."""
TEXT_COLUMN = "prediction"
_UNPACKED_LIMIT = 2 << 30
"""Maximum unpacked size of a workbook, in bytes: a few kilobytes of zip can claim terabytes."""
_METHODS = (0, 8)
"""How a workbook's parts may be packed: not at all, or with deflate."""
_EXCEL_ROWS = 1 << 20
_SEPARATORS = {"\t": "tab", ",": "comma"}
_NAME = re.compile(r"[^\W\d][\w -]{0,40}")
"""What a column may be called."""
_EXCEL_CONTROL = re.compile(r"_x00([01][0-9A-Fa-f])_")


class TableRow(NamedTuple):
    """One row of a table: its first line (or its spreadsheet row), and its cells by column."""

    line: int
    cells: Row


class TableFault(Exception):  # noqa: N818 - a place in a file, found on purpose
    """Raised for a table that cannot be read, with the line."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line, self.message = line, message


def is_workbook(data: bytes) -> bool:
    """Whether the bytes are a zip archive, as `.xlsx` files are."""
    return data.startswith(b"PK\x03\x04")


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
    return _workbook_rows(data) if is_workbook(data) else _text_rows(data)


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
    import zipfile

    try:
        with warnings.catch_warnings(), zipfile.ZipFile(io.BytesIO(data)) as archive:
            warnings.simplefilter("ignore")  # openpyxl warns about styles and extensions, which affect no score
            _check_entries(archive.infolist())
            yield from _sheet_rows(data)
    except TableFault:
        raise
    except (
        Exception
    ) as error:  # openpyxl and zipfile raise anything at all on damaged archives: TypeError, zlib.error, ...
        reason = str(error) or type(error).__name__
        raise TableFault(1, f"not a readable .xlsx workbook ({reason}); was it cut off?") from error


def _check_entries(entries: list[ZipInfo]) -> None:
    if sum(entry.file_size for entry in entries) > _UNPACKED_LIMIT:
        raise TableFault(1, f"the workbook unpacks to more than {_UNPACKED_LIMIT:,} bytes")
    # Python unpacks other methods without a limit, whatever size is announced.
    if any(entry.compress_type not in _METHODS for entry in entries):
        raise TableFault(1, "the workbook is compressed in a way that workbooks never are")


def _sheet_rows(data: bytes) -> Iterator[TableRow]:
    """Yield the rows of the first sheet that has the two columns."""
    from openpyxl import load_workbook

    # data_only would return a cell's cached result. For a text such as "=A", written by pandas, this is nothing.
    book = load_workbook(io.BytesIO(data), read_only=True, data_only=False)
    try:
        seen = []
        for sheet in book.worksheets:
            sheet.reset_dimensions()  # what a file says of its own size may be wrong
            rows = _bounded(sheet.iter_rows(values_only=True))
            header = [str(cell).strip() if cell is not None else "" for cell in next(rows, ())]
            if _has_columns(header):
                _check_header(header)
                yield from _filled_rows(header, rows)
                return
            seen.append(", ".join(name for name in header if name) or "nothing")
        raise TableFault(
            1, f"no sheet has the columns index and prediction in its first row (found: {'; '.join(seen)})"
        )
    finally:
        book.close()


def _bounded(rows: Iterator[tuple[object, ...]]) -> Iterator[tuple[object, ...]]:
    """Yield rows; raises TableFault for more than a sheet can have, because a row can have any number."""
    for number, row in enumerate(rows, 1):
        if number > _EXCEL_ROWS:
            raise TableFault(number, f"a sheet has at most {_EXCEL_ROWS:,} rows")
        yield row


def _filled_rows(header: list[str], rows: Iterator[tuple[object, ...]]) -> Iterator[TableRow]:
    for number, cells in enumerate(rows, 2):
        if any(cell is not None for cell in cells):
            named = zip(header, (*cells, *[None] * len(header)), strict=False)
            yield TableRow(number, {name: _excel_text(cell) for name, cell in named if name})


def _excel_text(cell: object) -> object:
    """Undo `_x000D_`: a workbook writes control characters in this form, and openpyxl does not decode it."""
    if isinstance(cell, str):
        return _EXCEL_CONTROL.sub(lambda found: chr(int(found[1], 16)), cell) if "_x00" in cell else cell
    return cell if cell is None or isinstance(cell, int | float) else str(cell)
