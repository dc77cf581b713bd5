"""Verdicts by content: the same program under the same conditions is not run twice, which is also how a run resumes.

SQLite in the user's cache folder; two graders may use it at once. Only what a supervisor really said is kept, never an
infrastructure failure.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
import time
from typing import TYPE_CHECKING

from grader import resources
from grader.errors import InfrastructureError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from grader.sandbox.interface import Answer, Job, Limits

FLUSH_ROWS = 64
FLUSH_SECONDS = 2.0
MAX_ROWS = 1_000_000
"""About 600 MB; beyond it the oldest tenth goes."""
_SCHEMA = "CREATE TABLE IF NOT EXISTS verdicts (key BLOB PRIMARY KEY, answer BLOB NOT NULL, at INTEGER NOT NULL)"


def default_path() -> Path:
    """Return the cache's file."""
    return resources.cache_folder() / "verdicts.sqlite3"


def key(job: Job, identity: str, limits: Limits) -> str:
    """Return the name of a verdict: a hash of everything that can change it."""
    digest = hashlib.sha256(json.dumps({**job, "id": 0}, sort_keys=True).encode())
    digest.update(f"\0{identity}\0{limits.memory_bytes}".encode())
    return digest.hexdigest()


class VerdictCache:
    """A persistent map from keys to answers; one thread's. A cache that cannot be used is one that has nothing."""

    def __init__(self, path: Path | None) -> None:
        """Open the cache at `path`; None: keep nothing."""
        self._pending: dict[str, bytes] = {}
        self._flushed = time.monotonic()
        self._connection: sqlite3.Connection | None = None
        if path is not None:
            with contextlib.suppress(sqlite3.Error, OSError):
                self._connection = _open(path)

    def has(self, name: str) -> bool:
        """Whether an answer is kept."""
        if self._connection is None:
            return False
        with contextlib.suppress(sqlite3.Error):
            query = "SELECT 1 FROM verdicts WHERE key = ?"
            return self._connection.execute(query, (bytes.fromhex(name),)).fetchone() is not None
        return False

    def get(self, name: str) -> Answer | None:
        """Return a kept answer."""
        if self._connection is None:
            return None
        with contextlib.suppress(sqlite3.Error, ValueError):
            row = self._connection.execute(
                "SELECT answer FROM verdicts WHERE key = ?", (bytes.fromhex(name),)
            ).fetchone()
            if row is not None:
                answer: Answer = json.loads(row[0])
                return answer
        return None

    def put(self, name: str, answer: Answer) -> None:
        """Keep an answer; written within seconds, or at once by `flush`."""
        if self._connection is None:
            return
        self._pending[name] = json.dumps(answer, separators=(",", ":")).encode()
        if len(self._pending) >= FLUSH_ROWS or time.monotonic() - self._flushed > FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write what is pending. A full disk loses the cache's rows, not the run."""
        if self._connection is not None and self._pending:
            now = int(time.time())
            rows = [(bytes.fromhex(name), answer, now) for name, answer in self._pending.items()]
            with contextlib.suppress(sqlite3.Error), self._connection:
                self._connection.executemany("INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?)", rows)
        self._pending.clear()
        self._flushed = time.monotonic()

    def close(self) -> None:
        """Write what is pending and close."""
        self.flush()
        if self._connection is not None:
            if self.size() > MAX_ROWS:
                with contextlib.suppress(sqlite3.Error), self._connection:
                    self._connection.execute(
                        "DELETE FROM verdicts WHERE rowid IN (SELECT rowid FROM verdicts ORDER BY at LIMIT ?)",
                        (MAX_ROWS // 10,),
                    )
            self._connection.close()
            self._connection = None

    def size(self) -> int:
        """Return how many verdicts are kept."""
        if self._connection is None:
            return 0
        with contextlib.suppress(sqlite3.Error):
            return int(self._connection.execute("SELECT count(*) FROM verdicts").fetchone()[0])
        return 0

    def clear(self) -> int:
        """Forget everything; return how many verdicts that were."""
        count = self.size()
        if self._connection is None:
            return count
        try:
            with self._connection:
                self._connection.execute("DELETE FROM verdicts")
            self._connection.execute("VACUUM")
        except sqlite3.Error as error:
            raise InfrastructureError(
                f"The cache could not be cleared ({error}). If no other grader is running, delete {default_path()}."
            ) from error
        return count


def _open(path: Path) -> sqlite3.Connection:
    """Open the file; one that is no data base, or a damaged one, is put aside and begun anew."""
    for attempt in (1, 2):
        connection = sqlite3.connect(path, timeout=30)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            with connection:
                connection.execute(_SCHEMA)
        except sqlite3.OperationalError:
            connection.close()
            raise
        except sqlite3.DatabaseError:
            connection.close()
            if attempt == 2:
                raise
            path.replace(path.with_name(f"{path.name}.damaged"))
        else:
            return connection
    raise AssertionError


def known(cache: VerdictCache, names: Iterable[str]) -> dict[str, Answer]:
    """Return the answers the cache has for these names."""
    return {name: answer for name in names if (answer := cache.get(name)) is not None}
