"""Formats of a history, one module per format. The file's extension selects the format.

To add a format, write a module here with a function `make`, and add it to `FORMATS`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.reports.formats import load

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.decisions.history import History

FORMATS = {
    ".json": "grader.reports.record_json",
    ".csv": "grader.reports.history.csv",
    ".md": "grader.reports.history.markdown",
    ".html": "grader.reports.history.html",
}
"""Extension -> module, in the order of messages to the user. A module is imported when it is used."""


def format_of(name: str) -> Callable[[History], bytes]:
    """Return the function that writes a file of this name (`-`: JSON). Raises UsageError."""
    return load(name, FORMATS, "a history is written as {formats}, or `-` for standard output.")
