"""Reading of tables of text: cells separated by tabs or commas. A table of any kind is a `Table` afterwards."""

from __future__ import annotations

import csv
import sys
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

MARKS = {"\t": "tab", ",": "comma", ";": "semicolon"}
"""What separates cells."""


class Table(NamedTuple):
    """The names in the first row of a table, and its other rows with their lines or numbers, without empty ones."""

    header: list[str]
    rows: list[tuple[int, dict[str, object]]]


class TableError(Exception):
    """Raised for a table that cannot be read, with the line or the row."""

    def __init__(self, line: int, message: str, columns: list[str] | None = None) -> None:
        super().__init__(message)
        self.line, self.message = line, message
        self.columns = columns
        """The columns of a table that could be read, if needed ones are missing; None for a damaged table."""


def read_text_table(file: Iterable[str], mark: str, wanted: Container[object] | None = None) -> Table:
    """Return a table, with the wanted columns (None: all). An empty file has no header. Raises TableError.

    Cells are unchanged text ("None", "NA" and "nan" can be options); an empty cell is None. A row may leave out its
    last cells, as Excel does if they are empty. If such a row also has several lines, a quote is probably open.
    """
    # The limit is global in the csv module; its default of 131,072 characters is too small for a base64 image.
    csv.field_size_limit(min(sys.maxsize, (1 << 31) - 1))
    reader = csv.reader(file, delimiter=mark, strict=True)
    line = 1
    rows: list[tuple[int, dict[str, object]]] = []
    try:
        header = [name.strip() for name in next(reader, [])]
        columns = [(index, name) for index, name in enumerate(header) if name and (wanted is None or name in wanted)]
        if reader.line_num and not any(header):
            raise TableError(1, "the line is blank, but should name the columns")
        line = reader.line_num + 1
        for cells in reader:
            has_several_lines = reader.line_num > line
            if len(cells) > len(header) or (has_several_lines and len(cells) < len(header)):
                open_quote = f"; it ends on line {reader.line_num}: is a quote opened and not closed?"
                hint = open_quote if has_several_lines else f" (a {MARKS[mark]} or a line break outside quotes?)"
                raise TableError(line, f"{len(cells)} cells, the header has {len(header)}{hint}")
            if any(cells):
                rows.append((line, {name: cells[index] or None for index, name in columns if index < len(cells)}))
            line = reader.line_num + 1
    except csv.Error as error:
        is_open = "unexpected end" in str(error)
        open_quote = "a quote is opened here and never closed (was the file cut off inside a quoted cell?)"
        other = f"not a {MARKS[mark]}-separated table: {error} (is a quote opened and not closed?)"
        raise TableError(line, open_quote if is_open else other) from error
    return Table(header, rows)
