"""The messages between the supervisor and a program's process, read from a descriptor piece by piece.

All input is treated as plain bytes, or as one of the few messages that grade's own processes send.
"""

from __future__ import annotations

import json
import math
import os
import struct
import time

from grade_sandbox.values import messages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Any

    Fields = dict[str, type[Any]]
    """Name -> type of the allowed fields of a message."""

# Room for a clipped text with every character escaped (as two surrogates if needed), and its frame.
MAX_RESULT = 256 << 10
MAX_REPLIES = 24 << 20


SECONDS_PER_BYTE = 5e-7
"""CPU time for the bytes of messages, beyond the limit of the program. Coding them takes a tenth of it or less.

A program announces that it begins to encode a large answer, with an empty message. Then it has the time for the largest
answer, until its answer shows how much it really was.
"""


LATER_TIMES = 10
"""How many times its limit a fork may take after its first result, to compare answers and to replay controls."""
_OF_AN_END: Fields = {"ended": int, "cpu": float, "left": bool}


class GarbageError(Exception):
    """Raised if the program wrote something other than a result."""


class Dialogue:
    """The messages of a process that is watched, until it has a result."""

    result: dict[str, Any] | None
    moved = 0
    """Bytes of messages that the program had to decode or encode."""
    encoding = False
    """Whether a large message was announced, and has not come."""
    pending = memoryview(b"")
    """What is to be sent."""
    turn: Any = 0
    """The number of the call or the run that the limits of time are for."""
    times = 1
    """How many times the limit of time the current turn has."""
    spent = 0.0
    """Seconds that the program had worked when it was last looked at."""
    may_be_late = True
    """Whether a message counts that the program sends after it was told that its time is up."""
    goes_on = False
    """Whether the program sent such a message, and it does not count."""

    def __init__(self, fd: int, limit: int) -> None:
        """`limit`: the maximum size of a message."""
        self.fd = fd
        self._buffer, self._limit = bytearray(), limit

    def feed(self, part: bytes) -> bool:
        """Process received bytes; return True when nothing more is to come. Raises GarbageError."""
        raise NotImplementedError

    def _complete(self, part: bytes) -> list[bytes]:
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

    def interrupt(self) -> bool:
        """Whether to end the dialogue although the program is in a call, because another job makes this call again."""
        return False

    def withdraw(self) -> None:
        """Withdraw the last message, for which the program took too much time or memory."""
        self.result = None

    def send(self) -> None:
        """Send as many bytes as possible now."""
        count = os.write(self.fd, self.pending[: 1 << 16])
        self.pending = self.pending[count:]


class OneResult(Dialogue):
    """Waits for one result; `fields`: name -> type of its allowed fields."""

    def __init__(self, fd: int, fields: Fields, limit: int = MAX_RESULT) -> None:
        super().__init__(fd, limit)
        self.result = None
        self._fields = fields

    def feed(self, part: bytes) -> bool:
        for data in self._complete(part):
            self.result = _message(data, self._fields)
            return True
        return False


class Results(OneResult):
    """Waits for the results of a fork, each with limits of its own, and for the message about its end.

    `result` has the fields of all results so far.
    """

    def __init__(self, fd: int, fields: Fields, limit: int = MAX_RESULT) -> None:
        super().__init__(fd, fields | _OF_AN_END, limit)
        self.ended: dict[str, Any] | None = None

    def feed(self, part: bytes) -> bool:
        for data in self._complete(part):
            message = _message(data, self._fields)
            if "ended" in message:
                self.ended = message
                return True
            self.result = {**(self.result or {}), **message}
            self.turn, self.times = self.turn + 1, LATER_TIMES
        return False


class _Replies(Dialogue):
    """What a program answers, text by text: the first message, and one for each of `parts`."""

    def __init__(self, fd: int, parts: Iterable[str], most: float, most_bytes: float) -> None:
        """`most`, `most_bytes`: as `MOST_SECONDS` and `MOST_BYTES`."""
        super().__init__(fd, MAX_REPLIES)
        self.hello: bytes | None = None
        self.replies: list[bytes] = []
        self._parts, self._sent = list(parts), 0
        self._bytes = 0
        self._most, self._most_bytes = most, most_bytes
        self._is_enough = False
        """Whether nothing more is asked, because the grader has a job for the rest."""

    @property
    def result(self) -> dict[str, Any] | None:  # type: ignore[override]
        """The messages received so far; None before the first one."""
        return None if self.hello is None else {"said": b"\n".join([self.hello, *self.replies])}

    @property
    def has_failed(self) -> bool:
        """Whether the program could not be loaded, so that no answer follows."""
        return self.hello is not None and messages.is_failure(self.hello)

    def _take(self, data: bytes) -> None:
        self._bytes += len(data)
        # Grade's own processes write printable ASCII. So a message is a line.
        if self._bytes > MAX_REPLIES or not (data.isascii() and data.decode().isprintable()):
            raise GarbageError
        if self.hello is None:
            self.hello = data
        else:
            self.replies.append(data)

    def _add(self, batch: bytearray, encoded: bytes) -> None:
        batch += struct.pack(">I", len(encoded)) + encoded
        self._sent += 1

    def withdraw(self) -> None:
        del self.replies[-1:]

    def interrupt(self) -> bool:
        return not self.encoding and self._has_enough()

    def _has_enough(self) -> bool:
        # Each job gives at least one answer, so the jobs for the rest come to an end.
        self._is_enough = bool(self.replies) and (self.spent > self._most or self._bytes > self._most_bytes)
        return self._is_enough


MOST_AHEAD, MOST_RUNS_AHEAD = 64, 32
_BATCH_BYTES = 64 << 10
MOST_SECONDS, MOST_BYTES = 60.0, 16 << 20
"""After so much work, or so many bytes of answers, to calls or runs that have limits of their own, nothing more is
asked: the grader has a job for the rest."""
QUICK_SECONDS = 0.05
"""After calls that took longer, they come one by one: so it is known in which of them a program hangs."""


class LockStep(_Replies):
    """Sends calls one after the other, each only after the previous one was answered.

    Calls of functions with arguments that are data are sent in batches of up to `ahead`: such arguments are the same
    whatever the answers are. Switching between processes would take longer than most calls. The first batches are
    small, because a program that hangs mostly hangs in its first call.
    """

    may_be_late = False

    def __init__(
        self,
        fd: int,
        calls: Iterable[str],
        ahead: int = MOST_AHEAD,
        *,
        each: int = 0,
        known: Collection[str] = (),
        most: float = MOST_SECONDS,
    ) -> None:
        """`each`: the limit of time is for each call, and of an answer with more bytes only a digest is kept.

        `known`: digests of expected answers. `most`: see `MOST_SECONDS`.
        """
        super().__init__(fd, calls, *((most, MOST_BYTES) if each else (math.inf, math.inf)))
        self._size, self._ahead, self._begun = 1, ahead, time.monotonic()
        self._each, self._known = each, known
        self.is_withdrawn = False

    def withdraw(self) -> None:
        super().withdraw()
        self.is_withdrawn = True

    @property
    def turn(self) -> int:
        """The number of what the limit of time is for: loading the program, then each call.

        Another job for the rest of the calls loads it again, and no call may have less time for this.
        """
        return len(self.replies) + (self.hello is not None) if self._each else 0

    def feed(self, part: bytes) -> bool:
        for whole in self._complete(part):
            self.moved += len(whole)
            data = self._kept(whole)
            self.encoding = not data
            if self.encoding:
                continue
            if self._each and self.replies and self._bytes + len(data) > MAX_REPLIES:
                self._is_enough = True
                return True
            self._take(data)
            if self.has_failed or len(self.replies) >= len(self._parts) or self._has_enough():
                return True
            # An answer that arrived before its call was sent could not depend on the call.
            if len(self.replies) >= self._sent:
                self._send_batch()
        return False

    def _kept(self, whole: bytes) -> bytes:
        """Return an answer, or its digest if this says as much: a large text, or an answer that is known."""
        if not self._each or len(whole) <= LARGE:
            return whole
        short = messages.digest(whole)
        is_enough = messages.is_text(whole) or short.decode() in self._known
        return short if is_enough or len(whole) > self._each else whole

    @property
    def is_unclear(self) -> bool:
        """Whether several calls were sent and not answered: nobody knows in which of them the program is."""
        return self._sent - len(self.replies) > 1 and not self._is_enough

    def _send_batch(self) -> None:
        batch = bytearray()
        now = time.monotonic()
        end = self._sent + (self._size if now - self._begun < QUICK_SECONDS else 1)
        self._size, self._begun = min(2 * (end - self._sent), self._ahead), now
        for call in self._parts[self._sent : end]:
            is_data = messages.is_data(call)
            if batch and not is_data:
                break
            encoded = call.encode()
            self._add(batch, encoded)
            self.moved += len(encoded)
            if not is_data or len(batch) > _BATCH_BYTES:
                break
        self.pending = memoryview(bytes(batch))


class ScriptRuns(_Replies):
    """Sends inputs, some ahead, and collects what the runs with them printed. Each run has its own limits."""

    def __init__(self, fd: int, inputs: Iterable[str], most: float = MOST_SECONDS) -> None:
        """`most`: see `MOST_SECONDS`."""
        super().__init__(fd, inputs, most, MOST_BYTES)

    @property
    def turn(self) -> int:
        """The number of the run that the program is in."""
        return len(self.replies)

    def feed(self, part: bytes) -> bool:
        for data in self._complete(part):
            self._take(data)
        return self.has_failed or (self.hello is not None and self._is_over())

    def _is_over(self) -> bool:
        if self._has_enough():
            return True
        if not self.pending:
            batch = bytearray()
            end = min(len(self.replies) + MOST_RUNS_AHEAD, len(self._parts))
            while self._sent < end and len(batch) < _BATCH_BYTES:
                self._add(batch, self._parts[self._sent].encode("utf-8", "surrogatepass"))
            self.pending = memoryview(bytes(batch))
        return len(self.replies) >= len(self._parts)


LARGE = 1 << 20
"""Bytes of an answer that is kept whole in any case."""


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
