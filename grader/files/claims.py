"""Claims on output files: while one run is going to write a file, a second run that would write it is refused.

A claim is a locked file beside the output file. The system releases the lock when the process ends in any way, so the
lock file of a killed grader blocks nothing. The lock file names its holder, for the error message.
"""

from __future__ import annotations

import os
import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

import msgspec

from grader.errors import UsageError
from grader.files.given import real

if TYPE_CHECKING:
    from filelock import BaseFileLock

_WAIT_SECONDS = 0.2
"""A holder that is ending removes its lock file: the second look finds a new one."""


class Holder(msgspec.Struct, frozen=True, kw_only=True):
    """The process that holds a claim."""

    pid: int
    host: str
    since: str
    """Local time, `2026-11-21 22:54:24`."""


class Claims:
    """The files that this process claims, until the `with` block ends."""

    def __init__(self) -> None:
        self._held: dict[Path, BaseFileLock] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give up all claims."""
        for lock in self._held.values():
            with suppress(OSError):  # Windows removes no open file: its lock file stays, and holds nothing
                Path(lock.lock_file).unlink()
            lock.release()
        self._held.clear()

    def take(self, path: Path) -> None:
        """Claim a file. Raises UsageError, with the holder, if another process has claimed it.

        If no lock file can be created or locked, nothing is claimed: writing the output file will report the error.
        """
        from filelock import FileLock, Timeout

        place = real(path)
        if place in self._held:
            return
        lock = FileLock(place.with_name(f".{place.name}.lock"), thread_local=False, on_acquired=_sign)
        try:
            lock.acquire(timeout=_WAIT_SECONDS, poll_interval=_WAIT_SECONDS / 4)
        except Timeout:
            raise UsageError(_refusal(path, _holder(Path(lock.lock_file)))) from None
        except OSError:
            return
        self._held[place] = lock


def _sign(handle: int) -> None:
    """Write into a lock file who holds it."""
    me = Holder(pid=os.getpid(), host=socket.gethostname(), since=time.strftime("%Y-%m-%d %H:%M:%S"))
    with suppress(OSError):  # a full disk: writing the output file will report it
        os.ftruncate(handle, 0)
        os.write(handle, msgspec.json.encode(me))


def _holder(lock: Path) -> Holder | None:
    try:
        return msgspec.json.decode(lock.read_bytes() if lock.is_file() else b"", type=Holder)
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
