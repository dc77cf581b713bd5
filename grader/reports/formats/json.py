"""JSON: the whole record that a document is about, such as the content of a results file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.files.compact_json import encode_indented

if TYPE_CHECKING:
    from grader.reports.document import Document


def make(document: Document) -> bytes:
    """Return the record itself."""
    return encode_indented(document.data())
