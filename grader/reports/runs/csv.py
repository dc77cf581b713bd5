"""A document's records as CSV, for spreadsheets and data frames: unrounded values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.reports.csv import table

if TYPE_CHECKING:
    from grader.reports.runs.document import Document


def make(document: Document) -> bytes:
    """Return the file."""
    return table(document.records())
