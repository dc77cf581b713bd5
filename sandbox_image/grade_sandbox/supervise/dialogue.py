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
MAX_REPLY_BYTES = 24 << 20
"""Bytes of a program's messages in one job."""
LARGE = 1 << 20
"""Bytes of an answer that is kept in any case."""
LATER_TIME_FACTOR = 10
"""How many times its limit of time a fork may take for each later result: it compares answers and replays controls."""
_END_FIELDS: Fields = {"status": int, "cpu": float, "left_files": bool}


class GarbageError(Exception):
    """Raised if the program wrote something other than a result."""


class Dialogue:
    """The messages of a process that is watched, until it has a result."""

    result: dict[str, Any] | None
    pending = memoryview(b"")
    """What is to be sent."""
    turn: Any = 0
    """The number of what the limits of time are for, such as a call or a run: each turn has them anew."""
    time_factor = 1
    """How many times the limit of time the current turn has."""
    spent_seconds = 0.0
    """Seconds that the program had worked when its limits were last checked."""
    is_time_up = False
    """Whether the program was told that its time is up. Then it only sends the answers that it has already."""

    def __init__(self, fd: int, limit: int) -> None:
        """`limit`: the maximum size of a message."""
        self.fd = fd
        self._buffer, self._limit = bytearray(), limit

    def feed(self, part: bytes) -> bool:
        """Process received bytes; return True when the dialogue is complete, so that nothing more is read.

        Raises GarbageError.
        """
        raise NotImplementedError

    def _take_messages(self, part: bytes) -> list[bytes]:
        """Return the messages that are now complete, as bytes."""
        self._buffer += part
        messages = []
        while len(self._buffer) >= 4:
            (length,) = struct.unpack(">I", self._buffer[:4])
            if length > self._limit:
                raise GarbageError
            if len(self._buffer) < 4 + length:
                break
            messages.append(bytes(self._buffer[4 : 4 + length]))
            del self._buffer[: 4 + length]
        return messages

    def continues_elsewhere(self) -> bool:
        """Whether to end the dialogue although the program is in a call, because another job makes this call again."""
        return False

    def note_alarm(self) -> None:
        """Note that the program was told that its time is up; it has a second to go on."""

    def withdraw_last(self) -> None:
        """Drop the last message, for which the program took too much memory."""
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
        for data in self._take_messages(part):
            self.result = _parse_message(data, self._fields)
            return True
        return False


class Results(OneResult):
    """Waits for the results of a fork, each with limits of its own, and for the message about its end.

    `result` has the fields of all results so far. Each result begins a new turn: see `LATER_TIME_FACTOR`.
    """

    def __init__(self, fd: int, fields: Fields, limit: int = MAX_RESULT) -> None:
        super().__init__(fd, fields | _END_FIELDS, limit)
        self.end_message: dict[str, Any] | None = None

    def feed(self, part: bytes) -> bool:
        for data in self._take_messages(part):
            message = _parse_message(data, self._fields)
            if "status" in message:
                self.end_message = message
                return True
            self.result = {**(self.result or {}), **message}
            self.turn, self.time_factor = self.turn + 1, LATER_TIME_FACTOR
        return False


class _Replies(Dialogue):
    """What a program answers: its first message, and a reply to each request (a call, or an input)."""

    def __init__(self, fd: int, requests: Iterable[str], max_seconds: float) -> None:
        """`max_seconds`: see `MAX_SECONDS`; math.inf: the calls cannot be continued in another job."""
        super().__init__(fd, MAX_REPLY_BYTES)
        self.hello: bytes | None = None
        self.replies: list[bytes] = []
        self._requests, self._sent = list(requests), 0
        """All requests, and the number of those that were sent."""
        self._bytes, self._max_seconds = 0, max_seconds

    @property
    def result(self) -> dict[str, Any] | None:  # type: ignore[override]
        """The messages received so far; None before the first one."""
        return None if self.hello is None else {"transcript": b"\n".join([self.hello, *self.replies])}

    def _take(self, data: bytes) -> bool:
        """Add a message; return True if nothing more is asked. Raises GarbageError.

        A reply for which there is no room beside earlier ones is dropped if another job can ask for it again.
        """
        can_continue = self._max_seconds < math.inf
        if self.replies and can_continue and self._bytes + len(data) > MAX_REPLY_BYTES:
            return True
        self._bytes += len(data)
        # Grade's own processes write printable ASCII. So a message is a line.
        if self._bytes > MAX_REPLY_BYTES or not (data.isascii() and data.decode().isprintable()):
            raise GarbageError
        if self.hello is None:
            self.hello = data
        else:
            self.replies.append(data)
        return wire.is_failure(self.hello) or len(self.replies) >= len(self._requests) or self.continues_elsewhere()

    def _queue_requests(self, end: int) -> None:
        """Put the next requests before number `end` into `pending`, as many as fit; they count as sent."""
        batch = bytearray()
        while self._sent < min(end, len(self._requests)) and len(batch) < _BATCH_BYTES:
            encoded = self._requests[self._sent].encode("utf-8", "surrogatepass")
            batch += struct.pack(">I", len(encoded)) + encoded
            self._sent += 1
        self.pending = memoryview(bytes(batch))

    def withdraw_last(self) -> None:
        del self.replies[-1:]

    def continues_elsewhere(self) -> bool:
        return bool(self.replies) and self.spent_seconds > self._max_seconds


MAX_CALLS_AHEAD, MAX_RUNS_AHEAD = 64, 32
_BATCH_BYTES = 64 << 10
MAX_SECONDS = 60.0
"""After so much work on calls or runs that have limits of their own, nothing more is asked: the grader makes another
job of the remaining ones. That job also gets an answer for which there is no room beside the ones before."""
QUICK_SECONDS = 0.05
"""After a batch that took longer, calls are sent one by one."""


class LockStep(_Replies):
    """Sends calls, and the next ones only after the previous ones were answered.

    Quick calls are sent in batches, because switching between processes would take longer than most calls. The first
    batches are small, because a program that hangs mostly hangs in its first call. After the first slow batch, calls
    are sent one by one.

    A program whose time is up sends the answers that it still has, and an empty message.
    """

    def __init__(
        self,
        fd: int,
        calls: Iterable[str],
        *,
        max_answer_bytes: int = 0,
        expected_digests: Collection[str] = (),
        max_seconds: float = MAX_SECONDS,
    ) -> None:
        """`max_answer_bytes`: of a larger answer only a digest is kept; 0: every answer is kept.

        If it is given, the calls are inputs: each has the whole limit of time, and `max_seconds` holds (see
        `MAX_SECONDS`). Else they are the calls of tests, and share one limit. `expected_digests`: of expected answers.
        """
        self._has_limit_per_call = max_answer_bytes > 0
        super().__init__(fd, calls, max_seconds if self._has_limit_per_call else math.inf)
        self._batch_size, self._batch_start, self._is_quick = 1, time.monotonic(), True
        self._max_answer_bytes, self._expected_digests = max_answer_bytes, expected_digests
        self._late_answers: list[bytes] = []
        """The answers that came after its time was up, and before the empty message."""
        self._has_finished = False
        """Whether the empty message has come: the program has sent all answers that it had."""
        self._ignores_alarm = False
        """Whether the program went on although its time was up."""

    def note_alarm(self) -> None:
        self.is_time_up, self.pending = True, memoryview(b"")

    @property
    def is_unsure(self) -> bool:
        """Whether it is unknown in which call the program used up its time, or if it would stop when told to."""
        return self._ignores_alarm or (not self._has_finished and self._sent - len(self.replies) > 1)

    @property
    def turn(self) -> int:
        """The number of what the limit of time is for: loading the program, then each call; 0 if all share one limit.

        Loading is a turn of its own: another job that continues the calls loads the program again, too, and each call
        has the same time there.
        """
        is_loaded = self.hello is not None  # counts as 1
        return is_loaded + len(self.replies) if self._has_limit_per_call else 0

    def feed(self, part: bytes) -> bool:
        """Process received bytes; return True if no more is read: all is answered, or the program ignores the alarm."""
        for message in self._take_messages(part):
            if self.is_time_up:
                if self._take_late(message):
                    return True
                continue
            if not message:  # The program has sent the alarm to itself; no limit is exceeded.
                continue
            if self._take(self._digest_if_large(message)):
                return True
            # An answer that arrived before its call was sent counts, too: it could not depend on the call.
            if len(self.replies) >= self._sent:
                self._queue_batch()
        return False

    def _take_late(self, message: bytes) -> bool:
        """Process a message that came after the program's time was up; return True if the program ignores the alarm.

        After the alarm it sends the answers that it has, then an empty message as the last one. If it sends more, it
        ignores the alarm.
        """
        # The time was up within one of the calls that were sent, so at least this one has no answer.
        max_late_answers = self._sent - len(self.replies) - 1
        if message and not self._has_finished and len(self._late_answers) < max_late_answers:
            self._late_answers.append(self._digest_if_large(message))
        elif message:
            self._ignores_alarm = True
        else:
            self._has_finished = True
            for answer in self._late_answers:
                self._take(answer)
        return self._ignores_alarm

    def _digest_if_large(self, answer: bytes) -> bytes:
        """Return a digest in place of a large answer if nothing else of it is needed, or if it is too large.

        The digest is enough for a text, which is only compared for equality, and for what equals an expected answer.
        """
        if not self._max_answer_bytes or len(answer) <= LARGE:
            return answer
        digest = wire.digest(answer)
        is_enough = wire.is_text(answer) or digest.decode() in self._expected_digests
        return digest if is_enough or len(answer) > self._max_answer_bytes else answer

    def _queue_batch(self) -> None:
        """Let the next calls be sent: twice as many as the last time while they are answered quickly, else one."""
        now = time.monotonic()
        self._is_quick = self._is_quick and now - self._batch_start < QUICK_SECONDS
        size = self._batch_size if self._is_quick else 1
        self._batch_size, self._batch_start = min(2 * self._batch_size, MAX_CALLS_AHEAD), now
        self._queue_requests(self._sent + size)


class ScriptRuns(_Replies):
    """Sends inputs, some ahead, and collects what the runs with them printed. Each run has its own limits."""

    def __init__(self, fd: int, inputs: Iterable[str], max_seconds: float = MAX_SECONDS) -> None:
        """`max_seconds`: see `MAX_SECONDS`."""
        super().__init__(fd, inputs, max_seconds)

    @property
    def turn(self) -> int:
        """The number of the run that the program is in."""
        return len(self.replies)

    def feed(self, part: bytes) -> bool:
        if any(map(self._take, self._take_messages(part))):
            return True
        if self.hello is not None and not self.pending:
            self._queue_requests(len(self.replies) + MAX_RUNS_AHEAD)
        return False


def _parse_message(data: bytes, fields: Fields) -> dict[str, Any]:
    try:
        message = json.loads(data)
    except (ValueError, RecursionError):
        raise GarbageError from None
    if not isinstance(message, dict) or any(type(value) is not fields.get(name) for name, value in message.items()):
        raise GarbageError
    return message
