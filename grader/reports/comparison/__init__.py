"""Formats of a comparison of two runs, one module per format. The file's extension selects the format.

To add a format, write a module here with a function `make`, and add it to `FORMATS`. `grader.reports.side_by_side`
writes the HTML page of two or more runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.reports.formats import load

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.decisions.comparison import Comparison

FORMATS = {
    ".json": "grader.reports.record_json",
    ".md": "grader.reports.comparison.markdown",
    ".csv": "grader.reports.comparison.csv",
}
"""Extension -> module, in the order of messages to the user. A module is imported when it is used."""


def format_of(name: str) -> Callable[[Comparison], bytes]:
    """Return the function that writes a file of this name (`-`: JSON). Raises UsageError."""
    return load(name, FORMATS, "a comparison is written as {formats}, or `-` for standard output.")
