"""`<stem>_requests.jsonl`: each reply is on disk before the next request is sent; only one run writes at a time."""

from __future__ import annotations

import contextlib
import os
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self

import msgspec

from grader.errors import InputError, UsageError
from grader.files.claims import Claims
from grader.models import messages as wire
from grader.models.messages import ImageFacts, Message
from grader.models.replies import Failure, Reply, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from grader.inference.plan import Conversation, Key, Step
    from grader.models.replies import Outcome


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of a log line that stay in memory."""

    qid: str
    sample: int
    stage: str
    model: str
    settings: dict[str, Any]
    prompt_sha256: str
    """Hash of everything that was sent, including images."""
    content: str | None
    """The unchanged reply; None if it is missing."""
    finish_reason: str = ""
    usage: Usage = Usage()
    error: str | None = None
    """Why the reply is missing; None if there is a reply."""
    error_kind: str = ""
    choices: int = 1

    @property
    def key(self) -> Key:
        """The key of the request."""
        return self.qid, self.sample, self.stage


class Record(Kept, frozen=True, kw_only=True):
    """A line of the log."""

    prompt: str
    """The sent text; several messages are marked with their roles."""
    images: list[ImageFacts] = []
    reasoning: str = ""
    seconds: float = 0.0
    attempts: int = 0
    served_model: str = ""
    """The model's name as the server sent it."""
    at: str = ""
    """Time of writing, in UTC."""


def make(conversation: Conversation, step: Step, model: str, messages: tuple[Message, ...], outcome: Outcome) -> Record:
    """Return the record of a request and its outcome."""
    return Record(
        qid=conversation.qid,
        sample=conversation.sample,
        stage=step.stage,
        model=model,
        settings=step.recorded_settings(),
        prompt=wire.plain_text(messages),
        prompt_sha256=wire.digest(messages),
        images=[wire.facts(image) for image in wire.images(messages)],
        content=outcome.content if isinstance(outcome, Reply) else None,
        reasoning=outcome.reasoning,
        finish_reason=outcome.finish_reason,
        usage=outcome.usage,
        seconds=outcome.seconds,
        attempts=outcome.attempts,
        error=outcome.reason if isinstance(outcome, Failure) else None,
        error_kind=outcome.kind if isinstance(outcome, Failure) else "",
        served_model=outcome.model if isinstance(outcome, Reply) else "",
        choices=outcome.choices if isinstance(outcome, Reply) else 0,
        at=datetime.now(UTC).isoformat(timespec="milliseconds"),
    )


def kept(record: Record) -> Kept:
    """Return the fields of a record that stay in memory."""
    return Kept(**{name: getattr(record, name) for name in Kept.__struct_fields__})


def encode(record: Record) -> bytes:
    """Return the record's line."""
    return msgspec.json.encode(record) + b"\n"


class Log:
    """An append-only file of records, locked against a second run. `append` may be called from many threads.

    An incomplete line of a killed run is removed: it was never used.
    """

    def __init__(self, path: Path, *, fresh: bool = False) -> None:
        self.path = path
        self.set_aside: Path | None = None
        """The new path of the earlier file, with `fresh`."""
        self._waiting: list[bytes] = []
        self._tickets = self._synced = 0
        self._lock, self._io = threading.Lock(), threading.Lock()
        self._broken: OSError | None = None
        self._claims = Claims()
        self.usage = Usage()
        """Tokens of all requests, including earlier runs."""
        self._file: int | None = None
        self.replies: dict[Key, Kept] = {}
        self.failures: dict[Key, Kept] = {}
        """Requests that failed and have no reply since then."""
        try:
            self._file = self._open(fresh=fresh)
            self._read()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def append(self, record: Record) -> None:
        """Write a record; return when it is on disk. Raises OSError. Nothing is written after `close`."""
        line = encode(record)
        with self._lock:
            self._waiting.append(line)
            self._tickets += 1
            ticket = self._tickets
        with self._io:
            # The first thread writes the records of all waiting threads.
            if self._synced < ticket and self._file is not None:
                self._write(self._file)
            if self._broken is not None:
                raise self._broken
            if self._file is not None:
                self._remember(kept(record))

    def close(self) -> None:
        """Close the file and release the lock."""
        with self._io:
            if self._file is not None:
                os.close(self._file)
            self._file = None
            self._claims.close()

    def _remember(self, record: Kept) -> None:
        self.usage += record.usage
        if record.content is None:
            self.failures[record.key] = record
        else:
            self.replies.setdefault(record.key, record)
            self.failures.pop(record.key, None)

    def _write(self, file: int) -> None:
        with self._lock:
            data, upto = b"".join(self._waiting), self._tickets
            self._waiting = []
        if self._broken is not None:
            return
        begin = os.lseek(file, 0, os.SEEK_END)
        try:
            left = memoryview(data)
            while left:
                left = left[os.write(file, left) :]
            os.fsync(file)
        except OSError as error:
            self._broken = error
            with contextlib.suppress(OSError):
                os.ftruncate(file, begin)
            return
        self._synced = upto

    def _open(self, *, fresh: bool) -> int:
        try:
            self._claims.take(self.path)
        except UsageError:
            raise UsageError(
                f"Another run is writing {self.path}. Wait until it has ended, or give this run another -o."
            ) from None
        if fresh and self.path.is_file() and self.path.stat().st_size:
            self.set_aside = free_name(self.path)
            self.path.rename(self.set_aside)
        try:
            return os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o666)
        except OSError as error:
            raise UsageError(f"-o: {self.path} cannot be written: {error.strerror}.") from error

    def _read(self) -> None:
        """Read the records of earlier runs."""
        assert self._file is not None
        data = self.path.read_bytes()
        whole = data.rfind(b"\n") + 1
        for record in _decoded(data[:whole], self.path):
            self._remember(record)
        if whole < len(data):
            os.ftruncate(self._file, whole)


def peek(path: Path) -> dict[Key, Kept]:
    """Return the replies in a log, without locking or changing it; empty if it does not exist."""
    if not path.is_file():
        return {}
    data = path.read_bytes()
    replies: dict[Key, Kept] = {}
    for record in _decoded(data[: data.rfind(b"\n") + 1], path):
        if record.content is not None:
            replies.setdefault(record.key, record)
    return replies


def _decoded(data: bytes, path: Path) -> Iterator[Kept]:
    decoder = msgspec.json.Decoder(Kept)
    for number, line in enumerate(data.splitlines(), 1):
        try:
            yield decoder.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise InputError(
                [f"{path}:{number}: not a record of `grade infer` ({error}); fix it, or use --fresh"]
            ) from error


def free_name(path: Path) -> Path:
    """Return an unused name beside `path`: `<stem>_old-1<suffix>`, ..."""
    for number in range(1, 10_000):
        name = path.with_name(f"{path.stem}_old-{number}{path.suffix}")
        if not name.exists():
            return name
    raise UsageError(f"{path.parent}: there are too many old files; remove some of {path.stem}_old-*.")
