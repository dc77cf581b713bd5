"""A client's connection to the process that grades: HTTP over a socket of this user."""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING

import h11
import msgspec

from grader.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

PART_BYTES = 1 << 18
HEADERS = [("Host", "localhost"), ("Content-Type", "application/json")]
CLOSED = "the pool's process has closed the connection"
OK, TOO_MANY, SERVER_ERROR = 200, 429, 500


class Connection:
    """One connection. Threads and `asyncio` both use it: it makes and reads HTTP messages."""

    def __init__(self, sock: socket.socket) -> None:
        self.socket = sock
        self._http = h11.Connection(h11.CLIENT)
        self._status = 0
        self._rest = bytearray()
        self.is_over = True
        """Whether the whole answer has arrived."""

    @property
    def is_idle(self) -> bool:
        """Whether another request can be sent."""
        return self._http.our_state is h11.IDLE

    @property
    def is_alive(self) -> bool:
        """Whether the other end is open. It sends nothing unasked, so readable data means that it has closed."""
        self.socket.settimeout(0)
        try:
            self.socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            pass
        return False

    def request(self, method: str, path: str, body: bytes = b"") -> bytes:
        """Begin a request, and return what has to be sent."""
        self._status, self._rest, self.is_over = 0, bytearray(), False
        asked = h11.Request(method=method, target=path, headers=[*HEADERS, ("Content-Length", str(len(body)))])
        parts = [self._http.send(event) for event in (asked, h11.Data(data=body), h11.EndOfMessage())]
        return b"".join(part or b"" for part in parts)

    def lines(self, data: bytes) -> list[bytearray]:
        """Return the whole lines of the answer in what has arrived.

        Raises ConnectionError if it is broken, or says that another try may succeed; UsageError for a refusal.
        """
        try:
            self._http.receive_data(data)
            while (event := self._http.next_event()) is not h11.NEED_DATA:
                if isinstance(event, h11.Response):
                    self._status = event.status_code
                elif isinstance(event, h11.Data):
                    self._rest += event.data
                elif isinstance(event, h11.EndOfMessage):
                    return self._end()
                elif not isinstance(event, h11.InformationalResponse):
                    raise ConnectionError(CLOSED)
        except h11.ProtocolError as error:
            raise ConnectionError(f"{CLOSED}: {error}") from error
        *whole, self._rest = self._rest.split(b"\n") if self._status == OK else [self._rest]
        return whole

    def _end(self) -> list[bytearray]:
        self.is_over = True
        if self._http.our_state is h11.DONE and self._http.their_state is h11.DONE:
            self._http.start_next_cycle()
        if self._status != OK:
            try:
                text = msgspec.json.decode(self._rest, type=dict[str, str])["error"]
            except (msgspec.MsgspecError, KeyError):
                text = f"HTTP status {self._status}"
            if self._status == TOO_MANY or self._status >= SERVER_ERROR:
                raise ConnectionError(text)
            raise UsageError(text)
        return [line for line in self._rest.split(b"\n") if line]

    def ask(self, method: str, path: str, body: bytes = b"", *, seconds: float) -> Iterator[bytearray]:
        """Send a request and yield the lines of its answer; raises OSError, UsageError."""
        end = time.monotonic() + seconds
        self.socket.settimeout(seconds)
        self.socket.sendall(self.request(method, path, body))
        while not self.is_over:
            self.socket.settimeout(max(0.01, end - time.monotonic()))
            yield from self.lines(self.socket.recv(PART_BYTES))

    def close(self) -> None:
        """Close it."""
        self.socket.close()
