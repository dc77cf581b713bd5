"""Readable judge replies, kept between runs: paying twice for one reply is waste, and a rerun must agree."""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from typing import TYPE_CHECKING, Self

import msgspec

from grader.errors import InfrastructureError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_SCHEMA = "CREATE TABLE IF NOT EXISTS reply (key BLOB PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID"
_BUSY_SECONDS = 30.0
_KEYS_A_QUERY = 500


def default_path() -> Path:
    """Return where the user's judge replies are kept."""
    import platformdirs

    return platformdirs.user_cache_path("grade") / "judge-v1.sqlite3"


def cache_key(endpoint: str, model: str, prompt: str) -> bytes:
    """Return what a reply is kept under: a digest, so that the file holds no prompt."""
    fields = (part.encode("utf-8", errors="replace").decode() for part in (endpoint, model, prompt))
    return hashlib.sha256(msgspec.json.encode(list(fields))).digest()


class ReplyCache:
    """A SQLite file of replies, safe for several threads and processes at once.

    It is an economy, not a need: where the file cannot be used, `problem` says why, nothing is found and
    nothing is kept.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or default_path()
        self.problem = ""
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            _prepare(self._connection)
        except (OSError, sqlite3.Error) as error:
            self._give_up(error)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def find(self, keys: Iterable[bytes]) -> dict[bytes, str]:
        """Return the kept replies of those keys that have one."""
        wanted = list(dict.fromkeys(keys))
        found: dict[bytes, str] = {}
        with self._lock:
            try:
                for start in range(0, len(wanted), _KEYS_A_QUERY):
                    found.update(self._select(wanted[start : start + _KEYS_A_QUERY]))
            except sqlite3.Error as error:
                self._give_up(error)
        return found

    def _select(self, keys: list[bytes]) -> list[tuple[bytes, str]]:
        if self._connection is None:
            return []
        marks = ",".join("?" * len(keys))
        query = f"SELECT key, text FROM reply WHERE key IN ({marks})"  # noqa: S608 - only question marks are put in
        return self._connection.execute(query, keys).fetchall()

    def keep(self, key: bytes, text: str) -> None:
        """Keep a reply; at once on disk for other processes, so that an interrupted run loses nothing."""
        with self._lock:
            if self._connection is None:
                return
            try:
                self._connection.execute("INSERT OR REPLACE INTO reply VALUES (?, ?)", (key, text))
            except sqlite3.Error as error:
                self._give_up(error)

    def size(self) -> int:
        """Return how many replies are kept."""
        with self._lock:
            try:
                return 0 if self._connection is None else self._count(self._connection)
            except sqlite3.Error as error:
                self._give_up(error)
                return 0

    def clear(self) -> int:
        """Forget every reply; return how many that were. Raises InfrastructureError."""
        with self._lock:
            if self._connection is None:
                raise InfrastructureError(self.problem or "The judge's cache is closed.")
            try:
                count = self._count(self._connection)
                self._connection.execute("DELETE FROM reply")
                self._connection.execute("VACUUM")
            except sqlite3.Error as error:
                raise InfrastructureError(
                    f"The judge's cache could not be cleared ({error}). If no other grader is running, delete "
                    f"{self.path}."
                ) from error
            return count

    @staticmethod
    def _count(connection: sqlite3.Connection) -> int:
        return int(connection.execute("SELECT count(*) FROM reply").fetchone()[0])

    def close(self) -> None:
        """Close the file; later calls find and keep nothing."""
        with self._lock:
            self._disconnect()

    def _give_up(self, error: Exception) -> None:
        self.problem = f"the judge's cache {self.path} cannot be used ({error}); its replies are not kept"
        self._disconnect()

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def _prepare(connection: sqlite3.Connection) -> None:
    if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        _use_wal(connection)
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute(_SCHEMA)


def _use_wal(connection: sqlite3.Connection) -> None:
    """Switch to write-ahead logging; the switch ignores the busy time-out, so another process may be in the way."""
    for _ in range(50):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
            threading.Event().wait(0.02)
        else:
            return
