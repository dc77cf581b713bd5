"""A persistent map from digests to bytes in one SQLite file, for the caches of verdicts and of judge replies.

The map is optional: if the file cannot be used, `problem` has the reason, and nothing is found or stored.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from functools import partial
from typing import TYPE_CHECKING, Self

from grader import resources
from grader.errors import InfrastructureError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path
    from typing import TypeVar

    T = TypeVar("T")

_SCHEMA = "CREATE TABLE IF NOT EXISTS entries (key BLOB PRIMARY KEY, value BLOB NOT NULL, at INTEGER NOT NULL)"
_BUSY_SECONDS = 30.0
_KEYS_A_QUERY = 500
"""SQLite allows 999 parameters in a query, in its older versions."""
_WAL_TRIES = 50
"""With a tenth of a second between them: another process has then switched."""


class KeyValueFile:
    """A SQLite file of entries, safe for several threads and processes at once."""

    def __init__(self, path: Path | None, name: str) -> None:
        """Open or create the file (None: store nothing). `name` is its name in messages."""
        self.path = path
        self.problem = ""
        self._name = name
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        if path is None:
            return
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._connection = self._open(path)
        except (OSError, sqlite3.Error) as error:
            self._give_up(error)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def find(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """Return the stored values of the keys that have one."""
        unique = list(dict.fromkeys(keys))
        values: dict[bytes, bytes] = {}
        for start in range(0, len(unique), _KEYS_A_QUERY):
            batch = unique[start : start + _KEYS_A_QUERY]
            marks = ",".join("?" * len(batch))
            query = f"SELECT key, value FROM entries WHERE key IN ({marks})"  # noqa: S608 - only question marks
            rows: list[tuple[bytes, bytes]] = self._try(partial(_select, query=query, keys=batch), [])
            values.update(rows)
        return values

    def has(self, key: bytes) -> bool:
        """Return whether the key has a stored value."""
        query = "SELECT 1 FROM entries WHERE key = ?"
        return self._try(lambda c: c.execute(query, (key,)).fetchone() is not None, default=False)

    def store(self, entries: Iterable[tuple[bytes, bytes]]) -> None:
        """Store values. When this returns, they are on disk for other processes."""
        now = int(time.time())
        rows = [(key, value, now) for key, value in entries]
        self._try(lambda c: _insert(c, rows), None)

    def size(self) -> int:
        """Return the number of stored values."""
        return self._try(_count, 0)

    def trim(self, most: int) -> None:
        """Delete the oldest values, a tenth at a time, until the others need at most `most` bytes."""
        while (count := self.size()) and self._try(_used_bytes, 0) > most:
            self._try(partial(_delete_oldest, count=count // 10 + 1), None)

    def clear(self) -> int:
        """Delete all values; return their number. Raises InfrastructureError."""
        with self._lock:
            if self._connection is None:
                if not self.problem:
                    return 0
                raise InfrastructureError(self.problem)
            try:
                count = _count(self._connection)
                self._connection.execute("DELETE FROM entries")
                self._connection.execute("VACUUM")
            except sqlite3.Error as error:
                raise InfrastructureError(
                    f"The {self._name} could not be cleared ({error}). If no other grader is running, delete "
                    f"{self.path}."
                ) from error
            return count

    def close(self) -> None:
        """Close the file; later calls find and store nothing. May be called twice."""
        with self._lock:
            self._disconnect()

    def _open(self, path: Path) -> sqlite3.Connection:
        """Open the file. If it is damaged or not a database, rename it and create a new one."""
        try:
            return _connect(path)
        except sqlite3.OperationalError:  # it is locked, or the disk is full: the file itself may be sound
            raise
        except sqlite3.DatabaseError:
            backup = path.with_name(f"{path.name}.damaged")
            path.replace(backup)
            self.problem = (
                f"the {self._name} {path} was damaged; it is kept as {backup.name}, and a new one was created"
            )
            return _connect(path)

    def _try(self, do: Callable[[sqlite3.Connection], T], default: T) -> T:
        """Call `do` with the connection; if that fails, stop using the file and return `default`."""
        with self._lock:
            if self._connection is None:
                return default
            try:
                return do(self._connection)
            except sqlite3.Error as error:
                self._give_up(error)
                return default

    def _give_up(self, error: Exception) -> None:
        self.problem = (
            f"the {self._name} {self.path} cannot be used ({error}); nothing is stored in it. "
            "Remove it if it is damaged"
        )
        self._disconnect()

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def _select(connection: sqlite3.Connection, query: str, keys: list[bytes]) -> list[tuple[bytes, bytes]]:
    return connection.execute(query, keys).fetchall()


def _count(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT count(*) FROM entries").fetchone()[0])


def _used_bytes(connection: sqlite3.Connection) -> int:
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)


def _delete_oldest(connection: sqlite3.Connection, count: int) -> None:
    connection.execute("DELETE FROM entries WHERE rowid IN (SELECT rowid FROM entries ORDER BY at LIMIT ?)", (count,))


def _insert(connection: sqlite3.Connection, rows: list[tuple[bytes, bytes, int]]) -> None:
    with connection:
        connection.execute("BEGIN")
        connection.executemany("INSERT OR REPLACE INTO entries VALUES (?, ?, ?)", rows)


def _connect(path: Path) -> sqlite3.Connection:
    # SQLite gives its other files the mode of this one.
    if not path.exists():
        path.touch()
        path.chmod(0o600)
    resources.make_private(path)
    connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
            _use_wal(connection)
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(_SCHEMA)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _use_wal(connection: sqlite3.Connection) -> None:
    """Switch to write-ahead logging, in several tries: the switch ignores the busy timeout. Go without if all fail."""
    for _ in range(_WAL_TRIES):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
            time.sleep(0.1)
        else:
            return
