"""A comparison, history or leaderboard as JSON: the complete record, with unrounded values, for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from grader.decisions.comparison import Comparison
    from grader.decisions.history import History
    from grader.decisions.leaderboard import Leaderboard


def make(made: Comparison | History | Leaderboard) -> bytes:
    """Return the file."""
    return msgspec.json.format(msgspec.json.encode(made), indent=1) + b"\n"
