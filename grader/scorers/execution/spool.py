"""Answers, and jobs that were not sent yet, in a private temporary file."""

from __future__ import annotations

import hashlib
import tempfile
import threading
import zlib
from typing import TYPE_CHECKING, Any, NamedTuple

from grader.files import compact_json
from grader.sandbox.answer import Answers, ProcessEvidence

if TYPE_CHECKING:
    from typing import Self


class StoredAnswers(NamedTuple):
    """A program's answers in the spool, and what is known of them without reading them."""

    key: str
    digest: str
    """Of all its messages: equal ones are the same answers."""
    evidence: ProcessEvidence
    reply_count: int
    may_stop_elsewhere: bool
    """Whether the official run may not stop where it was stopped: `Answers.unsure`."""


class Spool:
    """Answers and other values by key, for any number of threads. Use it as a context manager."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="grade-answers-")  # noqa: SIM115 - closed by __exit__
        self._extents: dict[str, tuple[int, int]] = {}
        """Key -> offset and length in the file."""
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def put(self, key: str, answers: Answers) -> StoredAnswers:
        """Store answers."""
        self._write(key, answers.transcript)
        digest = hashlib.sha256(answers.transcript).hexdigest()
        return StoredAnswers(key, digest, answers.evidence, answers.transcript.count(b"\n"), answers.unsure)

    def get(self, stored: StoredAnswers) -> Answers:
        """Return stored answers."""
        return Answers(evidence=stored.evidence, transcript=self._read(stored.key), unsure=stored.may_stop_elsewhere)

    def store(self, key: str, value: object) -> None:
        """Store a value of JSON."""
        self._write(key, compact_json.encode(value))

    def load(self, key: str) -> Any:
        """Return a stored value."""
        return compact_json.decode(self._read(key))

    def _write(self, key: str, content: bytes) -> None:
        data = zlib.compress(content, 1)
        with self._lock:
            self._extents[key] = self._file.seek(0, 2), len(data)
            self._file.write(data)

    def _read(self, key: str) -> bytes:
        with self._lock:
            start, length = self._extents[key]
            self._file.seek(start)
            data = self._file.read(length)
        return zlib.decompress(data)

    def forget(self, key: str) -> None:
        """Forget a value. Its place in the file stays used."""
        self._extents.pop(key, None)
