"""Report formats, one module per format. The extension of the file's name selects the format.

To add a format, write a module here with a function `make` (see `interface.py`), and add it to `FORMATS`.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from grader.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from grader.reports.interface import Format

FORMATS = {
    ".json": "grader.reports.json",
    ".csv": "grader.reports.csv",
    ".md": "grader.reports.markdown",
    ".xml": "grader.reports.junit",
    ".html": "grader.reports.html",
    "decision.html": "grader.reports.decision",
}
"""Extension, or end of the name -> module, in the order of messages. A module is imported when it is used."""


def format_of(name: str) -> Format:
    """Return the format for a file's name. Raises UsageError for an unknown extension."""
    return load(name, FORMATS, "reports are")


def load(name: str, formats: Mapping[str, str], what: str) -> Callable[..., Any]:
    """Return the function `make` of the module that writes a file of this name; the name `-` means JSON.

    `formats`: extension -> module, imported only when it is used. Raises UsageError that begins with `what`.
    """
    ends = [end for end in formats if end[0] != "." and name.lower().endswith(end)]
    extension = ends[0] if ends else ".json" if name == "-" else PurePath(name).suffix.lower()
    if extension not in formats:
        raise UsageError(
            f"-o {name}: {what} written as {', '.join(formats)}; name the file with one of these extensions."
        )
    make: Callable[..., Any] = import_module(formats[extension]).make
    return make
