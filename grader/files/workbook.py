"""Reading of workbooks (`.xlsx`): the rows of a sheet, each with its number in the sheet."""

from __future__ import annotations

import io
import re
import warnings
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from zipfile import ZipInfo

CELL_LIMIT = 32767
"""Maximum characters of a cell; Excel writers cut or drop the rest."""
_UNPACKED_LIMIT = 2 << 30
"""Maximum unpacked size of a workbook, in bytes: a few kilobytes of zip can claim terabytes."""
_METHODS = (0, 8)
"""How a workbook's parts may be packed: not at all, or with deflate."""
_ROWS = 1 << 20
_CONTROL = re.compile(r"_x00([01][0-9A-Fa-f])_")


class Sheet(NamedTuple):
    """A sheet: the names in its first row, and its other rows with their numbers, without empty ones."""

    header: list[str]
    rows: list[tuple[int, dict[str, object]]]


class WorkbookError(Exception):
    """Raised for a workbook that cannot be read, with the row; and the columns of one without the wanted ones."""

    def __init__(self, row: int, message: str, columns: list[str] | None = None) -> None:
        super().__init__(message)
        self.row, self.message, self.columns = row, message, columns


def is_zip(data: bytes) -> bool:
    """Whether the bytes are a zip archive, as `.xlsx` files are."""
    return data.startswith(b"PK\x03\x04")


def read_sheet(data: bytes, is_wanted: Callable[[list[str]], bool], wanted: str) -> Sheet:
    """Return the first sheet whose names are wanted; raises WorkbookError. `wanted`: the names, for the message."""
    import zipfile

    try:
        with warnings.catch_warnings(), zipfile.ZipFile(io.BytesIO(data)) as archive:
            warnings.simplefilter("ignore")  # openpyxl warns about styles and extensions, which affect no score
            _check_entries(archive.infolist())
            return _sheet(data, is_wanted, wanted)
    except WorkbookError:
        raise
    except Exception as error:  # openpyxl and zipfile raise anything at all on damaged archives: TypeError, ...
        reason = str(error) or type(error).__name__
        raise WorkbookError(1, f"not a readable .xlsx workbook ({reason}); was it cut off?") from error


def _check_entries(entries: list[ZipInfo]) -> None:
    if sum(entry.file_size for entry in entries) > _UNPACKED_LIMIT:
        raise WorkbookError(1, f"the workbook unpacks to more than {_UNPACKED_LIMIT:,} bytes")
    # Python unpacks other methods without a limit, whatever size is announced.
    if any(entry.compress_type not in _METHODS for entry in entries):
        raise WorkbookError(1, "the workbook is compressed in a way that workbooks never are")


def _sheet(data: bytes, is_wanted: Callable[[list[str]], bool], wanted: str) -> Sheet:
    from openpyxl import load_workbook

    # data_only would return a cell's cached result. For a text such as "=A", written by pandas, this is nothing.
    book = load_workbook(io.BytesIO(data), read_only=True, data_only=False)
    try:
        seen: list[list[str]] = []
        for sheet in book.worksheets:
            sheet.reset_dimensions()  # what a file says of its own size may be wrong
            rows = _bounded(sheet.iter_rows(values_only=True))
            header = [str(cell).strip() if cell is not None else "" for cell in next(rows, ())]
            if is_wanted(header):
                return Sheet(header, list(_filled_rows(header, rows)))
            seen.append([name for name in header if name])
        found = "; ".join(", ".join(names) or "nothing" for names in seen)
        most = max(seen, key=len, default=[])
        raise WorkbookError(1, f"no sheet has {wanted} in its first row (found: {found})", most)
    finally:
        book.close()


def _bounded(rows: Iterator[tuple[object, ...]]) -> Iterator[tuple[object, ...]]:
    """Yield rows; raises WorkbookError for more than a sheet can have, because a row can have any number."""
    for number, row in enumerate(rows, 1):
        if number > _ROWS:
            raise WorkbookError(number, f"a sheet has at most {_ROWS:,} rows")
        yield row


def _filled_rows(header: list[str], rows: Iterator[tuple[object, ...]]) -> Iterator[tuple[int, dict[str, object]]]:
    for number, cells in enumerate(rows, 2):
        if any(cell is not None for cell in cells):
            named = zip(header, (*cells, *[None] * len(header)), strict=False)
            yield number, {name: _text(cell) for name, cell in named if name}


def _text(cell: object) -> object:
    """Undo `_x000D_`: a workbook writes control characters in this form, and openpyxl does not decode it."""
    if isinstance(cell, str):
        return _CONTROL.sub(lambda found: chr(int(found[1], 16)), cell) if "_x00" in cell else cell
    return cell if cell is None or isinstance(cell, int | float) else str(cell)
