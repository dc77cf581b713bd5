"""Framed messages to and from a supervisor over a byte stream (the other end is grade_sandbox/wire.py)."""

from __future__ import annotations

import contextlib
import json
import selectors
import struct
import time
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, cast

from grader.files import compact_json
from grader.sandbox.interface import Answer, SupervisorLostError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from socket import socket
    from typing import IO

    from grade_sandbox.jobs import Job

    Waited = int | socket | IO[bytes]


def wait_ready(timeout: float, *, readable: Sequence[Waited] = (), writable: Sequence[Waited] = ()) -> bool:
    """Return True as soon as one of the files can be read or written, or has ended; False after `timeout` seconds.

    Raises ValueError if one is closed.
    """
    events_of = dict.fromkeys(readable, selectors.EVENT_READ)
    for file in writable:
        events_of[file] = events_of.get(file, 0) | selectors.EVENT_WRITE
    with selectors.PollSelector() as poll:
        for file, events in events_of.items():
            poll.register(file, events)
        return bool(poll.select(max(0.0, timeout)))


MAX_FRAME = 64 << 20


def wait(reading: Waited, writing: Waited | None, timeout: float) -> None:
    """Return when one of two files of a stream can be read or written; raises TimeoutError, ValueError or OSError."""
    if not wait_ready(timeout, readable=[reading], writable=[] if writing is None else [writing]):
        raise TimeoutError(f"no data went through for {timeout:.0f} s")


def pack_job(job: Job) -> bytes:
    """Return a job as bytes: the length of its JSON, the JSON, and the bytes that it has, as they are."""
    parts: list[bytes] = []
    start = 0

    def put(part: bytes) -> dict[str, list[int]]:
        nonlocal start
        parts.append(part)
        start += len(part)
        return {"part": [start - len(part), start]}

    head = json.dumps(job, separators=(",", ":"), default=put).encode()
    return b"".join([struct.pack(">I", len(head)), head, *parts])


def unpack_job(data: bytes) -> Job:
    """Return the job that `pack_job` has made bytes of; raises ValueError.

    In its JSON, `{"part": [begin, end]}` stands for bytes that come after it.
    """
    start = 4 + int.from_bytes(data[:4], "big")

    def restore(value: dict[str, Any]) -> Any:
        if value.keys() != {"part"}:
            return value
        begin, end = value["part"]
        return data[start + begin : start + end]

    return cast("Job", json.loads(data[4:start], object_hook=restore))


def _parse_answer(data: bytes) -> Answer:
    """Return the answer in a message; raises ValueError.

    A message is the length of its JSON, the JSON, and what a program wrote, as it is: its transcript.
    """
    end = 4 + int.from_bytes(data[:4], "big")
    message = compact_json.decode(data[4:end], replace_lone_surrogates=True)
    if not isinstance(message, dict):
        raise ValueError("not an object")  # noqa: TRY004 - of JSON
    program_answer = message.get("answer")
    if isinstance(program_answer, dict) and "transcript" in program_answer:
        program_answer["transcript"] = data[end:]
    return message


class Channel(ABC):
    """Sends jobs and receives answers, over a byte stream in both directions."""

    def __init__(self) -> None:
        self._received = bytearray()

    @abstractmethod
    def write(self, data: memoryview) -> int:
        """Send as many bytes as fit now and return their number, which can be 0; raises OSError."""

    @abstractmethod
    def wait(self, timeout: float) -> None:
        """Return when bytes can be sent or received; raises TimeoutError after `timeout` seconds, or OSError."""

    @abstractmethod
    def read(self, timeout: float) -> bytes:
        """Return some bytes, b"" at the end of the stream; raises TimeoutError or OSError."""

    def send(self, job: Job, timeout: float) -> None:
        """Send one message; raises SupervisorLostError, also if nothing can be sent or received for `timeout` seconds.

        It also receives while it sends. A supervisor takes no more jobs while its answer is not read, so if both sides
        only wrote, both would wait for ever.
        """
        data = pack_job(job)
        view = memoryview(struct.pack(">I", len(data)) + data)
        try:
            while view := view[self.write(view) :]:
                self.wait(timeout)
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
            return _parse_answer(data)
        except (ValueError, RecursionError) as error:
            raise SupervisorLostError(f"not a message: {error}") from error

    def _take(self, count: int, deadline: float) -> bytes:
        """Return the next bytes, exactly so many; raises SupervisorLostError at the deadline."""
        while len(self._received) < count:
            try:
                self._read(max(0.0, deadline - time.monotonic()))
            except (OSError, ValueError) as error:
                raise SupervisorLostError(f"no answer: {error}") from error
        data = bytes(self._received[:count])
        del self._received[:count]
        return data

    def _read(self, timeout: float) -> None:
        part = self.read(timeout)
        if not part:
            raise SupervisorLostError("the supervisor has ended")
        self._received += part
