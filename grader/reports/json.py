"""The JSON report: the content of the results file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.results.file import encode_report

if TYPE_CHECKING:
    from grader.results import Report


def make(report: Report, *_: object, **__: object) -> bytes:
    """Return the file; see `grader.reports.interface.Format`. It needs only the report."""
    return encode_report(report)
