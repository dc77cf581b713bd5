"""Verdicts by content. The same program under the same conditions runs only once, and interrupted runs can resume.

It is an SQLite file in the user's cache folder, and two graders may use it at the same time. Only a supervisor's
answers are stored, never an infrastructure failure.
"""

from __future__ import annotations

import contextlib
import hashlib
import threading
import time
import zlib
from typing import TYPE_CHECKING, cast

from cachetools import LRUCache

from grader import resources
from grader.files import compact_json
from grader.files.key_value import KeyValueFile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from grader.sandbox.interface import Answer, Limits

FLUSH_ROWS = 64
FLUSH_SECONDS = 2.0
MAX_BYTES = 600 << 20
"""Size of the file, programs included; above this, the oldest verdicts are removed."""
MEMORY_BYTES = 8 << 20
"""Size of a cache in memory: about 12,000 short programs. Equal samples of a batch hit it."""
ENTRY_BYTES = 330
"""What an entry in memory needs besides its answer, as measured."""
TRIM_BYTES = MAX_BYTES // 20
"""New bytes between two checks of the size, because a pool for rewards may never close its cache."""


def default_path() -> Path:
    """Return the path of the cache's file."""
    return resources.cache_folder() / "verdicts-2.sqlite3"


def cache_key(job: Mapping[str, object], identity: str, limits: Limits) -> str:
    """Return the key of a verdict: a hash of all that can change it. The job's id cannot; its time limits are in it."""
    digest = hashlib.sha256(compact_json.encode({**job, "id": 0}, sort_keys=True))
    digest.update(f"\0{identity}\0{limits.sandbox_bytes}".encode())
    return digest.hexdigest()


class MemoryCache:
    """A map from keys to answers, in memory with a bound: what was not used for the longest time makes room."""

    problem = ""

    def __init__(self) -> None:
        self._answers = LRUCache[str, bytes](MEMORY_BYTES, getsizeof=lambda data: len(data) + ENTRY_BYTES)
        """Encoded answers."""
        self._lock = threading.Lock()

    def has(self, key: str) -> bool:
        """Whether an answer is stored."""
        return key in self._answers

    def get(self, keys: Sequence[str]) -> dict[str, Answer]:
        """Return the stored answers by key, in the order of the keys."""
        with self._lock:
            stored = {key: data for key in keys if (data := self._answers.get(key)) is not None}
        return {key: cast("Answer", compact_json.decode(data)) for key, data in stored.items()}

    def put(self, key: str, answer: Answer) -> None:
        """Store an answer."""
        with self._lock, contextlib.suppress(ValueError):  # one that is larger than the whole
            self._answers[key] = compact_json.encode(answer)

    def close(self) -> None:
        """Forget everything."""
        with self._lock:
            self._answers.clear()


class VerdictCache:
    """A persistent map from keys to answers, for any number of threads."""

    def __init__(self, path: Path | None) -> None:
        """Open the cache at `path`; None: store nothing."""
        self._file = KeyValueFile(path, "verdict cache")
        self._pending: dict[bytes, bytes] = {}
        self._last_flush = time.monotonic()
        self._bytes_since_trim = 0
        self._lock = threading.Lock()

    @property
    def problem(self) -> str:
        """Why the cache cannot be used; empty if it can."""
        return self._file.problem

    def has(self, key: str) -> bool:
        """Whether an answer is stored."""
        return self._file.has(bytes.fromhex(key))

    def get(self, keys: Sequence[str]) -> dict[str, Answer]:
        """Return the stored answers by key, in the order of the keys."""
        stored = self._file.find(map(bytes.fromhex, keys))
        answers: dict[str, Answer] = {}
        for key in keys:
            with contextlib.suppress(ValueError, KeyError, zlib.error):
                answer = compact_json.decode(zlib.decompress(stored[bytes.fromhex(key)]))
                if isinstance(answer, dict):
                    answers[key] = answer
        return answers

    def put(self, key: str, answer: Answer) -> None:
        """Store an answer. It is written within seconds, or at once by `flush`."""
        with self._lock:
            self._pending[bytes.fromhex(key)] = zlib.compress(compact_json.encode(answer), 1)
            if len(self._pending) >= FLUSH_ROWS or time.monotonic() - self._last_flush > FLUSH_SECONDS:
                self._flush()

    def flush(self) -> None:
        """Write pending answers. If the disk is full, the cache loses rows, but the run continues."""
        with self._lock:
            self._flush()

    def _flush(self) -> None:
        """Write pending answers; after every TRIM_BYTES, also remove old ones. Called with the lock held."""
        if self._pending:
            self._file.store(self._pending.items())
            self._bytes_since_trim += sum(map(len, self._pending.values()))
        if self._bytes_since_trim >= TRIM_BYTES:
            self._file.trim(MAX_BYTES)
            self._bytes_since_trim = 0
        self._pending.clear()
        self._last_flush = time.monotonic()

    def close(self) -> None:
        """Write pending answers and close the file."""
        self.flush()
        self._file.trim(MAX_BYTES)
        self._file.close()

    def size(self) -> int:
        """Return the number of stored verdicts."""
        return self._file.size()

    def clear(self) -> int:
        """Remove all verdicts; return their number. Raises InfrastructureError."""
        return self._file.clear()
