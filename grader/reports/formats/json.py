"""JSON: the whole record that a document is about, such as the content of a results file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from grader.reports.document import Document


def make(document: Document) -> bytes:
    """Return the record itself."""
    return msgspec.json.format(msgspec.json.encode(document.data()), indent=1) + b"\n"
