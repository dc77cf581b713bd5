"""A comparison of two runs as a file or on a terminal: one module a format. The file's extension is the format.

To add one, write a module here with a function `make`, and name it in `FORMATS`. The HTML page of two or more runs is
`grader.reports.html`'s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.reports.formats import load

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.decisions.comparison import Comparison

FORMATS = {
    ".json": "grader.reports.comparison.json",
    ".md": "grader.reports.comparison.markdown",
    ".csv": "grader.reports.comparison.csv",
}
"""Extension -> module, in the order in which they are named to the user. Each is imported when it is used."""


def format_of(name: str) -> Callable[[Comparison], bytes]:
    """Return what makes the file of this name (`-`: JSON); raises UsageError."""
    return load(name, FORMATS, "a comparison is written as {formats}, or `-` for standard output.")
