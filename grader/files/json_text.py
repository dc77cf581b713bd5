"""Texts, positions and paths in JSON files, as messages show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

JsonPath = tuple[str | int, ...]
Span = tuple[int, int]
"""Bytes [start, end)."""

MAX_DEPTH = 100
"""Maximum nesting of a carried field, because later steps (msgspec, templates) recurse."""


class Flaw(msgspec.Struct, frozen=True, kw_only=True):
    """A valid JSON value that is not the expected one."""

    path: JsonPath
    """Relative to the record."""
    message: str


def quoted(text: str, limit: int = 60) -> str:
    """Return untrusted text for a message: bounded, with control characters escaped."""
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[:limit])
    mark = "'" if '"' in shown and "'" not in shown else '"'
    return f"{mark}{shown}{'...' if len(text) > limit else ''}{mark}"


def render_path(path: Sequence[str | int]) -> str:
    """Return `$[3].predictions[0]` for (3, "predictions", 0)."""
    return "$" + "".join(_step(part) for part in path)


def _step(part: str | int) -> str:
    if isinstance(part, int):
        return f"[{part}]"
    return f".{part}" if part.isidentifier() and part.isprintable() else f"[{quoted(part)}]"


def line_of(data: bytes, offset: int) -> int:
    """Return the line of a byte, counted from 1."""
    return data.count(b"\n", 0, offset) + 1
