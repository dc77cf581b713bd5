"""Where the processes of a node find a pool: a folder of this user's alone, with a socket and a lock for each pool."""

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
    """Return the folder, made where it is missing; raises InfrastructureError.

    It is among the temporary files: a home folder may be shared by many nodes, and a socket belongs to one.
    """
    remedy = "another folder for temporary files with TMPDIR"
    return resources.private_folder("grade-pool", "where processes find a pool", remedy)


def socket_path(name: str) -> Path:
    """Return the path of a pool's socket; raises InfrastructureError where it is too long for the system."""
    path = folder() / f"{name}.sock"
    if len(os.fsencode(path)) > 100:
        raise InfrastructureError(f"{path} is too long for a socket's name; name a shorter folder with TMPDIR.")
    return path


def log_path(name: str) -> Path:
    """Return the path of what a pool's process writes to its standard error."""
    return folder() / f"{name}.log"


@contextlib.contextmanager
def locked(name: str, seconds: float | None = None) -> Iterator[bool]:
    """Hold the lock on starting and ending a pool; yields False where it was not free for `seconds` (None: wait)."""
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
