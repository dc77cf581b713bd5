"""Messages between processes: a length of four bytes, then JSON in ASCII. They carry values, which are never unpickled.

The messages of a program are bytes on their way to the grader and back to a judge: they stand behind the JSON of a job,
a request or an answer, and nobody encodes or decodes them again (`send_parcel`).

Values between a candidate and its tests are plain data only, of exact types. The sending side turns a graph of objects
into a table of nodes; the receiving side builds an equal graph. One message is one graph: aliases and cycles in it are
kept, also those with the arguments of the call that it answers. Between messages nothing is shared.

messages.py has the messages, sending.py and receiving.py are the two sides.
"""

from __future__ import annotations

import json
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, Protocol

    Write = Callable[[bytes | memoryview], int]
    """Sends bytes; returns the number of bytes sent."""
    Read = Callable[[int], bytes | memoryview]
    """Returns at most so many bytes; none at the end of the stream."""

    class NodeEncoder(Protocol):
        """The part of sending.Encoder that is used to create nodes in plain_forms.py."""

        classes: Mapping[type[Any], str]
        reads: Sequence[str]
        functions: bool

        def asks(self, value: Any) -> bool: ...
        def atom(self, value: Any) -> Any: ...
        def atoms(self, values: Iterable[Any]) -> list[Any]: ...
        def pairs(self, mapping: Mapping[Any, Any]) -> list[Any]: ...
        def constructed(self, name: str, value: Any) -> list[Any]: ...


MAX_FRAME = 64 << 20
PART = "part"
"""The key of [start, end] of bytes behind the JSON of a message."""
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


def receive(read: Read) -> Any:
    """Return the next message."""
    try:
        return json.loads(receive_bytes(read))
    except (ValueError, RecursionError) as error:
        raise ClosedError(f"not a message: {error}") from None


def send_parcel(write: Write, message: object) -> None:
    """Send a message that has bytes anywhere. The grader's side is grader/sandbox/channel.py."""
    parts: list[bytes] = []
    start = 0

    def put(part: bytes) -> dict[str, list[int]]:
        nonlocal start
        parts.append(part)
        start += len(part)
        return {PART: [start - len(part), start]}

    head = json.JSONEncoder(separators=(",", ":"), default=put).encode(message).encode()
    send_bytes(write, b"".join([struct.pack(">I", len(head)), head, *parts]))


def receive_parcel(read: Read) -> Any:
    """Return the next message that has bytes anywhere."""
    data = receive_bytes(read)
    try:
        start = 4 + struct.unpack(">I", data[:4])[0]
        take = lambda found: data[slice(*(start + at for at in found[PART]))] if found.keys() == {PART} else found  # noqa: E731
        return json.loads(data[4:start], object_hook=take if b'{"part":[' in data[:start] else None)
    except (ValueError, RecursionError, struct.error) as error:
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


# --- values ---

MAX_BYTES = 32 << 20
MAX_NODES = 2_000_000
BUILTIN_TYPES: dict[str, type[Any]] = {
    t.__name__: t
    for t in (int, float, str, bool, list, dict, set, tuple, frozenset, bytes, complex, type(None), object, range)
}
NUMPY_KINDS = "biufcSUMm"


class UncrossableError(Exception):
    """Raised for a value that cannot be sent; the text names its type."""


class MalformedError(Exception):
    """Raised if the other side sent a message that no honest encoder produces."""


class UnconfirmedError(BaseException):
    """Raised if the candidate's behaviour cannot be confirmed; the text says why."""

    kind = "unconfirmed"
    """The kind of the verdict."""


class EndlessError(BaseException):
    """Raised if the tests read more items of an iterator than were sent; the text says how many were."""


def module_of(kind: type[Any]) -> str:
    """Return the name of a class's module.

    `type(name, bases, {})` in a program whose globals have no `__name__` creates a class without one.
    """
    return str(getattr(kind, "__module__", None) or "builtins")


def type_name(value: object) -> str:
    """Return the name of a type for people: `module.Name`, without `builtins`."""
    kind = type(value)
    module = module_of(kind)
    return kind.__qualname__ if module == "builtins" else f"{module}.{kind.__qualname__}"
