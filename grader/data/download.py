"""Download of the data that a benchmark declares: continues, tries again, checks checksums, keeps it in the cache."""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from typing import IO, TYPE_CHECKING

import msgspec

from grader import resources
from grader.errors import DataUnavailableError, UsageError
from grader.files.claims import Claims

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import requests

    from grader.benchmark import Answers, Benchmark, Split
    from grader.observer import Observer

ATTEMPTS = 5
_CHUNK = 1 << 16
"""Bytes written at a time; at most this much is lost when a connection breaks."""
_CONNECT_SECONDS, _READ_SECONDS = 5.0, 60.0
_OTHERWISE = "Without a network, give `grade` a copy with --data FILE."


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """The address and the checksum of a file."""

    url: str
    md5: str = ""
    blob: str = ""
    """Id of the file in a git repository: SHA-1 of its length and bytes."""

    @property
    def checksum(self) -> str:
        """The declared checksum, or an empty string."""
        return self.md5 or self.blob


def download(source: Source, path: Path, observer: Observer, *, pause: Callable[[float], None] = time.sleep) -> Path:
    """Download to `path`. Raises DataUnavailableError. After a failure, the received part is kept for the next try."""
    if path.is_file():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.partial")
    with _lock(path):
        if path.is_file():
            return path
        with partial.open("ab") as file:
            if not source.checksum:
                # Without a checksum, it is impossible to know whether what is missing fits what is there.
                file.truncate(0)
            _resume_download(source.url, file, observer, path.name, pause)
        problem = _file_problem(source, partial)
        if problem:
            partial.unlink()
            raise DataUnavailableError(problem)
        partial.replace(path)
    return path


@contextlib.contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Claim a file, so that two downloads cannot write to it at once."""
    with Claims() as claims:
        try:
            claims.take(path)
        except UsageError:
            raise DataUnavailableError(
                f"{path.name} is being fetched by another process; wait until it has ended."
            ) from None
        yield


def _resume_download(url: str, file: IO[bytes], observer: Observer, name: str, pause: Callable[[float], None]) -> None:
    """Append the missing part; after a temporary failure, continue at the end of the received part."""
    import requests

    for attempt in range(1, ATTEMPTS + 1):
        try:
            _append(url, file, observer, name)
        except requests.HTTPError as error:
            status = error.response.status_code if error.response is not None else 0
            if status < 500 or attempt == ATTEMPTS:
                raise DataUnavailableError(f"{url} could not be fetched (HTTP {status}). {_OTHERWISE}") from error
            reason = f"HTTP {status}"
        except (requests.RequestException, OSError) as error:
            reason = type(error).__name__
            received = file.tell()
            # No server answers: trying again within seconds does not help.
            if attempt == ATTEMPTS or (isinstance(error, requests.ConnectionError) and not received):
                advice = f" {received >> 20} MB are kept: the same command continues from there." if received else ""
                raise DataUnavailableError(f"{url} could not be fetched ({reason}).{advice} {_OTHERWISE}") from error
        else:
            return
        observer.message(f"{url}: {reason}; trying again")
        pause(2.0 ** (attempt - 1))


def _append(url: str, file: IO[bytes], observer: Observer, name: str) -> None:
    """Append what the server still has of a file; it may send only the rest, or all again."""
    import requests

    begin = file.seek(0, os.SEEK_END)
    headers = {"Range": f"bytes={begin}-"} if begin else {}
    with requests.get(url, stream=True, timeout=(_CONNECT_SECONDS, _READ_SECONDS), headers=headers) as response:
        if begin and response.status_code == 416:
            return  # nothing is missing; the checksum decides
        response.raise_for_status()
        if response.status_code != 206 and begin:
            # The server sends the file from its beginning.
            file.truncate(0)
            begin = 0
        _write(response, file, observer, name, begin)


def _write(response: requests.Response, file: IO[bytes], observer: Observer, name: str, begin: int) -> None:
    """Write a response to a file, and show the progress; raises ConnectionError if it was cut off."""
    import requests

    length = int(response.headers.get("Content-Length") or 0)
    observer.phase(f"fetching {name} (MB)", (begin + length) >> 20 or None)
    observer.advance(begin >> 20)
    position = begin
    for chunk in response.iter_content(_CHUNK):
        file.write(chunk)
        file.flush()
        observer.advance(((position + len(chunk)) >> 20) - (position >> 20))
        position += len(chunk)
    if length and position < begin + length:
        raise requests.ConnectionError("the file was cut off")


def _file_problem(source: Source, partial: Path) -> str:
    """Return the problem with a downloaded file, or an empty string."""
    if not source.checksum:
        return ""
    kind, algorithm = ("MD5", "md5") if source.md5 else ("git id", "sha1")
    digest = hashlib.new(algorithm, usedforsecurity=False)
    if kind == "git id":
        digest.update(f"blob {partial.stat().st_size}\0".encode())
    with partial.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    if digest.hexdigest() == source.checksum:
        return ""
    return (
        f"{source.url} gave a file with {kind} {digest.hexdigest()}, not the declared {source.checksum}: it was "
        "changed or cut off. Nothing was kept."
    )


def fetched_path(benchmark: Benchmark, split: str) -> Path | None:
    """Return the fetched file of a split, or the folder of its files; None if it is incomplete."""
    declared = benchmark.splits[split]
    files = _sources(declared)
    if not files:
        return None
    path = _target_path(declared, split)
    complete = path.is_file() if declared.url else all((path / name).is_file() for name in files)
    return path if complete else None


def fetch(benchmark: Benchmark, split: str, observer: Observer) -> Path:
    """Download a split's files. Raises DataUnavailableError.

    Existing files are not fetched again; an interrupted download continues.
    """
    declared = benchmark.splits[split]
    files = _sources(declared)
    if not files:
        if declared.data:
            raise DataUnavailableError(
                f"{benchmark.id} ({split}) has nothing to download: its data is {declared.data} beside the "
                "benchmark.toml."
            )
        raise DataUnavailableError(
            f"{benchmark.id} ({split}) has no download address. Its page says where the data is; give `grade` a copy "
            "with --data FILE."
        )
    path = _target_path(declared, split)
    for name, source in files.items():
        download(source, path if declared.url else path / name, observer)
    if declared.answers is not None and declared.answers.url:
        source = Source(url=declared.answers.url, md5=declared.answers.md5)
        download(source, place_of_answers(declared.answers), observer)
    return path


def place_of_answers(answers: Answers) -> Path:
    """Return where a split's fetched file of answers is."""
    return _cache_path(answers.url, answers.md5)


def has_address(declared: Split) -> bool:
    """Return whether a split's files have download addresses (not counting the hub)."""
    return bool(declared.url or declared.files)


def _sources(declared: Split) -> dict[str, Source]:
    """Return the files of a split by name."""
    if declared.url:
        return {declared.url.rpartition("/")[2]: Source(url=declared.url, md5=declared.md5)}
    return {name: Source(url=declared.files_url + name, blob=blob) for name, blob in declared.files.items()}


def _target_path(declared: Split, split: str) -> Path:
    """Return where a split's fetched file is, or the folder of its files."""
    # The name depends on addresses and checksums: after a change of either, the data is fetched again.
    if declared.url:
        return _cache_path(declared.url, declared.md5)
    return _cache_path(declared.files_url, *sorted(declared.files.values()), name=split)


def _cache_path(url: str, *checksums: str, name: str = "") -> Path:
    digest = hashlib.sha256("\0".join([url, *checksums]).encode()).hexdigest()[:12]
    return resources.cache_folder() / "data" / f"{digest}-{name or url.rpartition('/')[2]}"
