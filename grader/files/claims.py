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
from grader.files.user_files import real_path

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
        self._locks: dict[Path, BaseFileLock] = {}
        """Claimed file -> its lock."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give up all claims."""
        for lock in self._locks.values():
            with suppress(OSError):  # Windows removes no open file: its lock file stays, and holds nothing
                Path(lock.lock_file).unlink()
            lock.release()
        self._locks.clear()

    def take(self, path: Path) -> None:
        """Claim a file. Raises UsageError, with the holder, if another process has claimed it.

        If no lock file can be created or locked, nothing is claimed: writing the output file will report the error.
        """
        from filelock import FileLock, Timeout

        file = real_path(path)
        if file in self._locks:
            return
        # Another thread may give it up.
        lock = FileLock(file.with_name(f".{file.name}.lock"), thread_local=False, on_acquired=_write_holder)
        try:
            lock.acquire(timeout=_WAIT_SECONDS, poll_interval=_WAIT_SECONDS / 4)
        except Timeout:
            raise _claimed_error(path, _read_holder(Path(lock.lock_file))) from None
        except OSError:
            return
        self._locks[file] = lock


def _write_holder(handle: int) -> None:
    """Write into a lock file who holds it."""
    holder = Holder(pid=os.getpid(), host=socket.gethostname(), since=time.strftime("%Y-%m-%d %H:%M:%S"))
    with suppress(OSError):  # a full disk: writing the output file will report it
        os.ftruncate(handle, 0)
        os.write(handle, msgspec.json.encode(holder))


def _read_holder(lock: Path) -> Holder | None:
    """Return who holds a lock file; None if the file does not say it (yet)."""
    try:
        return msgspec.json.decode(lock.read_bytes() if lock.is_file() else b"", type=Holder)
    except (OSError, msgspec.DecodeError):
        return None


def _claimed_error(path: Path, holder: Holder | None) -> UsageError:
    if holder is None:
        who = "another process"
    else:
        host = "" if holder.host == socket.gethostname() else f" on {holder.host}"
        who = f"process {holder.pid}{host}, since {holder.since}"
    return UsageError(
        f"Another run of grade is writing {path.name} now ({who}). Wait until it has ended, "
        "or choose another folder for this run with --output-dir."
    )
