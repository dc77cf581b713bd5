"""One file a format: a report becomes the bytes of a file. The format is the file's extension.

To add one, write a module here with a function `make` (see `interface.py`), and name it in `FORMATS`.
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
"""Extension -> module, in the order in which they are named to the user. Each is imported when it is used."""


def format_of(name: str) -> Format:
    """Return the format that a file's name asks for by its extension; raises UsageError where there is none."""
    return load(name, FORMATS, "reports are written as {formats}; name the file with one of these extensions.")
