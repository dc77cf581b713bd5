"""Describe a run of a part of a benchmark, so that its files never replace those of another run."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from grader.results import Part

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable


def part_of(chosen: Collection[str], known: Collection[str]) -> Part | None:
    """Return the chosen part of the known ids; None if all were chosen."""
    if len(chosen) >= len(known):
        return None
    return Part(n=len(chosen), of=len(known), ids_hash=ids_hash(chosen))


def ids_hash(ids: Iterable[str]) -> str:
    """Return a hash of ids that does not depend on their order."""
    return hashlib.sha256("\n".join(sorted(ids)).encode(errors="surrogatepass")).hexdigest()[:12]


def in_words(part: Part) -> str:
    """Return the size of a part in words."""
    return f"{part.n} of {part.of} ids"
