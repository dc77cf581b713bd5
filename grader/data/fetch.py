"""Getting a benchmark's data once: from the address its declaration names, checked by MD5, kept in the cache folder."""

from __future__ import annotations

import contextlib
import hashlib
from typing import TYPE_CHECKING

from grader import resources
from grader.errors import DataUnavailableError

if TYPE_CHECKING:
    from pathlib import Path

    from grader.benchmark import Benchmark
    from grader.observer import Observer

_CHUNK = 1 << 20


def kept(benchmark: Benchmark, split: str) -> Path | None:
    """Return the fetched file of a split, None where it was not fetched (or where it has no address)."""
    place = benchmark.splits[split]
    if not place.url:
        return None
    path = _path(benchmark, split)
    return path if path.is_file() else None


def fetch(benchmark: Benchmark, split: str, observer: Observer) -> Path:
    """Download a split's file; raises DataUnavailableError. A file that is there already is not fetched again."""
    place = benchmark.splits[split]
    if not place.url:
        hub = f" It is on the hub ({place.hub}) and is loaded when it is graded." if place.hub else ""
        raise DataUnavailableError(
            f"{benchmark.id} ({split}) has no address to fetch from.{hub} Give a copy with --data."
        )
    path = _path(benchmark, split)
    if path.is_file():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.partial")
    try:
        digest = _download(place.url, partial, observer, path.name)
        if place.md5 and digest != place.md5:
            raise DataUnavailableError(
                f"{place.url} gave a file with MD5 {digest}, not the declared {place.md5}: it was changed or cut off. "
                "Nothing was kept."
            )
        partial.replace(path)
    finally:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
    return path


def _path(benchmark: Benchmark, split: str) -> Path:
    place = benchmark.splits[split]
    # Named by its address and sum: a declaration that changes either fetches anew.
    mark = hashlib.sha256(f"{place.url}\0{place.md5}".encode()).hexdigest()[:12]
    name = place.url.rpartition("/")[2] or split
    return resources.cache_folder() / "data" / f"{mark}-{name}"


def _download(url: str, target: Path, observer: Observer, name: str) -> str:
    """Write what `url` gives to `target`; return its MD5."""
    import requests

    digest = hashlib.md5(usedforsecurity=False)
    try:
        with requests.get(url, stream=True, timeout=60) as response, target.open("wb") as file:
            response.raise_for_status()
            length = int(response.headers.get("Content-Length") or 0)
            observer.phase(f"fetching {name} (MB)", length >> 20 or None)
            done = 0
            for chunk in response.iter_content(_CHUNK):
                file.write(chunk)
                digest.update(chunk)
                observer.advance(((done + len(chunk)) >> 20) - (done >> 20))
                done += len(chunk)
            if length and done < length:
                raise DataUnavailableError(f"{url} broke off after {done} of {length} bytes. Nothing was kept.")
    except (requests.RequestException, OSError) as error:
        raise DataUnavailableError(
            f"{url} could not be fetched ({type(error).__name__}). Without a network, give a copy with --data FILE."
        ) from error
    return digest.hexdigest()
