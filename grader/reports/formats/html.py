"""HTML pages: self-contained files that make no network requests and never execute a model output.

The sections are complete without a script. The data of items are base64, and a script shows them as text nodes only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.results import READINGS

if TYPE_CHECKING:
    from grader.reports.document import Document

MOST_ROWS = 200
"""Rows of a list of items; the JSON has all."""


def make(document: Document) -> bytes:
    """Return the page of a document."""
    from grader.reports.web import drawing, page

    items = document.items() if document.items is not None else None
    return page.render(
        styles=items.styles if items else ("style",),
        scripts=items.scripts if items else ("core", "theme", "static"),
        document=document,
        items=items,
        sections=[drawing.section(*each) for each in document.on("page")],
        readings=READINGS,
        most=MOST_ROWS,
        size=(drawing.WIDE, drawing.HIGH),
    )
