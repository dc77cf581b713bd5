"""Tables of predictions: workbooks, parquet, and text separated by tabs or commas, row by row with each row's line."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import TYPE_CHECKING

from grader.files.json_text import duplicate_columns, line_of, not_utf8_message
from grader.files.text_table import MARKS, TableError, read_text_table
from grader.files.user_files import UNPACKED_LIMIT, is_zip
from grader.files.workbook import read_sheet

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grader.files.text_table import Table
    from grader.predictions.layouts import Row

HasPredictions = Callable[[list[str]], bool]
"""Whether a table with these columns has predictions."""
PARQUET = b"PAR1"


def separator(data: bytes, has_predictions: HasPredictions) -> str | None:
    """Return the tab or comma that separates the column names, if the first line is that of a prediction table."""
    return next((mark for mark in MARKS if has_predictions(columns_of(data, mark))), None)


def columns_of(data: bytes, mark: str) -> list[str]:
    """Return the column names in the first line of a text."""
    head = data[: data.find(b"\n") if b"\n" in data else len(data)].decode("utf-8-sig", errors="replace")
    return [name.strip().strip('"') for name in head.split(mark)]


def read_table(data: bytes, has_predictions: HasPredictions) -> Iterable[tuple[int, Row]]:
    """Return the rows of a workbook, of parquet or of a table of text, with their lines; raises TableError."""
    if data.startswith(PARQUET):
        return _parquet_rows(data, has_predictions)
    if is_zip(data):
        table = read_sheet(data, has_predictions, "the columns of predictions")
    else:
        table = _text_table(data, has_predictions)
    for problem in duplicate_columns(table.header):
        raise TableError(1, problem)
    return table.rows


def _text_table(data: bytes, has_predictions: HasPredictions) -> Table:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TableError(line_of(data, error.start), not_utf8_message(error.start, data[error.start])) from error
    return read_text_table(io.StringIO(text, newline=""), separator(data, has_predictions) or "\t")


def _parquet_rows(data: bytes, has_predictions: HasPredictions) -> Iterator[tuple[int, Row]]:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(pa.BufferReader(data))
        groups = [file.metadata.row_group(number) for number in range(file.metadata.num_row_groups)]
        if sum(group.total_byte_size for group in groups) > UNPACKED_LIMIT:
            raise TableError(1, f"the table unpacks to more than {UNPACKED_LIMIT:,} bytes")
        columns = file.schema_arrow.names
        if not has_predictions(columns):
            raise TableError(1, "the table has no columns", columns)  # shown only for an empty list of columns
        rows = (row for batch in file.iter_batches() for row in batch.to_pylist())
        yield from enumerate(rows, 1)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise TableError(1, f"not a readable parquet file ({error}); was it cut off?") from error
