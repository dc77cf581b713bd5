"""Report formats, one module per format. The extension of the file's name selects the format.

A module has a function `make` if it can show one run (see `interface.py`), and a function `of_runs` if it can show what
is said about several runs (a `Document`, see `document.py`). To add a format, write a module and add it to `FORMATS`.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from grader.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.reports.document import Document
    from grader.reports.interface import Format

FORMATS = {
    ".json": "grader.reports.json",
    ".csv": "grader.reports.csv",
    ".md": "grader.reports.markdown",
    ".xml": "grader.reports.junit",
    ".html": "grader.reports.html",
}
"""Extension -> module, in the order of messages. A module is imported when it is used."""


def format_of(name: str) -> Format:
    """Return the format of one run for a file's name. Raises UsageError for an unknown extension."""
    make: Format = _function("make", name, "reports are")
    return make


def format_of_runs(name: str, what: str) -> Callable[[Document], bytes]:
    """Return the function that writes a document to a file of this name. Raises UsageError.

    `what` begins the message, as in "a leaderboard is".
    """
    of_runs: Callable[[Document], bytes] = _function("of_runs", name, what)
    return of_runs


def _function(wanted: str, name: str, what: str) -> Any:
    """Return the function of this name in the module that writes a file; the name `-` means JSON."""
    extension = ".json" if name == "-" else PurePath(name.lower()).suffix
    if extension not in FORMATS or not _has(extension, wanted):
        known = [end for end in FORMATS if _has(end, wanted)]
        raise UsageError(
            f"-o {name}: {what} written as {', '.join(known)}; name the file with one of these extensions."
        )
    return getattr(import_module(FORMATS[extension]), wanted)


def _has(extension: str, wanted: str) -> bool:
    return hasattr(import_module(FORMATS[extension]), wanted)
