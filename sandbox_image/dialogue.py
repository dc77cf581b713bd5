"""What the supervisor and a program's process say to each other, as it comes through a descriptor piece by piece.

Nothing that comes is taken for more than bytes, or for one of the few messages that our own processes send.
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
    """Name -> type of what a message may have."""

# A clipped text with every character escaped, twice where it takes a pair of surrogates, and its frame.
MAX_RESULT = 256 << 10
MAX_REPLIES = 24 << 20
# With every quote and backslash escaped: so the answers, and the calls with them, fit into one message to the grader.
MAX_ESCAPED = 40 << 20


class GarbageError(Exception):
    """The program wrote something else than a result."""


class _Frames:
    """Cuts a stream into messages."""

    def __init__(self, limit: int) -> None:
        self._buffer, self._limit = bytearray(), limit

    def add(self, part: bytes) -> list[bytes]:
        """Return the messages that are whole now, as bytes."""
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
    """Waits for one result; `fields`: name -> type of what it may have."""

    def __init__(self, fd: int, fields: Fields, limit: int = MAX_RESULT) -> None:
        self.fd = fd
        self.result: dict[str, Any] | None = None
        self.so_far: dict[str, Any] | None = None
        """What is decided although the program has not ended; it may say so before its result."""
        self._fields, self._frames = fields, _Frames(limit)

    pending = b""

    def feed(self, part: bytes) -> bool:
        """Take in what came; True once there is a result. Raises GarbageError."""
        for data in self._frames.add(part):
            message = _message(data, self._fields)
            if message.pop("so_far", False):
                self.so_far = self.so_far or message
            else:
                self.result = message
                return True
        return False

    def send(self) -> None:
        """Nothing: there is never anything pending."""


class Judgement(OneResult):
    """Waits for the end of one run of tests, and keeps the result that it may have sent before."""

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
    """Sends calls one after the other: the next one only when the last one is answered."""

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
        """What has come, once something has."""
        return None if self.hello is None else {"hello": self.hello, "replies": self.replies}

    def feed(self, part: bytes) -> bool:
        """Take in what came; True once every call is answered."""
        for data in self._frames.add(part):
            self._bytes += len(data)
            self._escaped += len(data) + data.count(b'"') + data.count(b"\\")
            text = data.decode("ascii", "replace")
            # Our own processes write printable ASCII; anything else would grow sixfold on its way to the grader.
            if self._bytes > MAX_REPLIES or self._escaped > MAX_ESCAPED or not (data.isascii() and text.isprintable()):
                raise GarbageError
            if self.hello is None:
                self.hello = text
            else:
                self.replies.append(text)
            call = next(self._calls, None)
            if call is None:
                return True
            # An answer that came before its call is one without knowing it.
            self.pending += struct.pack(">I", len(call.encode())) + call.encode()
        return False

    def send(self) -> None:
        """Send what can be sent now."""
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
