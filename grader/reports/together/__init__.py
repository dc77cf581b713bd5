"""One report of several files that were graded by one command; one file a format, as in `grader.reports`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from grader.reports.formats import load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.decisions.gate import GateResult
    from grader.results import ReadingName, Report

FORMATS = {
    ".json": "grader.reports.together.json",
    ".csv": "grader.reports.together.csv",
    ".md": "grader.reports.together.markdown",
    ".xml": "grader.reports.together.junit",
}
"""Extension -> module."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedFile:
    """One of several files, and what became of it."""

    file: str
    """As the command names it."""
    report: Report | None = None
    """None: nothing could be graded, for the reason `problem`."""
    gates: Sequence[GateResult] = ()
    problem: str = ""
    exit_code: int = 0
    """What the command would have ended with for this file alone."""


class Format(Protocol):
    """Makes a file of several reports."""

    def __call__(self, files: Sequence[GradedFile], /, *, reading: ReadingName) -> bytes:
        """Return the file's bytes. `reading` decides where a format has one verdict an item (JUnit)."""


def format_of(name: str) -> Format:
    """Return the format that a file's name asks for by its extension; raises UsageError where there is none."""
    more = "; `grade report RESULTS -o FILE.html` makes a page of each" if name.lower().endswith(".html") else ""
    return load(name, FORMATS, "the report of several files is written as {formats}" + more + ".")
