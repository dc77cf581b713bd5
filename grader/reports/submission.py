"""The submission table of test splits: VLMEvalKit's column layout, all columns but the image, plus `prediction`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

_ILLEGAL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_MAX_CELL = 32_767


def write_submission(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write the table; returns its path. Characters that a workbook cannot hold are left out of the cells."""
    import openpyxl
    from openpyxl.cell import WriteOnlyCell

    columns = [*dict.fromkeys(name for row in rows for name in row if name != "prediction"), "prediction"]
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Sheet1")
    sheet.append(columns)
    for row in rows:
        cells = []
        for name in columns:
            value = row.get(name)
            if isinstance(value, str):
                number = name == "index" and value.isdigit()
                # A text cell whatever it begins with: "=A" is an answer, no formula.
                cell = WriteOnlyCell(sheet, value=int(value) if number else _ILLEGAL.sub("", value)[:_MAX_CELL])
                if not number:
                    cell.data_type = "s"
                value = cell
            cells.append(value)
        sheet.append(cells)
    partial = path.with_name(f".{path.name}.partial")
    book.save(partial)
    partial.replace(path)
    return path
