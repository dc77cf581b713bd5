"""`<stem>_requests.jsonl`: each reply is on disk before the next request is sent; only one run writes at a time."""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
from typing import TYPE_CHECKING, Self

import msgspec

from grader.errors import InfrastructureError, InputError, UsageError
from grader.inference.record import Kept, Record, encode, kept
from grader.models.replies import Usage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from grader.inference.plan import Key


class Log:
    """An append-only file of records, locked against a second run. `append` may be called from many threads.

    An incomplete line of a killed run is removed: it was never used.
    """

    def __init__(self, path: Path, *, fresh: bool = False) -> None:
        self.path = path
        self.set_aside: Path | None = None
        """The new path of the earlier file, with `fresh`."""
        self._waiting: list[bytes] = []
        self._tickets = self._synced = 0
        self._lock, self._io = threading.Lock(), threading.Lock()
        self._broken: OSError | None = None
        self._old: int | None = None
        self.usage = Usage()
        """Tokens of all requests, including earlier runs."""
        self._file: int | None = self._open(fresh=fresh)
        self.replies: dict[Key, Kept] = {}
        self.failures: dict[Key, Kept] = {}
        """Requests that failed and have no reply since then."""
        try:
            self._read()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def append(self, record: Record) -> None:
        """Write a record; return when it is on disk. Raises OSError. Nothing is written after `close`."""
        line = encode(record)
        with self._lock:
            self._waiting.append(line)
            self._tickets += 1
            ticket = self._tickets
        with self._io:
            # The first thread writes the records of all waiting threads.
            if self._synced < ticket and self._file is not None:
                self._write(self._file)
            if self._broken is not None:
                raise self._broken
            if self._file is not None:
                self._remember(kept(record))

    def close(self) -> None:
        """Close the file and release the lock."""
        with self._io:
            for file in (self._file, self._old):
                if file is not None:
                    os.close(file)
            self._file = self._old = None

    def _remember(self, record: Kept) -> None:
        self.usage += record.usage
        if record.content is None:
            self.failures[record.key] = record
        else:
            self.replies.setdefault(record.key, record)
            self.failures.pop(record.key, None)

    def _write(self, file: int) -> None:
        with self._lock:
            data, upto = b"".join(self._waiting), self._tickets
            self._waiting = []
        if self._broken is not None:
            return
        begin = os.lseek(file, 0, os.SEEK_END)
        try:
            left = memoryview(data)
            while left:
                left = left[os.write(file, left) :]
            os.fsync(file)
        except OSError as error:
            self._broken = error
            with contextlib.suppress(OSError):
                os.ftruncate(file, begin)
            return
        self._synced = upto

    def _open(self, *, fresh: bool) -> int:
        file = self._locked()
        if not fresh or os.fstat(file).st_size == 0:
            return file
        # The lock on the old file is kept too: a run that has just opened it must not use it.
        self._old = file
        self.set_aside = free_name(self.path)
        self.path.rename(self.set_aside)
        return self._locked()

    def _locked(self) -> int:
        try:
            file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        except OSError as error:
            raise UsageError(f"-o: {self.path} cannot be written: {error.strerror}.") from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            moved = os.fstat(file).st_ino != self.path.stat().st_ino
        except BlockingIOError:
            moved = True
        except OSError as error:
            os.close(file)
            raise InfrastructureError(
                f"{self.path} cannot be locked ({error.strerror}); write to a folder of a local disk with -o."
            ) from error
        if moved:
            os.close(file)
            raise UsageError(
                f"Another run is writing {self.path}. Wait until it has ended, or give this run another -o."
            )
        return file

    def _read(self) -> None:
        """Read the records of earlier runs."""
        assert self._file is not None
        data = self.path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            os.ftruncate(self._file, whole)
        for record in _decoded(data[:whole], self.path):
            self._remember(record)


def peek(path: Path) -> dict[Key, Kept]:
    """Return the replies in a log, without locking or changing it; empty if it does not exist."""
    if not path.is_file():
        return {}
    data = path.read_bytes()
    replies: dict[Key, Kept] = {}
    for record in _decoded(data[: data.rfind(b"\n") + 1], path):
        if record.content is not None:
            replies.setdefault(record.key, record)
    return replies


def _decoded(data: bytes, path: Path) -> Iterator[Kept]:
    decoder = msgspec.json.Decoder(Kept)
    for number, line in enumerate(data.splitlines(), 1):
        try:
            yield decoder.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise InputError(
                [f"{path}:{number}: not a record of `grade infer` ({error}); fix it, or use --fresh"]
            ) from error


def free_name(path: Path) -> Path:
    """Return an unused name beside `path`: `<stem>_old-1<suffix>`, ..."""
    for number in range(1, 10_000):
        name = path.with_name(f"{path.stem}_old-{number}{path.suffix}")
        if not name.exists():
            return name
    raise UsageError(f"{path.parent}: there are too many old files; remove some of {path.stem}_old-*.")
