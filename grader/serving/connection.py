"""The connections of a server: how long each may wait, and how many there may be.

Compared in November 2026, each with 1,100 connections that never end their headers and 1,024 descriptors: gunicorn 27
(asgi) and uvicorn 0.54 have no deadline for headers; granian 2.8 and hypercorn 0.18 have one. Only uvicorn lets a class
see all connections and requests, also invalid ones. So this is uvicorn, with such a class.
"""

from __future__ import annotations

import contextlib
import ipaddress
import resource
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

HEADER_SECONDS = 10.0
"""Maximum time until the headers of a request have arrived."""
IDLE_SECONDS = 75
"""Maximum time between two requests."""
READ_BYTES = 1 << 14
"""What is read of one client before it is the next one's turn."""
UNREAD_SECONDS = 30.0
"""Maximum time in which a client reads nothing of a long answer."""
MAX_CONNECTIONS = 4096
LISTEN_BACKLOG, ACCEPTED_AT_A_TIME = 256, 64
"""Connections that wait to be accepted, and those that are accepted in one turn of the event loop.

asyncio accepts four times before it closes what had to make room, so for a moment so many can be above the limit.
"""
SPARE_DESCRIPTORS = 4 * ACCEPTED_AT_A_TIME + 64
REFUSED = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nRetry-After: 1\r\nConnection: close\r\n\r\n"


def raise_connection_limit() -> int:
    """Raise the process's limit of descriptors; return how many connections it allows. Sandboxes need half of it."""
    needed = 2 * MAX_CONNECTIONS + SPARE_DESCRIPTORS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = max(soft, needed if hard == resource.RLIM_INFINITY else min(hard, needed))
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    return max(1, min(MAX_CONNECTIONS, (limit - SPARE_DESCRIPTORS) // 2))


class Connections:
    """All open connections. Above a limit, the one that has waited longest without a request makes room."""

    def __init__(self, limit: int, count_status: Callable[[int], None]) -> None:
        """`count_status` gets the status of each answer to a refused connection, or to what is not HTTP."""
        self._limit = limit
        self.count_status = count_status
        self.count = 0
        self.idle: dict[ServerConnection, None] = {}
        """Connections without a request, the oldest first."""

    def enter(self) -> bool:
        """Count a connection; return False if it has to be refused, because all others have requests.

        A refused connection counts, too, until it is lost: each `enter` has its `leave`.
        """
        self.count += 1
        if self.count > self._limit:
            if not self.idle:
                return False
            oldest = next(iter(self.idle))
            del self.idle[oldest]
            oldest.transport.abort()
        return True

    def leave(self, connection: ServerConnection) -> None:
        """Forget a connection."""
        self.idle.pop(connection, None)
        self.count -= 1


class ServerConnection(H11Protocol):
    """One connection. At its deadline, if it has one, it is aborted."""

    def __init__(self, *args: Any, connections: Connections, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._connections = connections
        self._deadline: asyncio.TimerHandle | None = None

    @property
    def _is_busy(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    @property
    def _is_remote(self) -> bool:
        """Whether it came over TCP: a client on the Unix socket is a process of this user, which has no address."""
        return bool(self.client)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the connection and wait for its headers, or refuse it."""
        super().connection_made(transport)
        transport.max_size = READ_BYTES  # type: ignore[attr-defined] # asyncio's own transports have it
        if self._connections.enter():
            # On the local socket, a connection without a request shows that a client is there: it has no deadline.
            if self._is_remote:
                self._set_deadline(HEADER_SECONDS)
            self._update_idle()
        else:
            self._connections.count_status(503)
            transport.write(REFUSED)
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Free the connection's place, and forget its deadline."""
        super().connection_lost(exc)
        self._connections.leave(self)
        self._clear_deadline()

    def data_received(self, data: bytes) -> None:
        """Read; from the first byte on, the headers have a deadline, which further bytes do not move."""
        if not self._is_busy and self._deadline is None:
            self._set_deadline(HEADER_SECONDS)
        super().data_received(data)
        self._update_idle()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._update_idle()

    def pause_writing(self) -> None:
        """Wait until the client has read more; a remote one has UNREAD_SECONDS for it."""
        super().pause_writing()
        if self._is_remote:
            self._set_deadline(UNREAD_SECONDS)

    def resume_writing(self) -> None:
        """Go on writing."""
        super().resume_writing()
        self._clear_deadline()

    def send_400_response(self, msg: str) -> None:
        """Count and answer what is not HTTP; do not answer in the middle of another answer."""
        self._connections.count_status(400)
        if not self._is_busy or not self.cycle.response_started:
            super().send_400_response(msg)
        self.transport.close()

    def timeout_keep_alive_handler(self) -> None:
        """End an idle connection, even if its client has not read the last answer."""
        self.transport.abort()

    def _update_idle(self) -> None:
        """Note whether the connection has a request now; with one, the deadline of its headers is over."""
        if self._is_busy:
            self._connections.idle.pop(self, None)
            if not self.flow.write_paused:  # else the deadline is that of `pause_writing`
                self._clear_deadline()
        elif not self.transport.is_closing():
            self._connections.idle.setdefault(self)

    def _set_deadline(self, seconds: float) -> None:
        self._clear_deadline()
        self._deadline = self.loop.call_later(seconds, self.transport.abort)

    def _clear_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from this machine only."""
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"
