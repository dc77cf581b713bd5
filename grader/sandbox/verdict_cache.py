"""Verdicts by content: the same program under the same conditions is not run twice, which is also how a run resumes.

SQLite in the user's cache folder; two graders may use it at once. Only what a supervisor really said is kept, never an
infrastructure failure.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from typing import TYPE_CHECKING

from grader import resources
from grader.files.key_value import KeyValueFile

if TYPE_CHECKING:
    from pathlib import Path

    from grader.sandbox.interface import Answer, Job, Limits

FLUSH_ROWS = 64
FLUSH_SECONDS = 2.0
MAX_ROWS = 1_000_000
"""About 600 MB; beyond it the oldest tenth goes."""
TRIM_ROWS = MAX_ROWS // 20
"""So many new rows are written between two looks at the size: a pool for rewards may never close its cache."""


def default_path() -> Path:
    """Return the cache's file."""
    return resources.cache_folder() / "verdicts-2.sqlite3"


def key(job: Job, identity: str, limits: Limits) -> str:
    """Return the name of a verdict: a hash of everything that can change it."""
    digest = hashlib.sha256(json.dumps({**job, "id": 0}, sort_keys=True).encode())
    digest.update(f"\0{identity}\0{limits.memory_bytes}".encode())
    return digest.hexdigest()


class VerdictCache:
    """A persistent map from keys to answers; one thread's."""

    def __init__(self, path: Path | None) -> None:
        """Open the cache at `path`; None: keep nothing."""
        self._file = KeyValueFile(path, "verdict cache")
        self._pending: dict[bytes, bytes] = {}
        self._flushed = time.monotonic()
        self._untrimmed = 0

    @property
    def problem(self) -> str:
        """Why the cache cannot be used; empty: it can."""
        return self._file.problem

    def has(self, name: str) -> bool:
        """Whether an answer is kept."""
        return self._file.has(bytes.fromhex(name))

    def get(self, name: str) -> Answer | None:
        """Return a kept answer."""
        digest = bytes.fromhex(name)
        kept = self._file.find([digest]).get(digest)
        with contextlib.suppress(ValueError):
            if kept is not None:
                answer: Answer = json.loads(kept)
                return answer
        return None

    def put(self, name: str, answer: Answer) -> None:
        """Keep an answer; written within seconds, or at once by `flush`."""
        self._pending[bytes.fromhex(name)] = json.dumps(answer, separators=(",", ":")).encode()
        if len(self._pending) >= FLUSH_ROWS or time.monotonic() - self._flushed > FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write what is pending. A full disk loses the cache's rows, not the run."""
        if self._pending:
            self._file.keep(self._pending.items())
            self._untrimmed += len(self._pending)
        if self._untrimmed >= TRIM_ROWS:
            self._file.trim(MAX_ROWS)
            self._untrimmed = 0
        self._pending.clear()
        self._flushed = time.monotonic()

    def close(self) -> None:
        """Write what is pending and close."""
        self.flush()
        self._file.trim(MAX_ROWS)
        self._file.close()

    def size(self) -> int:
        """Return how many verdicts are kept."""
        return self._file.size()

    def clear(self) -> int:
        """Forget everything; return how many verdicts that were. Raises InfrastructureError."""
        return self._file.clear()
