"""Formats: one module each, with a function `make` from a `Document` to the bytes of a file.

The extension of a file's name selects the format. To add a format, write a module and add it to `FORMATS`.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING

from grader.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.reports.document import Document

    Format = Callable[[Document], bytes]

FORMATS = {
    ".json": "json",
    ".csv": "csv",
    ".md": "markdown",
    ".xml": "junit",
    ".html": "html",
}
"""Extension -> module in this folder, in the order of messages. A module is imported when it is used."""


def format_of(name: str) -> Format:
    """Return the format of a file's name; the name `-` means JSON. Raises UsageError for an unknown extension."""
    extension = ".json" if name == "-" else PurePath(name.lower()).suffix
    if extension not in FORMATS:
        raise UsageError(
            f"-o {name}: reports are written as {', '.join(FORMATS)}; name the file with one of these extensions."
        )
    make: Format = import_module(f"{__name__}.{FORMATS[extension]}").make
    return make
