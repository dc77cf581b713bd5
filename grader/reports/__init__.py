"""Report formats, one module per format. The extension of the file's name selects the format.

To add a format, write a module here with a function `make` (see `interface.py`), and add it to `FORMATS`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.reports.formats import load

if TYPE_CHECKING:
    from grader.reports.interface import Format

FORMATS = {
    ".json": "grader.reports.json",
    ".csv": "grader.reports.csv",
    ".md": "grader.reports.markdown",
    ".xml": "grader.reports.junit",
    ".html": "grader.reports.html",
}
"""Extension -> module, in the order of messages to the user. A module is imported when it is used."""


def format_of(name: str) -> Format:
    """Return the format for a file's name. Raises UsageError for an unknown extension."""
    return load(name, FORMATS, "reports are written as {formats}; name the file with one of these extensions.")
