"""The folder where a node's processes find pools. Only this user can access it; it has a socket and a lock per pool."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from typing import TYPE_CHECKING

from grader import resources
from grader.errors import InfrastructureError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LOCK_TICK = 0.05


def folder() -> Path:
    """Return the folder, created if it is missing; raises InfrastructureError.

    It is among the temporary files, because a home folder can be shared by many nodes, while a socket belongs to one.
    """
    remedy = "another folder for temporary files with TMPDIR"
    return resources.private_folder("grade-pool", "where processes find a pool", remedy)


def socket_path(name: str) -> Path:
    """Return the path of a pool's socket; raises InfrastructureError if it is too long for the system."""
    path = folder() / f"{name}.sock"
    if len(os.fsencode(path)) > 100:
        raise InfrastructureError(f"{path} is too long for a socket; set a shorter folder with TMPDIR.")
    return path


def log_path(name: str) -> Path:
    """Return the path of the log of a pool's process (its standard error)."""
    return folder() / f"{name}.log"


@contextlib.contextmanager
def locked(name: str, seconds: float | None = None) -> Iterator[bool]:
    """Hold the lock on starting and ending a pool; yield False if it was not free within `seconds` (None: no limit)."""
    with (folder() / f"{name}.lock").open("ab") as file:
        yield _lock(file.fileno(), None if seconds is None else time.monotonic() + seconds)


def _lock(fd: int, deadline: float | None) -> bool:
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if deadline is not None and time.monotonic() >= deadline:
                return False
            time.sleep(LOCK_TICK)
        else:
            return True
