"""The process behind `Pool`: the same server on a socket of this user. It ends when it has no client any more."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import socket
import sys
import time
from typing import TYPE_CHECKING

import msgspec

from grader.errors import GradeError, InfrastructureError
from grader.pool import settings, starting
from grader.pool.samples import Samples
from grader.serving.app import LOOPBACK, Service
from grader.serving.requests import POOL_LIMITS
from grader.serving.server import HttpServer

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from grader.pool.settings import PoolSettings

MIN_LINGER = 2.0
"""Seconds that the first client has to connect, even if `linger` is shorter."""
STOP_SECONDS = 1
"""Time for open requests when the process ends. Clients without an answer then ask another process."""
LISTENING = b"listening\n"
"""The message on standard output, to the process that started it, when clients can connect."""
CHANGED = (
    "The files of grade in {package} have changed since this program opened its pool, so no new process can be started "
    "for it: its parts would not match. Start the program again."
)


def main() -> None:
    """Detach from the parent, read the settings from standard input, serve, and end the process."""
    if os.fork():
        # The parent waits only for this process to exit, not for the one that stays.
        os._exit(0)
    os.setsid()
    os.chdir("/")
    pool_settings = settings.decode(sys.stdin.buffer.read())
    # The pipe to the parent is kept for one message; whatever else is printed goes to the log.
    output = os.dup(1)
    os.dup2(2, 1)
    try:
        _serve(pool_settings, functools.partial(_send_and_close, output))
    except GradeError as error:
        _send_and_close(output, msgspec.json.encode({"kind": type(error).__name__, "text": str(error)}) + b"\n")
        sys.exit(error.exit_code)


def _send_and_close(fd: int, line: bytes) -> None:
    """Send the only message over a pipe; the parent may have ended."""
    with contextlib.suppress(OSError):
        os.write(fd, line)
    with contextlib.suppress(OSError):
        os.close(fd)


def _serve(pool_settings: PoolSettings, send: Callable[[bytes], None]) -> None:
    """Serve until no client is connected; raises a GradeError if it cannot start."""
    if pool_settings.code != settings.code_hash():
        raise InfrastructureError(CHANGED.format(package=settings.PACKAGE))
    path = starting.socket_path(pool_settings.name)
    with Samples(pool_settings.options) as samples, Service(samples, POOL_LIMITS) as service:
        # The process that started this one holds the lock, so no other server uses the path.
        path.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX) as sock:
            sock.bind(str(path))
            asyncio.run(_Daemon(pool_settings, service, lambda: send(LISTENING)).serve(sockets=[sock]))


class _Daemon(HttpServer):
    """A server that ends when its last client has left."""

    def __init__(self, pool_settings: PoolSettings, service: Service, ready: Callable[[], None]) -> None:
        service.end = self._end
        super().__init__(service, LOOPBACK, ready, shutdown_seconds=STOP_SECONDS)
        self._settings, self._connections = pool_settings, service.connections
        self._last_seen = time.monotonic()
        # Time for the first client to come. When it is there, `on_tick` sets this to `linger`.
        self._linger = max(pool_settings.linger, MIN_LINGER)

    def _end(self) -> None:
        """End. The socket is removed before it is closed, so that whoever connects later starts another process."""
        if not self.should_exit:
            starting.remove_files(self._settings.name)
            self.should_exit = True

    async def on_tick(self, counter: int) -> bool:
        """Return whether it is time to end: after `linger` seconds without a client."""
        if self._connections.count:
            self._last_seen = time.monotonic()
            self._linger = self._settings.linger
        elif time.monotonic() - self._last_seen >= self._linger:
            self._end()
        return await super().on_tick(counter)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End after a signal."""
        del sig, frame
        self._end()
