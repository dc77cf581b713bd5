"""Claims on output files: while one run is going to write a file, a second run that would write it is refused.

A claim is a locked file beside the output file. The system releases the lock when the process ends in any way, so the
lock file of a killed grader blocks nothing. The lock file names its holder, for the error message.
"""

from __future__ import annotations

import errno
import os
import socket
import time
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Self

import msgspec

from grader.errors import UsageError
from grader.files.given import real

if TYPE_CHECKING:
    from pathlib import Path


def take_lock(handle: int, *, blocking: bool = False) -> bool:
    """Lock an open file; return False if another process holds the lock. Raises OSError if the disk has no locks.

    A system that has no locks at all gives none: then two runs on one file do not notice each other.
    """
    from filelock import lock_descriptor

    try:
        return lock_descriptor(handle, blocking=blocking)
    except OSError as error:
        if error.errno != errno.ENOSYS:
            raise
        return True


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

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give up all claims."""
        self._held.close()
        self._paths.clear()

    def take(self, path: Path) -> None:
        """Claim a file. Raises UsageError, with the holder, if another process has claimed it.

        If no lock file can be created, nothing is claimed: writing the output file will report the error.
        """
        place = real(path)
        if place in self._paths:
            return
        lock = place.with_name(f".{place.name}.lock")
        while True:
            try:
                # A link that somebody else put there could name any file of this user.
                handle = os.open(lock, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
            except OSError:
                return
            try:
                is_mine = take_lock(handle)
            except OSError:  # a file system without locks
                os.close(handle)
                return
            if not is_mine:
                holder = _holder(handle)
                os.close(handle)
                raise UsageError(_refusal(path, holder))
            if _is_still(handle, lock):
                break
            os.close(handle)  # the holder ended and removed the file after it was opened here, before it was locked
        self._paths.add(place)
        self._held.callback(_release, handle, lock)
        me = Holder(pid=os.getpid(), host=socket.gethostname(), since=time.strftime("%Y-%m-%d %H:%M:%S"))
        with suppress(OSError):  # a full disk: writing the output file will report it
            os.ftruncate(handle, 0)
            os.write(handle, msgspec.json.encode(me))


def _is_still(handle: int, lock: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), lock.stat())
    except OSError:
        return False


def _release(handle: int, lock: Path) -> None:
    with suppress(OSError):  # Windows removes no open file: its lock file stays, and holds nothing
        lock.unlink()
    os.close(handle)


def _holder(handle: int) -> Holder | None:
    try:
        return msgspec.json.decode(os.read(handle, 4096), type=Holder)
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
