"""Values as a page carries them: packed, numbered, finite."""

from __future__ import annotations

import base64
import json
import zlib
from typing import TYPE_CHECKING

import msgspec

from grader.errors import InputError
from grader.reports.web import images

if TYPE_CHECKING:
    from grader.reports.material import Material

CHUNK = 96_000
"""Characters of JSON from which a chunk is full: small ones compress badly, large ones take long to open."""
AIM = 18_000_000
"""Bytes that a report should not exceed: it is mailed, attached to a build, opened on a laptop."""


class Payload(msgspec.Struct, frozen=True, kw_only=True):
    """What the page carries."""

    index: str
    """Packed: everything but the texts of items."""
    chunks: list[str]
    """Packed: items with questions, outputs and programs."""
    images: list[str]
    """Data URLs."""


def pack(value: object) -> str:
    """Return a value as base64 of deflated JSON: no character of it can mean anything to a parser of HTML."""
    data = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False, default=str).encode()
    return base64.b64encode(zlib.compress(data, 7)).decode()


class Numbers:
    """Values by number, so that a column of the index is a list of small integers."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def __call__(self, value: object) -> int:
        """Return the number of a value; -1 for None."""
        return -1 if value is None else self.numbers.setdefault(str(value), len(self.numbers))

    @property
    def values(self) -> list[str]:
        """All values, in the order of their numbers."""
        return list(self.numbers)


def finite(value: object) -> object:
    """Return JSON-ready facts: a NaN, which JSON has no word for, becomes null."""
    if isinstance(value, float) and value - value != 0:
        return None
    if isinstance(value, dict):
        return {str(key): finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [finite(part) for part in value]
    return value


def thumbnails_of(material: Material, budget: int) -> list[images.Thumbnail | None]:
    """Return the images made small; raises InputError naming the tasks of one that is too large to be opened."""
    try:
        return images.thumbnails(material.images, budget)
    except images.TooLargeError as error:
        tasks = ", ".join(qid for qid, key in material.image_of.items() if key == error.key)
        why = str(error).rstrip(".")
        raise InputError(
            [
                f"The image of task {tasks} is too large to be opened, as a decompression bomb is: {why}. "
                "The results are written. Check the image in the data, then write the report with `grade report`."
            ]
        ) from error
