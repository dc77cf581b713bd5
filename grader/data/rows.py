"""A benchmark's rows, and where they came from."""

from __future__ import annotations

from typing import Any

import msgspec

Row = dict[str, Any]


class Rows(msgspec.Struct, frozen=True, kw_only=True):
    """Rows and where they came from."""

    rows: list[Row]
    origin: str
    """For people and reports: the file's name, or hub id and revision."""
    digest: str
    """A hash of the columns used; two runs are comparable only where it is the same."""
    place: str = ""
    """For messages: the path as the user gave it; empty where the rows came from no file."""
    lines: list[int] = []
    """The line each row begins on, where its file has lines."""
    is_carried: bool = False
    """Whether they came with the predictions."""

    def where(self, number: int) -> str:
        """Return the place of a row, counted from 1: `path:line`, or `path: row n` where there are no lines."""
        place = self.place or self.origin
        return f"{place}:{self.lines[number - 1]}" if self.lines else f"{place}: row {number}"
