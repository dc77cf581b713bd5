"""A complete comparison as JSON, for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from grader.decisions.comparison import Comparison


def make(comparison: Comparison) -> bytes:
    """Return the file."""
    return msgspec.json.format(msgspec.json.encode(comparison), indent=1) + b"\n"
