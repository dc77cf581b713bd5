"""The submission of test splits: a table of VLMEvalKit.

A submission has VLMEvalKit's columns: all but the image, plus `prediction`.
"""

from __future__ import annotations

import re
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from grader.files.replacing import replacing

if TYPE_CHECKING:
    from pathlib import Path


_ILLEGAL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_MAX_CELL = 32_767
_PREDICTION = "prediction"


def write_submission(path: Path, rows: list[dict[str, Any]], index: str = "index") -> Path:
    """Write the table and return its path. Characters that a workbook cannot contain are removed from the cells."""
    import openpyxl
    from openpyxl.cell import WriteOnlyCell

    columns = [*columns_of(rows), _PREDICTION]
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Sheet1")
    sheet.append(columns)
    for row in rows:
        cells = []
        for name in columns:
            value = row.get(name)
            if isinstance(value, str):
                is_index = name == index and value.isdigit()
                # Always a text cell: "=A" is an answer, not a formula.
                cell = WriteOnlyCell(sheet, value=int(value) if is_index else _ILLEGAL.sub("", value)[:_MAX_CELL])
                if not is_index:
                    cell.data_type = "s"
                value = cell
            cells.append(value)
        sheet.append(cells)
    with replacing(path) as file:
        book.save(file)
    return path


def columns_of(rows: list[dict[str, Any]]) -> list[str]:
    """Return the columns, without the prediction's, in an order that agrees with every row.

    Rows omit their empty cells, so no single row needs to have them all.
    """
    predecessors: dict[str, set[str]] = {}
    for names in dict.fromkeys(tuple(name for name in row if name != _PREDICTION) for row in rows):
        for name in names:
            predecessors.setdefault(name, set())
        for earlier, later in pairwise(names):
            predecessors[later].add(earlier)
    try:
        return list(TopologicalSorter(predecessors).static_order())
    except CycleError:  # JSON objects may have their fields in any order
        return list(predecessors)
