"""The messages between the supervisor and a program's process, read from a descriptor piece by piece.

All input is treated as plain bytes, or as one of the few messages that grade's own processes send.
"""

from __future__ import annotations

import json
import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    Fields = dict[str, type[Any]]
    """Name -> type of the allowed fields of a message."""

# Room for a clipped text with every character escaped (as two surrogates if needed), and its frame.
MAX_RESULT = 256 << 10
MAX_REPLIES = 24 << 20
# Length with all quotes and backslashes escaped, so that answers and calls fit into one message to the grader.
MAX_ESCAPED = 40 << 20


class GarbageError(Exception):
    """Raised if the program wrote something other than a result."""


class _Frames:
    """Splits a stream into messages."""

    def __init__(self, limit: int) -> None:
        self._buffer, self._limit = bytearray(), limit

    def add(self, part: bytes) -> list[bytes]:
        """Return the messages that are now complete, as bytes."""
        self._buffer += part
        found = []
        while len(self._buffer) >= 4:
            (length,) = struct.unpack(">I", self._buffer[:4])
            if length > self._limit:
                raise GarbageError
            if len(self._buffer) < 4 + length:
                break
            found.append(bytes(self._buffer[4 : 4 + length]))
            del self._buffer[: 4 + length]
        return found


class OneResult:
    """Waits for one result; `fields`: name -> type of its allowed fields."""

    def __init__(self, fd: int, fields: Fields, limit: int = MAX_RESULT) -> None:
        self.fd = fd
        self.result: dict[str, Any] | None = None
        self.so_far: dict[str, Any] | None = None
        """A verdict that is already final before the program has ended; sent before the result."""
        self._fields, self._frames = fields, _Frames(limit)

    pending = b""

    def feed(self, part: bytes) -> bool:
        """Process received bytes; return True when there is a result. Raises GarbageError."""
        for data in self._frames.add(part):
            message = _message(data, self._fields)
            if message.pop("so_far", False):
                self.so_far = self.so_far or message
            else:
                self.result = message
                return True
        return False

    def send(self) -> None:
        """Do nothing: no data is ever pending."""


class Judgement(OneResult):
    """Waits for the end of one run of tests, and keeps the result if one was sent before."""

    def __init__(self, fd: int, fields: Fields, limit: int = MAX_RESULT) -> None:
        super().__init__(fd, fields | {"ended": int, "cpu": float, "left": bool}, limit)
        self.ended: dict[str, Any] | None = None

    def feed(self, part: bytes) -> bool:
        for data in self._frames.add(part):
            message = _message(data, self._fields)
            if "ended" in message:
                self.ended = message
                return True
            self.result = message
        return False


class LockStep:
    """Sends calls one after the other, each only after the previous one was answered."""

    def __init__(self, fd: int, calls: Iterable[str]) -> None:
        self.fd = fd
        self.hello: str | None = None
        self.replies: list[str] = []
        self.pending = b""
        self.so_far: dict[str, Any] | None = None
        self._calls = iter(calls)
        self._frames, self._bytes, self._escaped = _Frames(MAX_REPLIES), 0, 0

    @property
    def result(self) -> dict[str, Any] | None:
        """The messages received so far; None before the first one."""
        return None if self.hello is None else {"hello": self.hello, "replies": self.replies}

    def feed(self, part: bytes) -> bool:
        """Process received bytes; return True when every call is answered."""
        for data in self._frames.add(part):
            self._bytes += len(data)
            self._escaped += len(data) + data.count(b'"') + data.count(b"\\")
            text = data.decode("ascii", "replace")
            # Grade's own processes write printable ASCII. Other characters would grow sixfold on the way to the grader.
            if self._bytes > MAX_REPLIES or self._escaped > MAX_ESCAPED or not (data.isascii() and text.isprintable()):
                raise GarbageError
            if self.hello is None:
                self.hello = text
            else:
                self.replies.append(text)
            call = next(self._calls, None)
            if call is None:
                return True
            # An answer that arrived before its call was sent could not depend on the call.
            self.pending += struct.pack(">I", len(call.encode())) + call.encode()
        return False

    def send(self) -> None:
        """Send as many bytes as possible now."""
        count = os.write(self.fd, self.pending[: 1 << 16])
        self.pending = self.pending[count:]


def _message(data: bytes, fields: Fields) -> dict[str, Any]:
    try:
        message = json.loads(data)
    except (ValueError, RecursionError):
        raise GarbageError from None
    if not isinstance(message, dict) or not all(
        name in fields and type(value) is fields[name] for name, value in message.items()
    ):
        raise GarbageError
    return message
