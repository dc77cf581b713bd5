"""Packing of values for a page: compression, numbering, and finite numbers."""

from __future__ import annotations

import base64
import json
import zlib
from typing import TYPE_CHECKING

from grader.errors import InputError
from grader.reports.web import images

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.reports.material import Material

CHUNK = 96_000
"""Target size of a chunk in characters of JSON: small chunks compress badly, large ones open slowly."""
AIM = 18_000_000
"""Target size of a report in bytes: reports are mailed, attached to builds, and opened on laptops."""


def pack(value: object) -> str:
    """Return a value as base64 of deflated JSON, which has no character with a meaning in HTML."""
    data = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False, default=str).encode()
    return base64.b64encode(zlib.compress(data, 7)).decode()


def chunked(items: Iterable[tuple[object, int]]) -> tuple[list[str], list[tuple[int, int]]]:
    """Pack items, given with their sizes in characters, into chunks.

    Return the packed chunks, and for each item its chunk and its index in that chunk.
    """
    packed: list[str] = []
    where: list[tuple[int, int]] = []
    waiting: list[object] = []
    size = 0
    for item, characters in items:
        waiting.append(item)
        where.append((len(packed), len(waiting) - 1))
        size += characters + 1_000
        if size >= CHUNK:
            packed.append(pack(waiting))
            waiting, size = [], 0
    if waiting:
        packed.append(pack(waiting))
    return packed, where


class Numbers:
    """Numbering of values, so that a column of the index is a list of small integers."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def __call__(self, value: object) -> int:
        """Return the number of a value; -1 for None."""
        return -1 if value is None else self.numbers.setdefault(str(value), len(self.numbers))

    @property
    def values(self) -> list[str]:
        """All values, ordered by number."""
        return list(self.numbers)


def finite(value: object) -> object:
    """Return facts for JSON: NaN and infinity, which JSON does not have, become null."""
    if isinstance(value, float) and value - value != 0:
        return None
    if isinstance(value, dict):
        return {str(key): finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [finite(part) for part in value]
    return value


def thumbnails_of(material: Material, budget: int) -> list[images.Thumbnail | None]:
    """Return thumbnails of the images. Raises InputError with the tasks of an image that is too large to open."""
    try:
        return images.thumbnails(material.images, budget)
    except images.TooLargeError as error:
        tasks = ", ".join(qid for qid, key in material.image_of.items() if key == error.key)
        why = str(error).rstrip(".")
        raise InputError(
            [
                f"The image of task {tasks} is too large to open, and may be a decompression bomb: {why}. "
                "The results file is written. Check the image in the data, then write the report with `grade report`."
            ]
        ) from error
