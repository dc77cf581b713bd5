"""Formats of a leaderboard, one module per format. The file's extension selects the format.

To add a format, write a module here with a function `make`, and add it to `FORMATS`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.reports.formats import load

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.decisions.leaderboard import Leaderboard

FORMATS = {
    ".json": "grader.reports.record_json",
    ".csv": "grader.reports.leaderboard.csv",
    ".md": "grader.reports.leaderboard.markdown",
    ".tex": "grader.reports.leaderboard.latex",
    ".html": "grader.reports.leaderboard.html",
}
"""Extension -> module, in the order of messages to the user. A module is imported when it is used."""


def format_of(name: str) -> Callable[[Leaderboard], bytes]:
    """Return the function that writes a file of this name (`-`: JSON). Raises UsageError."""
    return load(name, FORMATS, "a leaderboard is written as {formats}, or `-` for standard output.")
