"""A leaderboard as a file or on a terminal: one file a format. The format is the file's extension.

To add one, write a module here with a function `make`, and name it in `FORMATS`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.reports.formats import load

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.decisions.leaderboard import Leaderboard

FORMATS = {
    ".json": "grader.reports.leaderboard.json",
    ".csv": "grader.reports.leaderboard.csv",
    ".md": "grader.reports.leaderboard.markdown",
    ".tex": "grader.reports.leaderboard.latex",
    ".html": "grader.reports.leaderboard.html",
}
"""Extension -> module, in the order in which they are named to the user. Each is imported when it is used."""


def format_of(name: str) -> Callable[[Leaderboard], bytes]:
    """Return what makes the file of this name (`-`: JSON); raises UsageError."""
    return load(name, FORMATS, "a leaderboard is written as {formats}, or `-` for standard output.")
