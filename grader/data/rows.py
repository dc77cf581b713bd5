"""A benchmark's rows and their origin."""

from __future__ import annotations

from typing import Any

import msgspec

Row = dict[str, Any]


class Rows(msgspec.Struct, frozen=True, kw_only=True):
    """Rows and their origin."""

    rows: list[Row]
    origin: str
    """For users and reports: the file's name, or hub id and revision."""
    digest: str
    """A hash of the used columns; two runs are comparable only if it is the same."""
    place: str = ""
    """For messages: the path as the user gave it; empty if the rows are not from a file."""
    lines: list[int] = []
    """The first line of each row, if the file has lines."""
    is_carried: bool = False
    """Whether the rows came with the predictions."""

    def where(self, number: int) -> str:
        """Return the position of row `number` (from 1): `path:line`, or `path: row n` if the file has no lines."""
        place = self.place or self.origin
        return f"{place}:{self.lines[number - 1]}" if self.lines else f"{place}: row {number}"
