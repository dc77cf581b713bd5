"""Download of a benchmark's data from the addresses in its declaration, with checksums, to the cache folder."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from grader import resources
from grader.data.download import Source, download
from grader.errors import DataUnavailableError

if TYPE_CHECKING:
    from pathlib import Path

    from grader.benchmark import Benchmark, Split
    from grader.observer import Observer


def kept(benchmark: Benchmark, split: str) -> Path | None:
    """Return the fetched file of a split, or the folder of its files; None if it is incomplete."""
    place = benchmark.splits[split]
    files = _sources(place)
    if not files:
        return None
    path = _place(place, split)
    complete = path.is_file() if place.url else all((path / name).is_file() for name in files)
    return path if complete else None


def fetch(benchmark: Benchmark, split: str, observer: Observer) -> Path:
    """Download a split's files. Raises DataUnavailableError.

    Existing files are not fetched again; an interrupted download continues.
    """
    place = benchmark.splits[split]
    files = _sources(place)
    if not files:
        raise DataUnavailableError(f"{benchmark.id} ({split}) declares no download address. Give a copy with --data.")
    path = _place(place, split)
    for name, source in files.items():
        download(source, path if place.url else path / name, observer)
    return path


def has_address(place: Split) -> bool:
    """Return whether a split's files have download addresses (not counting the hub)."""
    return bool(place.url or place.files)


def _sources(place: Split) -> dict[str, Source]:
    """Return the files of a split by name."""
    if place.url:
        return {place.url.rpartition("/")[2]: Source(url=place.url, md5=place.md5)}
    return {name: Source(url=place.files_url + name, blob=blob) for name, blob in place.files.items()}


def _place(place: Split, split: str) -> Path:
    # The name depends on addresses and checksums: after a change of either, the data is fetched again.
    parts = [place.url, place.md5] if place.url else [place.files_url, *sorted(place.files.values())]
    mark = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]
    name = place.url.rpartition("/")[2] if place.url else ""
    return resources.cache_folder() / "data" / f"{mark}-{name or split}"
