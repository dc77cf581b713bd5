"""Verdicts by content. The same program under the same conditions runs only once, and interrupted runs can resume.

It is an SQLite file in the user's cache folder, and two graders may use it at the same time. Only a supervisor's
answers are stored, never an infrastructure failure.
"""

from __future__ import annotations

import contextlib
import hashlib
import time
from typing import TYPE_CHECKING

from grader import resources
from grader.files import compact_json
from grader.files.key_value import KeyValueFile

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from grader.sandbox.interface import Answer, Job, Limits

FLUSH_ROWS = 64
FLUSH_SECONDS = 2.0
MAX_ROWS = 1_000_000
"""About 600 MB, programs included; above this, the oldest tenth is removed."""
TRIM_ROWS = MAX_ROWS // 20
"""Number of new rows between two checks of the size, because a pool for rewards may never close its cache."""


def default_path() -> Path:
    """Return the path of the cache's file."""
    return resources.cache_folder() / "verdicts-2.sqlite3"


def key(job: Job, identity: str, limits: Limits) -> str:
    """Return the key of a verdict: a hash of everything that can change it."""
    digest = hashlib.sha256(compact_json.encode({**job, "id": 0}, in_order=True))
    digest.update(f"\0{identity}\0{limits.memory_bytes}".encode())
    return digest.hexdigest()


class VerdictCache:
    """A persistent map from keys to answers, for one thread."""

    def __init__(self, path: Path | None) -> None:
        """Open the cache at `path`; None: store nothing."""
        self._file = KeyValueFile(path, "verdict cache")
        self._pending: dict[bytes, bytes] = {}
        self._flushed = time.monotonic()
        self._untrimmed = 0

    @property
    def problem(self) -> str:
        """Why the cache cannot be used; empty if it can."""
        return self._file.problem

    def has(self, name: str) -> bool:
        """Whether an answer is stored."""
        return self._file.has(bytes.fromhex(name))

    def get(self, names: Sequence[str]) -> dict[str, Answer]:
        """Return the stored answers by name, in the order of the names."""
        kept = self._file.find(map(bytes.fromhex, names))
        answers: dict[str, Answer] = {}
        for name in names:
            with contextlib.suppress(ValueError, KeyError):
                answer = compact_json.decode(kept[bytes.fromhex(name)])
                if isinstance(answer, dict):
                    answers[name] = answer
        return answers

    def put(self, name: str, answer: Answer) -> None:
        """Store an answer. It is written within seconds, or at once by `flush`."""
        self._pending[bytes.fromhex(name)] = compact_json.encode(answer)
        if len(self._pending) >= FLUSH_ROWS or time.monotonic() - self._flushed > FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write pending answers. If the disk is full, the cache loses rows, but the run continues."""
        if self._pending:
            self._file.keep(self._pending.items())
            self._untrimmed += len(self._pending)
        if self._untrimmed >= TRIM_ROWS:
            self._file.trim(MAX_ROWS)
            self._untrimmed = 0
        self._pending.clear()
        self._flushed = time.monotonic()

    def close(self) -> None:
        """Write pending answers and close the file."""
        self.flush()
        self._file.trim(MAX_ROWS)
        self._file.close()

    def size(self) -> int:
        """Return the number of stored verdicts."""
        return self._file.size()

    def clear(self) -> int:
        """Remove all verdicts; return their number. Raises InfrastructureError."""
        return self._file.clear()
