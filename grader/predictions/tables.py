"""Tables of predictions: workbooks, parquet, and text separated by tabs or commas, row by row with each row's line."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from grader.files.json_text import duplicate_columns, not_utf8_message
from grader.files.user_files import UNPACKED_LIMIT, is_zip
from grader.files.workbook import WorkbookError, read_sheet

if TYPE_CHECKING:
    from _csv import Reader
    from collections.abc import Iterator

    from grader.predictions.layouts import Row

HasPredictions = Callable[[list[str]], bool]
"""Whether a table with these columns has predictions."""
PARQUET = b"PAR1"
_SEPARATORS = {"\t": "tab", ",": "comma"}


class TableRow(NamedTuple):
    """One row of a table: its first line (or its number), and its cells by column."""

    line: int
    cells: Row


class TableFault(Exception):  # noqa: N818 - it becomes one of the problems of a file
    """Raised for a table that cannot be read, with the line."""

    def __init__(self, line: int, message: str, columns: list[str] | None = None) -> None:
        super().__init__(message)
        self.line, self.message = line, message
        self.columns = columns
        """The columns of a table that could be read, if it has no predictions; None for a damaged table."""


def separator(data: bytes, has_predictions: HasPredictions) -> str | None:
    """Return the tab or comma that separates the column names, if the first line is that of a prediction table."""
    return next((mark for mark in _SEPARATORS if has_predictions(columns_of(data, mark))), None)


def columns_of(data: bytes, mark: str) -> list[str]:
    """Return the column names in the first line of a text."""
    head = data[: data.find(b"\n") if b"\n" in data else len(data)].decode("utf-8-sig", errors="replace")
    return [name.strip().strip('"') for name in head.split(mark)]


def read_table(data: bytes, has_predictions: HasPredictions) -> Iterator[TableRow]:
    """Yield the rows of a workbook, of parquet or of a table of text; raises `TableFault`."""
    if data.startswith(PARQUET):
        return _parquet_rows(data, has_predictions)
    return _workbook_rows(data, has_predictions) if is_zip(data) else _text_rows(data, has_predictions)


def _text_rows(data: bytes, has_predictions: HasPredictions) -> Iterator[TableRow]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TableFault(line, not_utf8_message(error.start, data[error.start])) from error
    mark = separator(data, has_predictions) or "\t"
    # The limit is global in the csv module; its default of 131,072 characters is too small for a base64 image.
    previous_limit = csv.field_size_limit(sys.maxsize)
    try:
        yield from _csv_rows(csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True), mark)
    finally:
        csv.field_size_limit(previous_limit)


def _csv_rows(reader: Reader, mark: str) -> Iterator[TableRow]:
    """Yield the rows of a text table; raises TableFault for a row with another number of cells than the header."""
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
    for problem in duplicate_columns(header):
        raise TableFault(1, problem)


def _workbook_rows(data: bytes, has_predictions: HasPredictions) -> Iterator[TableRow]:
    try:
        sheet = read_sheet(data, has_predictions, "the columns of predictions")
    except WorkbookError as error:
        raise TableFault(error.row, error.message, error.columns) from error
    _check_header(sheet.header)
    for number, cells in sheet.rows:
        yield TableRow(number, cells)


def _parquet_rows(data: bytes, has_predictions: HasPredictions) -> Iterator[TableRow]:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(pa.BufferReader(data))
        groups = [file.metadata.row_group(number) for number in range(file.metadata.num_row_groups)]
        if sum(group.total_byte_size for group in groups) > UNPACKED_LIMIT:
            raise TableFault(1, f"the table unpacks to more than {UNPACKED_LIMIT:,} bytes")
        columns = file.schema_arrow.names
        if not has_predictions(columns):
            raise TableFault(1, "the table has no columns", columns)  # shown only for an empty list of columns
        rows = (row for batch in file.iter_batches() for row in batch.to_pylist())
        yield from (TableRow(number, row) for number, row in enumerate(rows, 1))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise TableFault(1, f"not a readable parquet file ({error}); was it cut off?") from error
