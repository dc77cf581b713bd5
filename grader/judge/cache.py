"""Readable judge replies, kept between runs: paying twice for one reply is waste, and a rerun must agree."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Self

import msgspec

from grader.files.key_value import KeyValueFile

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def default_path() -> Path:
    """Return where the user's judge replies are kept."""
    import platformdirs

    return platformdirs.user_cache_path("grade") / "judge-2.sqlite3"


def cache_key(endpoint: str, model: str, prompt: str) -> bytes:
    """Return what a reply is kept under: a digest, so that the file holds no prompt."""
    fields = (part.encode("utf-8", errors="replace").decode() for part in (endpoint, model, prompt))
    return hashlib.sha256(msgspec.json.encode(list(fields))).digest()


class ReplyCache:
    """A file of replies, safe for several threads and processes at once."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or default_path()
        self._file = KeyValueFile(self.path, "judge's cache")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    @property
    def problem(self) -> str:
        """Why the cache cannot be used; empty: it can."""
        return self._file.problem

    def find(self, keys: Iterable[bytes]) -> dict[bytes, str]:
        """Return the kept replies of those keys that have one."""
        return {key: value.decode() for key, value in self._file.find(keys).items()}

    def keep(self, key: bytes, text: str) -> None:
        """Keep a reply; at once on disk for other processes, so that an interrupted run loses nothing."""
        self._file.keep([(key, text.encode("utf-8", errors="replace"))])

    def size(self) -> int:
        """Return how many replies are kept."""
        return self._file.size()

    def clear(self) -> int:
        """Forget every reply; return how many that were. Raises InfrastructureError."""
        return self._file.clear()

    def close(self) -> None:
        """Close the file; later calls find and keep nothing."""
        self._file.close()
