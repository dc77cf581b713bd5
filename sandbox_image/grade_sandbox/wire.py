"""Messages between processes: a length of four bytes, then JSON in ASCII.

The messages of a program (values.py) are bytes on their way to the grader and back to a judge: they stand behind the
JSON of a job, a request or an answer, and nobody encodes or decodes them again (`send_parcel`).
"""

from __future__ import annotations

import hashlib
import json
import struct

from grade_sandbox.values import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Write = Callable[[bytes | memoryview], int]
    """Sends bytes; returns the number of bytes sent."""
    Read = Callable[[int], bytes | memoryview]
    """Returns at most so many bytes; none at the end of the stream."""

MAX_FRAME = 64 << 20
PART = "part"
"""The key of [start, end] of bytes behind the JSON of a message."""
MAX_TEXT = 20_000


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
    (length,) = struct.unpack(">I", _read_exactly(read, 4))
    if length > limit:
        raise ClosedError(f"a message of {length} bytes")
    return _read_exactly(read, length)


def receive(read: Read) -> Any:
    """Return the next message."""
    try:
        return json.loads(receive_bytes(read))
    except (ValueError, RecursionError) as error:
        raise ClosedError(f"not a message: {error}") from None


def send_parcel(write: Write, message: object) -> None:
    """Send a message that may have bytes in it: the length of its JSON, its JSON, and all bytes one after another.

    In the JSON, {"part": [start, end]} stands for the bytes. The grader's side is grader/sandbox/channel.py.
    """
    parts: list[bytes] = []
    size = 0

    def take_out(part: bytes) -> dict[str, list[int]]:
        nonlocal size
        parts.append(part)
        size += len(part)
        return {PART: [size - len(part), size]}

    head = json.JSONEncoder(separators=(",", ":"), default=take_out).encode(message).encode()
    send_bytes(write, b"".join([struct.pack(">I", len(head)), head, *parts]))


def receive_parcel(read: Read) -> Any:
    """Return the next message that `send_parcel` has sent."""
    data = receive_bytes(read)
    try:
        start = 4 + struct.unpack(">I", data[:4])[0]

        def put_back(item: dict[str, Any]) -> Any:
            """Return the bytes for which a reference stands; any other item as it is."""
            if item.keys() != {PART}:
                return item
            begin, end = item[PART]
            return data[start + begin : start + end]

        has_bytes = b'{"part":[' in data[:start]
        return json.loads(data[4:start], object_hook=put_back if has_bytes else None)
    except (ValueError, TypeError, RecursionError, struct.error) as error:
        raise ClosedError(f"not a message: {error}") from None


def _read_exactly(read: Read, count: int) -> bytes:
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


# --- what a supervisor reads in a program's messages ---


def failure(why: str) -> bytes:
    """Return the first message of a program that cannot be loaded."""
    return encode({"failed": clip(why)}).encode()


def is_failure(hello: bytes) -> bool:
    """Whether the first message of a program says that it cannot be loaded."""
    return hello.startswith(b'{"failed"')


def messages_of(transcript: bytes) -> list[str]:
    """Return all messages of a program: the first one, and a reply to each call; none if it has sent none."""
    return transcript.decode().split("\n") if transcript else []


def is_text(reply: bytes) -> bool:
    """Whether a program returned a text, and nothing else is told of the call."""
    return reply.startswith(b'[["tuple",[1,2]],["str","returned"],["str",')


def digest(data: bytes) -> bytes:
    """Return what stands for a large message: two are equal only if these are."""
    return encode({"digest": hashlib.sha256(data).hexdigest(), "length": len(data)}).encode()


def parse_digest(reply: str) -> tuple[str, int] | None:
    """Return the digest and the length of a message, if only these were kept."""
    if not reply.startswith('{"digest"'):
        return None
    message = json.loads(reply)
    return message["digest"], message["length"]
