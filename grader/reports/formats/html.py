"""HTML pages: self-contained files that make no network requests and never execute a model output.

The sections are complete without a script. The data of items are base64, and a script shows them as text nodes only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.results import READINGS

if TYPE_CHECKING:
    from grader.reports.document import Document

MISSING = {"predictions": "Raw outputs", "questions": "Questions", "images": "Images", "programs": "Programs"}
MOST_ROWS = 200
"""Rows of a list of items; the JSON has all."""


def make(document: Document) -> bytes:
    """Return the page of a document."""
    from grader.reports.web import drawing, page

    return page.render(
        document=document,
        items=document.items() if document.items is not None else None,
        sections=[drawing.section_values(section, parts) for section, parts in document.for_medium("page")],
        readings=READINGS,
        most=MOST_ROWS,
        missing=MISSING,
        size=(drawing.WIDTH, drawing.HEIGHT),
    )
