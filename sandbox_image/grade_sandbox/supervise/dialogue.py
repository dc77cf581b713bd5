"""The messages between the supervisor and a program's process, read from a descriptor piece by piece.

All input is treated as plain bytes, or as one of the few messages that grade's own processes send.
"""

from __future__ import annotations

import json
import math
import os
import struct
import time

from grade_sandbox import wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Any

    Fields = dict[str, type[Any]]
    """Name -> type of the allowed fields of a message."""

# Room for a clipped text with every character escaped (as two surrogates if needed), and its frame.
MAX_RESULT = 256 << 10
MAX_REPLIES = 24 << 20


LATER_TIMES = 10
"""How many times its limit a fork may take after its first result, to compare answers and to replay controls."""
_OF_AN_END: Fields = {"ended": int, "cpu": float, "left": bool}


class GarbageError(Exception):
    """Raised if the program wrote something other than a result."""


class Dialogue:
    """The messages of a process that is watched, until it has a result."""

    result: dict[str, Any] | None
    pending = memoryview(b"")
    """What is to be sent."""
    turn: Any = 0
    """The number of the call or the run that the limits of time are for."""
    times = 1
    """How many times the limit of time the current turn has."""
    spent = 0.0
    """Seconds that the program had worked when it was last looked at."""
    is_over = False
    """Whether whatever the program says now, its time was up before."""

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

    def end_time(self) -> None:
        """Note that the program was told that its time is up; it has a second to go on."""

    def withdraw(self) -> None:
        """Withdraw the last message, for which the program took too much memory."""
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

    def __init__(self, fd: int, parts: Iterable[str], most: float) -> None:
        """`most`: see `MOST_SECONDS`; math.inf: no other job may have the rest."""
        super().__init__(fd, MAX_REPLIES)
        self.hello: bytes | None = None
        self.replies: list[bytes] = []
        self._parts, self._sent = list(parts), 0
        self._bytes, self._most = 0, most

    @property
    def result(self) -> dict[str, Any] | None:  # type: ignore[override]
        """The messages received so far; None before the first one."""
        return None if self.hello is None else {"said": b"\n".join([self.hello, *self.replies])}

    @property
    def has_failed(self) -> bool:
        """Whether the program could not be loaded, so that no answer follows."""
        return self.hello is not None and wire.is_failure(self.hello)

    def _take(self, data: bytes) -> bool:
        """Add a message; return True if nothing more is asked. Raises GarbageError."""
        if self.replies and self._most < math.inf and self._bytes + len(data) > MAX_REPLIES:
            return True  # another job has room for it, because each job gives at least one answer
        self._bytes += len(data)
        # Grade's own processes write printable ASCII. So a message is a line.
        if self._bytes > MAX_REPLIES or not (data.isascii() and data.decode().isprintable()):
            raise GarbageError
        if self.hello is None:
            self.hello = data
        else:
            self.replies.append(data)
        return self.has_failed or len(self.replies) >= len(self._parts) or self.interrupt()

    def _add(self, batch: bytearray, encoded: bytes) -> None:
        batch += struct.pack(">I", len(encoded)) + encoded
        self._sent += 1

    def withdraw(self) -> None:
        del self.replies[-1:]

    def interrupt(self) -> bool:
        return bool(self.replies) and self.spent > self._most


MOST_AHEAD, MOST_RUNS_AHEAD = 64, 32
_BATCH_BYTES = 64 << 10
MOST_SECONDS = 60.0
"""After so much work on calls or runs that have limits of their own, nothing more is asked: the grader has a job for
the rest. That job also gets an answer for which there is no room beside the ones before."""
QUICK_SECONDS = 0.05
"""After calls that took longer, all come one by one."""


class LockStep(_Replies):
    """Sends calls one after the other, each only after the previous one was answered.

    Calls of functions with arguments that are data are sent in batches: such arguments are the same whatever the
    answers are. Switching between processes would take longer than most calls. The first batches are small, because a
    program that hangs mostly hangs in its first call. After the first slow batch, calls come one by one.

    A program whose time is up sends the answers that it still has, and an empty message.
    """

    def __init__(
        self,
        fd: int,
        calls: Iterable[str],
        *,
        each: int = 0,
        known: Collection[str] = (),
        most: float = MOST_SECONDS,
    ) -> None:
        """`each`: the limit of time is for each call, and of an answer with more bytes only a digest is kept.

        `known`: digests of expected answers. `most`: see `MOST_SECONDS`.
        """
        super().__init__(fd, calls, most if each else math.inf)
        self._size, self._begun, self._is_quick = 1, time.monotonic(), True
        self._each, self._known = each, known
        self._late: list[bytes] = []
        """The answers that came after its time was up, and before it said that these are all."""
        self._has_said_all = False
        self._goes_on = False

    def end_time(self) -> None:
        self.is_over, self.pending = True, memoryview(b"")

    @property
    def is_unsure(self) -> bool:
        """Whether it is unknown in which call the program used up its time, or if it would stop when told to."""
        return self._goes_on or (not self._has_said_all and self._sent - len(self.replies) > 1)

    @property
    def turn(self) -> int:
        """The number of what the limit of time is for: loading the program, then each call.

        Another job for the rest of the calls loads it again, and no call may have less time for this.
        """
        return len(self.replies) + (self.hello is not None) if self._each else 0

    def feed(self, part: bytes) -> bool:
        for whole in self._complete(part):
            if self.is_over:
                if self._take_late(whole):
                    return True
                continue
            if not whole:
                continue
            if self._take(self._shortened(whole)):
                return True
            # An answer that arrived before its call was sent could not depend on the call.
            if len(self.replies) >= self._sent:
                self._send_batch()
        return False

    def _take_late(self, whole: bytes) -> bool:
        """Process a message that came after the program's time was up; return True if it goes on nevertheless."""
        if whole and not self._has_said_all and len(self._late) < self._sent - len(self.replies) - 1:
            self._late.append(self._shortened(whole))
        elif whole:
            self._goes_on = True
        else:
            self._has_said_all = True
            for data in self._late:
                self._take(data)
        return self._goes_on

    def _shortened(self, whole: bytes) -> bytes:
        """Return an answer, or its digest if this says as much: a large text, or an answer that is known."""
        if not self._each or len(whole) <= LARGE:
            return whole
        short = wire.digest(whole)
        is_enough = wire.is_text(whole) or short.decode() in self._known
        return short if is_enough or len(whole) > self._each else whole

    def _send_batch(self) -> None:
        batch = bytearray()
        now = time.monotonic()
        self._is_quick = self._is_quick and now - self._begun < QUICK_SECONDS
        end = self._sent + (self._size if self._is_quick else 1)
        self._size, self._begun = min(2 * self._size, MOST_AHEAD), now
        for call in self._parts[self._sent : end]:
            encoded = call.encode()
            self._add(batch, encoded)
            if len(batch) > _BATCH_BYTES:
                break
        self.pending = memoryview(bytes(batch))


class ScriptRuns(_Replies):
    """Sends inputs, some ahead, and collects what the runs with them printed. Each run has its own limits."""

    def __init__(self, fd: int, inputs: Iterable[str], most: float = MOST_SECONDS) -> None:
        """`most`: see `MOST_SECONDS`."""
        super().__init__(fd, inputs, most)

    @property
    def turn(self) -> int:
        """The number of the run that the program is in."""
        return len(self.replies)

    def feed(self, part: bytes) -> bool:
        if any(map(self._take, self._complete(part))):
            return True
        if self.hello is not None and not self.pending:
            self._send_inputs()
        return False

    def _send_inputs(self) -> None:
        batch = bytearray()
        end = min(len(self.replies) + MOST_RUNS_AHEAD, len(self._parts))
        while self._sent < end and len(batch) < _BATCH_BYTES:
            self._add(batch, self._parts[self._sent].encode("utf-8", "surrogatepass"))
        self.pending = memoryview(bytes(batch))


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
