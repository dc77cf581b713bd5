"""Reading of workbooks (`.xlsx`): the rows of a sheet, each with its number in the sheet."""

from __future__ import annotations

import io
import re
import warnings
from typing import TYPE_CHECKING

from grader.files.text_table import Table, TableError
from grader.files.user_files import UNPACKED_LIMIT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from zipfile import ZipInfo

CELL_LIMIT = 32767
"""Maximum characters of a cell; Excel writers cut or drop the rest."""
_ALLOWED_COMPRESSION = (0, 8)
"""How a workbook's parts may be packed: not at all, or with deflate."""
_MAX_ROWS = 1 << 20
"""Excel's limit."""
_ESCAPED_CONTROL = re.compile(r"_x00([01][0-9A-Fa-f])_")


def read_sheet(data: bytes, has_columns: Callable[[list[str]], bool], needed: str) -> Table:
    """Return the first sheet that has the needed columns; raises TableError. `needed`: these columns in words."""
    import zipfile

    try:
        with warnings.catch_warnings(), zipfile.ZipFile(io.BytesIO(data)) as archive:
            warnings.simplefilter("ignore")  # openpyxl warns about styles and extensions, which affect no score
            _check_entries(archive.infolist())
            return _first_sheet(data, has_columns, needed)
    except TableError:
        raise
    except Exception as error:  # openpyxl and zipfile raise anything at all on damaged archives: TypeError, ...
        reason = str(error) or type(error).__name__
        raise TableError(1, f"not a readable .xlsx workbook ({reason}); was it cut off?") from error


def _check_entries(entries: list[ZipInfo]) -> None:
    if sum(entry.file_size for entry in entries) > UNPACKED_LIMIT:
        raise TableError(1, f"the workbook unpacks to more than {UNPACKED_LIMIT:,} bytes")
    # Python unpacks other methods without a limit, whatever size is announced.
    if any(entry.compress_type not in _ALLOWED_COMPRESSION for entry in entries):
        raise TableError(1, "the workbook is compressed in a way that workbooks never are")


def _first_sheet(data: bytes, has_columns: Callable[[list[str]], bool], needed: str) -> Table:
    """Return the first sheet that has the needed columns; raises TableError with the header that has most names."""
    from openpyxl import load_workbook

    # data_only would return a cell's cached result. For a text such as "=A", written by pandas, this is nothing.
    book = load_workbook(io.BytesIO(data), read_only=True, data_only=False)
    try:
        other_headers: list[list[str]] = []
        for sheet in book.worksheets:
            sheet.reset_dimensions()  # what a file says of its own size may be wrong
            rows = _limited_rows(sheet.iter_rows(values_only=True))
            header = [str(cell).strip() if cell is not None else "" for cell in next(rows, ())]
            if has_columns(header):
                return Table(header, list(_filled_rows(header, rows)))
            other_headers.append([name for name in header if name])
        headers = "; ".join(", ".join(names) or "nothing" for names in other_headers)
        longest_header = max(other_headers, key=len, default=[])
        raise TableError(1, f"no sheet has {needed} in its first row (found: {headers})", longest_header)
    finally:
        book.close()


def _limited_rows(rows: Iterator[tuple[object, ...]]) -> Iterator[tuple[object, ...]]:
    """Yield rows; raises TableError for more than a sheet can have.

    A damaged or hostile file can have a row with the number 10**9, before which openpyxl yields as many empty rows.
    """
    for number, row in enumerate(rows, 1):
        if number > _MAX_ROWS:
            raise TableError(number, f"a sheet has at most {_MAX_ROWS:,} rows")
        yield row


def _filled_rows(header: list[str], rows: Iterator[tuple[object, ...]]) -> Iterator[tuple[int, dict[str, object]]]:
    for number, cells in enumerate(rows, 2):
        if any(cell is not None for cell in cells):
            padded = (*cells, *[None] * len(header))  # a short row has no cells for the last columns
            yield number, {name: _cell_value(cell) for name, cell in zip(header, padded, strict=False) if name}


def _cell_value(cell: object) -> object:
    """Return a cell as a text, a number or None, with its control characters.

    A workbook writes these as `_x000D_`, which openpyxl does not decode.
    """
    if isinstance(cell, str):
        return _ESCAPED_CONTROL.sub(lambda match: chr(int(match[1], 16)), cell) if "_x00" in cell else cell
    return cell if cell is None or isinstance(cell, int | float) else str(cell)
