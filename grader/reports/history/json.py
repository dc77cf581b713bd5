"""A complete history as JSON, for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from grader.decisions.history import History


def make(made: History) -> bytes:
    """Return the file."""
    return msgspec.json.format(msgspec.json.encode(made), indent=1) + b"\n"
