"""Messages between processes: a length of four bytes, then JSON in ASCII."""

from __future__ import annotations

import json
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Write = Callable[[bytes | memoryview], int]
    """Sends bytes; returns the number of bytes sent."""
    Read = Callable[[int], bytes | memoryview]
    """Returns at most so many bytes; none at the end of the stream."""

MAX_FRAME = 64 << 20
MAX_TEXT = 20_000
encode = json.JSONEncoder(separators=(",", ":")).encode
"""Returns `json.dumps(message, separators=(",", ":"))`, which would create an encoder for each message."""


class ClosedError(Exception):
    """Raised if the other side has closed the stream or sent an invalid message."""


def send(write: Write, message: object) -> None:
    """Send one message through `write(bytes) -> count`."""
    send_bytes(write, encode(message).encode())


def send_bytes(write: Write, data: bytes) -> None:
    """Send an encoded message."""
    view = memoryview(struct.pack(">I", len(data)) + data)
    while view:
        view = view[write(view) :]


def receive_bytes(read: Read, limit: int = MAX_FRAME) -> bytes:
    """Return the next message's bytes from `read(count) -> bytes`; raises ClosedError at the end of the stream."""
    (length,) = struct.unpack(">I", _exactly(read, 4))
    if length > limit:
        raise ClosedError(f"a message of {length} bytes")
    return _exactly(read, length)


def receive(read: Read, limit: int = MAX_FRAME) -> Any:
    """Return the next message."""
    try:
        return json.loads(receive_bytes(read, limit))
    except (ValueError, RecursionError) as error:
        raise ClosedError(f"not a message: {error}") from None


def _exactly(read: Read, count: int) -> bytes:
    parts = []
    while count:
        part = read(min(count, 1 << 20))
        if not part:
            raise ClosedError("end of stream")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def clip(text: str) -> str:
    """Return the first MAX_TEXT characters of a text, and the number of the others."""
    if len(text) > MAX_TEXT:
        text = f"{text[:MAX_TEXT]}... [{len(text) - MAX_TEXT} more characters]"
    return text
