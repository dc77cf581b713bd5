"""Download of a file: continues after an interruption, tries again, and checks the declared checksum."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import time
from typing import IO, TYPE_CHECKING

import msgspec

from grader.errors import DataUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import requests

    from grader.observer import Observer

ATTEMPTS = 5
_CHUNK = 1 << 16
"""Bytes written at a time; at most this much is lost when a connection breaks."""
_CONNECT_SECONDS, _READ_SECONDS = 5.0, 60.0
_OTHERWISE = "Without a network, give a copy with --data FILE."


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
    with _locked(partial, path) as file:
        if path.is_file():
            return path
        if not source.checksum:
            # Without a checksum, it is impossible to know whether the rest fits the kept beginning.
            file.truncate(0)
        _all(source.url, file, observer, path.name, pause)
        problem = _problem(source, partial)
        if problem:
            partial.unlink()
            raise DataUnavailableError(problem)
        partial.replace(path)
    return path


@contextlib.contextmanager
def _locked(partial: Path, path: Path) -> Iterator[IO[bytes]]:
    """Open and lock the partial file, so that two downloads cannot write to it at once."""
    with partial.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DataUnavailableError(
                f"{path.name} is being fetched by another process; wait until it has ended."
            ) from None
        yield file


def _all(url: str, file: IO[bytes], observer: Observer, name: str, pause: Callable[[float], None]) -> None:
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
            got = file.tell()
            # No server answers: trying again within seconds does not help.
            if attempt == ATTEMPTS or (isinstance(error, requests.ConnectionError) and not got):
                kept = f" {got >> 20} MB are kept: the same command continues from there." if got else ""
                raise DataUnavailableError(f"{url} could not be fetched ({reason}).{kept} {_OTHERWISE}") from error
        else:
            return
        observer.message(f"{url}: {reason}; trying again")
        pause(2.0 ** (attempt - 1))


def _append(url: str, file: IO[bytes], observer: Observer, name: str) -> None:
    import requests

    begin = file.seek(0, 2)
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
    import requests

    length = int(response.headers.get("Content-Length") or 0)
    observer.phase(f"fetching {name} (MB)", (begin + length) >> 20 or None)
    observer.advance(begin >> 20)
    done = begin
    for chunk in response.iter_content(_CHUNK):
        file.write(chunk)
        file.flush()
        observer.advance(((done + len(chunk)) >> 20) - (done >> 20))
        done += len(chunk)
    if length and done < begin + length:
        raise requests.ConnectionError("the file was cut off")


def _problem(source: Source, partial: Path) -> str:
    """Return the problem with a downloaded file, or an empty string."""
    if not source.checksum:
        return ""
    digest = hashlib.new("md5" if source.md5 else "sha1", usedforsecurity=False)
    if source.blob:
        digest.update(f"blob {partial.stat().st_size}\0".encode())
    with partial.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    if digest.hexdigest() == source.checksum:
        return ""
    kind = "MD5" if source.md5 else "git id"
    return (
        f"{source.url} gave a file with {kind} {digest.hexdigest()}, not the declared {source.checksum}: it was "
        "changed or cut off. Nothing was kept."
    )
