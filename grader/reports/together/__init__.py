"""One report of several files that one command graded; one module per format, as in `grader.reports`."""

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
    """One of several files, with its report, its gates and its exit code."""

    file: str
    """The file's name, as given on the command line."""
    report: Report | None = None
    """None: the file could not be graded; `problem` has the reason."""
    gates: Sequence[GateResult] = ()
    problem: str = ""
    exit_code: int = 0
    """The exit code that the command would have for this file alone."""


class Format(Protocol):
    """A function that turns several reports into the bytes of one file."""

    def __call__(self, files: Sequence[GradedFile], /, *, reading: ReadingName) -> bytes:
        """Return the file's bytes. A format with one verdict per item (JUnit) uses the given `reading`."""


def format_of(name: str) -> Format:
    """Return the format for a file's name. Raises UsageError for an unknown extension."""
    side_by_side = (
        "; `grade report A_results.json B_results.json -o FILE.html` writes a page that shows them side by side"
    )
    more = side_by_side if name.lower().endswith(".html") else ""
    return load(name, FORMATS, "the report of several files is written as {formats}" + more + ".")
