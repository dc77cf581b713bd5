"""Framed messages to and from a supervisor over a byte stream (the other end is grade_sandbox/values/wire.py)."""

from __future__ import annotations

import contextlib
import select
import struct
import time
from typing import TYPE_CHECKING, Protocol

from grader.files import compact_json
from grader.sandbox.interface import Answer, SupervisorLostError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from socket import socket
    from typing import IO

    from grade_sandbox.jobs import Job

    Waited = int | socket | IO[bytes]


def ready(timeout: float, *, readable: Sequence[Waited] = (), writable: Sequence[Waited] = ()) -> bool:
    """Return True as soon as one of them can be read or written, or has ended; False after `timeout` seconds.

    Raises ValueError if one is closed.
    """
    asked: dict[int, int] = {}
    for mask, waited in ((select.POLLIN, readable), (select.POLLOUT, writable)):
        for each in waited:
            number = each if isinstance(each, int) else each.fileno()
            if number < 0:
                raise ValueError("a closed file")
            asked[number] = asked.get(number, 0) | mask
    poll = select.poll()
    for number, mask in asked.items():
        poll.register(number, mask)
    return bool(poll.poll(max(0.0, 1000 * timeout)))


MAX_FRAME = 64 << 20


class Stream(Protocol):
    """A byte stream in both directions."""

    def write(self, data: memoryview) -> int:
        """Send as many bytes as fit now and return their number, which can be 0; raises OSError."""

    def wait(self, timeout: float) -> None:
        """Return when bytes can be sent or received; raises TimeoutError after `timeout` seconds, or OSError."""

    def read(self, timeout: float) -> bytes:
        """Return some bytes, b"" at the end of the stream; raises TimeoutError or OSError."""


def wait(reading: Waited, writing: Waited | None, timeout: float) -> None:
    """Return when one of two files of a stream can be read or written; raises TimeoutError, ValueError or OSError."""
    if not ready(timeout, readable=[reading], writable=[] if writing is None else [writing]):
        raise TimeoutError(f"nothing moved for {timeout:.0f} s")


class Channel:
    """Sends jobs and receives answers."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._buffer = bytearray()

    def send(self, job: Job, timeout: float) -> None:
        """Send one message; raises SupervisorLostError, also if nothing can be sent or received for `timeout` seconds.

        It also receives while it sends. A supervisor takes no more jobs while its answer is not read, so if both sides
        only wrote, both would wait for ever.
        """
        data = compact_json.encode(job)
        view = memoryview(struct.pack(">I", len(data)) + data)
        try:
            while view := view[self._stream.write(view) :]:
                self._stream.wait(timeout)
                with contextlib.suppress(TimeoutError):
                    self._read(0)
        except (OSError, ValueError) as error:
            raise SupervisorLostError(f"cannot send: {error}") from error

    def receive(self, timeout: float) -> Answer:
        """Return the next message; raises SupervisorLostError."""
        deadline = time.monotonic() + timeout
        (length,) = struct.unpack(">I", self._take(4, deadline))
        if length > MAX_FRAME:
            raise SupervisorLostError(f"a message of {length} bytes is too long")
        data = self._take(length, deadline)
        try:
            message = compact_json.decode(data, whole=True)
        except (ValueError, RecursionError) as error:
            raise SupervisorLostError(f"not a message: {error}") from error
        if not isinstance(message, dict):
            raise SupervisorLostError("not a message")
        return message

    def _take(self, count: int, deadline: float) -> bytes:
        while len(self._buffer) < count:
            try:
                self._read(max(0.0, deadline - time.monotonic()))
            except (OSError, ValueError) as error:
                raise SupervisorLostError(f"no answer: {error}") from error
        taken = bytes(self._buffer[:count])
        del self._buffer[:count]
        return taken

    def _read(self, timeout: float) -> None:
        part = self._stream.read(timeout)
        if not part:
            raise SupervisorLostError("the supervisor has ended")
        self._buffer += part
