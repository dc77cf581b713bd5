"""Claims on output files: while one run is going to write a file, a second run that would write it is refused.

A claim is a lock file beside the output file, held with `flock`. The kernel releases the lock when the process ends in
any way, so the lock file of a killed grader blocks nothing. The lock file names its holder, for the error message.
"""

from __future__ import annotations

import fcntl
import os
import socket
import time
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Self

import msgspec

from grader.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType


class Holder(msgspec.Struct, frozen=True, kw_only=True):
    """The process that holds a claim."""

    pid: int
    host: str
    since: str
    """Local time, `2026-11-21 22:54:24`."""


class Claims:
    """The files that this process claims, until the `with` block ends."""

    def __init__(self) -> None:
        self._held = ExitStack()
        self._paths: set[Path] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._held.close()

    def take(self, path: Path) -> None:
        """Claim a file. Raises UsageError, with the holder, if another process has claimed it.

        If no lock file can be created, nothing is claimed: writing the output file will report the error.
        """
        place = path.resolve()
        if place in self._paths:
            return
        lock = place.with_name(f".{place.name}.lock")
        while True:
            try:
                handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            except OSError:
                return
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                holder = _holder(handle)
                os.close(handle)
                raise UsageError(_refusal(path, holder)) from None
            except OSError:  # a file system without locks
                os.close(handle)
                return
            if _is_still(handle, lock):
                break
            os.close(handle)  # the holder ended and removed the file after it was opened here, before it was locked
        self._paths.add(place)
        self._held.callback(_release, handle, lock)
        me = Holder(pid=os.getpid(), host=socket.gethostname(), since=time.strftime("%Y-%m-%d %H:%M:%S"))
        os.ftruncate(handle, 0)
        os.pwrite(handle, msgspec.json.encode(me), 0)


def _is_still(handle: int, lock: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), lock.stat())
    except OSError:
        return False


def _release(handle: int, lock: Path) -> None:
    with suppress(OSError):
        lock.unlink()
    os.close(handle)


def _holder(handle: int) -> Holder | None:
    try:
        return msgspec.json.decode(os.pread(handle, 4096, 0), type=Holder)
    except (OSError, msgspec.DecodeError):
        return None


def _refusal(path: Path, holder: Holder | None) -> str:
    here = holder is not None and holder.host == socket.gethostname()
    who = (
        f"process {holder.pid}{'' if here else f' on {holder.host}'}, since {holder.since}"
        if holder
        else "another process"
    )
    return (
        f"Another run of grade is writing {path.name} now ({who}). Wait until it has ended, "
        "or choose another folder for this run with --output-dir."
    )
