"""Connect to the process that grades, or start it: the first client starts it for all."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from grader import errors, resources
from grader.errors import InfrastructureError
from grader.pool import settings
from grader.sandbox import channel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.pool.settings import PoolSettings

LOCK_TICK = 0.05
START_SECONDS = 900.0
"""Maximum time to start: building a sandbox image takes minutes, once."""
TRIES = 5
SOCKET_PATH_BYTES = 100
"""The system's limit, with its final zero, is 108 on Linux and 104 on macOS."""
MIN_FREE_BYTES = 1 << 20
"""A disk with less free space is called full."""
PROCESS = "import sys; sys.path.insert(0, sys.argv[1]); from grader.serving.daemon import main; main()"


def pool_folder() -> Path:
    """Return the folder of sockets, locks and logs, created if it is missing; raises InfrastructureError.

    It is among the temporary files, because a home folder can be shared by many nodes, while a socket belongs to one.
    """
    remedy = "another folder for temporary files with TMPDIR"
    return resources.private_folder("grade-pool", "where processes find a pool", remedy)


def socket_path(name: str) -> Path:
    """Return the path of a pool's socket; raises InfrastructureError if it is too long for the system."""
    path = pool_folder() / f"{name}.sock"
    if len(os.fsencode(path)) > SOCKET_PATH_BYTES:
        raise InfrastructureError(f"{path} is too long for a socket; set a shorter folder with TMPDIR.")
    return path


def log_path(name: str) -> Path:
    """Return the path of the log of a pool's process (its standard error)."""
    return pool_folder() / f"{name}.log"


def remove_files(name: str) -> None:
    """Remove the log of a pool's process if it is empty, then its socket: after that, another process may start."""
    log = log_path(name)
    if log.is_file() and not log.stat().st_size:
        log.unlink(missing_ok=True)
    socket_path(name).unlink(missing_ok=True)


@contextlib.contextmanager
def start_lock(name: str, seconds: float) -> Iterator[bool]:
    """Hold the lock on starting a pool's process; yield False if it was not free within `seconds`.

    Its file is removed at the end. A client that waits for it may get the removed file's lock; then `filelock` tries
    again with a new file.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(pool_folder() / f"{name}.lock")
    try:
        lock.acquire(timeout=seconds, poll_interval=LOCK_TICK)
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        Path(lock.lock_file).unlink(missing_ok=True)
        lock.release()


def connect(pool_settings: PoolSettings, seconds: float) -> socket.socket:
    """Return a connection to the pool's process, which is started if it does not run; raises a GradeError.

    Raises InfrastructureError if this takes longer than `seconds`, or the system refuses files or processes.
    """
    resources.check_posix("A pool")
    try:
        return _connect_or_start(pool_settings, seconds)
    except OSError as error:
        raise InfrastructureError(f"The pool's process cannot be reached or started: {error}") from error


def _connect_or_start(pool_settings: PoolSettings, seconds: float) -> socket.socket:
    """Return a connection to the process; without one, start it, unless another client is doing so."""
    deadline = time.monotonic() + seconds
    for _ in range(TRIES):
        if (connection := try_connect(pool_settings.name, deadline)) is not None:
            return connection
        with start_lock(pool_settings.name, max(0.0, deadline - time.monotonic())) as is_held:
            if not is_held:
                break
            # Another client may have started it while this one waited for the lock.
            if (connection := try_connect(pool_settings.name, deadline)) is not None:
                return connection
            _start(pool_settings, deadline)
    raise InfrastructureError(
        f"The pool's process did not answer ({TRIES} tries, at most {seconds:g} seconds); its log is "
        f"{log_path(pool_settings.name)}"
    )


def try_connect(name: str, deadline: float) -> socket.socket | None:
    """Return a connection to the pool of this name; None if no process listens. Raises OSError at the deadline."""
    while True:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.settimeout(0)
            connection.connect(str(socket_path(name)))
        except (FileNotFoundError, ConnectionRefusedError):
            connection.close()
            return None
        except BlockingIOError:
            # Many others connect at this moment.
            connection.close()
            if time.monotonic() >= deadline:
                raise
            time.sleep(LOCK_TICK)
        except BaseException:
            connection.close()
            raise
        else:
            return connection


def wait_until_ended(pid: int, seconds: float) -> None:
    """Return when a process has ended, or after `seconds`. `pid` 0: there is none to wait for."""
    if pid:
        with contextlib.suppress(OSError):
            handle = os.pidfd_open(pid)
            try:
                channel.wait_ready(seconds, readable=[handle])
            finally:
                os.close(handle)


def _start(pool_settings: PoolSettings, deadline: float) -> None:
    """Start the process and wait for its message: a line if it listens, JSON if it cannot; raises a GradeError."""
    # With -P nothing is imported from the current folder; this package is imported from its own place.
    with (
        log_path(pool_settings.name).open("wb") as log,
        subprocess.Popen(  # noqa: S603 - this interpreter, this package
            [sys.executable, "-P", "-c", PROCESS, str(settings.PACKAGE.parent)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(settings.encode(pool_settings))
            process.stdin.close()
        except BrokenPipeError:
            pass
        line = _read_line(process.stdout.fileno(), deadline)
    if line.startswith(b"{"):
        remove_files(pool_settings.name)
        raise _reported_error(line)
    if not line:
        raise _silent_end_error(log_path(pool_settings.name))


def _reported_error(line: bytes) -> Exception:
    """Return the error with which the process could not start, from its message; an InputError is a list of lines."""
    error = msgspec.json.decode(line, type=dict[str, str])
    kind, text = error["kind"], error["text"]
    error_type = getattr(errors, kind, InfrastructureError)
    return error_type(text.split("\n") if kind == "InputError" else text)


def _silent_end_error(log: Path) -> InfrastructureError:
    """Return the error for a process that ended, or is not ready in time, without a message."""
    last_line = "".join(log.read_text(errors="replace").strip().splitlines()[-1:])
    text = f"The pool's process did not start ({last_line or 'without a message'}); its log is {log}"
    # On a full disk the log may be empty as well.
    if "No space left" in last_line or shutil.disk_usage(log.parent).free < MIN_FREE_BYTES:
        text += ". The disk is full: make room, or set TMPDIR and XDG_CACHE_HOME to folders on another disk"
    return InfrastructureError(text)


def _read_line(fd: int, deadline: float) -> bytes:
    """Return the first line; less than a line if the stream or the time ends before."""
    data = b""
    while not data.endswith(b"\n"):
        chunk = os.read(fd, 1 << 16) if channel.wait_ready(deadline - time.monotonic(), readable=[fd]) else b""
        if not chunk:
            break
        data += chunk
    return data
