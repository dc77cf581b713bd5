"""Formats of what is said about several runs: a comparison, a history, a leaderboard, or several graded files.

`document.py` has the tables that all formats show. To add a format, write a module here with a function
`make(document) -> bytes`, and add it to `FORMATS`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.reports import load

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.reports.runs.document import Document

FORMATS = {
    ".json": "grader.reports.runs.json",
    ".csv": "grader.reports.runs.csv",
    ".md": "grader.reports.runs.markdown",
    ".tex": "grader.reports.runs.latex",
    ".html": "grader.reports.runs.html",
    ".xml": "grader.reports.runs.junit",
}
"""Extension -> module, in the order of messages to the user. A module is imported when it is used."""


def format_of(name: str, what: str, *, without: tuple[str, ...] = (".xml",)) -> Callable[[Document], bytes]:
    """Return the function that writes a file of this name (`-`: JSON). Raises UsageError.

    `what` begins the message, as in "a history is"; `without` are the extensions that this document does not have.
    """
    return load(name, {known: module for known, module in FORMATS.items() if known not in without}, what)
