"""The record itself as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from grader.reports.runs.document import Document


def make(document: Document) -> bytes:
    """Return the file."""
    encoded = msgspec.json.encode(document.data())
    # Whole reports of files are for programs.
    return (encoded if document.files else msgspec.json.format(encoded, indent=1)) + b"\n"
