"""Reading of workbooks (`.xlsx`): the rows of a sheet, each with its number in the sheet."""

from __future__ import annotations

import io
import re
import warnings
from typing import TYPE_CHECKING

from grader.files.text_table import Table, TableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CELL_LIMIT = 32767
"""Maximum characters of a cell; Excel writers cut or drop the rest."""
_ESCAPED_CONTROL = re.compile(r"_x00([01][0-9A-Fa-f])_")


def read_sheet(data: bytes, has_columns: Callable[[list[str]], bool], needed: str) -> Table:
    """Return the first sheet that has the needed columns; raises TableError. `needed`: these columns in words."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # openpyxl warns about styles and extensions, which affect no score
            return _first_sheet(data, has_columns, needed)
    except TableError:
        raise
    except Exception as error:  # openpyxl and zipfile raise anything at all on damaged archives: TypeError, ...
        reason = str(error) or type(error).__name__
        raise TableError(1, f"not a readable .xlsx workbook ({reason}); was it cut off?") from error


def _first_sheet(data: bytes, has_columns: Callable[[list[str]], bool], needed: str) -> Table:
    """Return the first sheet that has the needed columns; raises TableError with the header that has most names."""
    from openpyxl import load_workbook

    # data_only would return a cell's cached result. For a text such as "=A", written by pandas, this is nothing.
    book = load_workbook(io.BytesIO(data), read_only=True, data_only=False)
    try:
        other_headers: list[list[str]] = []
        for sheet in book.worksheets:
            sheet.reset_dimensions()  # what a file says of its own size may be wrong
            rows = sheet.iter_rows(values_only=True)
            header = [str(cell).strip() if cell is not None else "" for cell in next(rows, ())]
            if has_columns(header):
                return Table(header, list(_filled_rows(header, rows)))
            other_headers.append([name for name in header if name])
        headers = "; ".join(", ".join(names) or "nothing" for names in other_headers)
        longest_header = max(other_headers, key=len, default=[])
        raise TableError(1, f"no sheet has {needed} in its first row (found: {headers})", longest_header)
    finally:
        book.close()


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
