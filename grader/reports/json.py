"""JSON: the content of the results file, or the record about several runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from grader.results.file import encode_report

if TYPE_CHECKING:
    from grader.reports.document import Document
    from grader.results import Report


def make(report: Report, *_: object, **__: object) -> bytes:
    """Return the file; see `grader.reports.interface.Format`. It needs only the report."""
    return encode_report(report)


def of_runs(document: Document) -> bytes:
    """Return the record itself."""
    return msgspec.json.format(msgspec.json.encode(document.data()), indent=1) + b"\n"
