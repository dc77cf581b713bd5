"""A complete leaderboard as JSON, with every comparison, for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from grader.decisions.leaderboard import Leaderboard


def make(made: Leaderboard) -> bytes:
    """Return the file."""
    return msgspec.json.format(msgspec.json.encode(made), indent=1) + b"\n"
