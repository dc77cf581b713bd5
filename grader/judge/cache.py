"""A cache of readable judge replies, so that no reply is paid for twice, and a second run gets the same replies."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Self

import msgspec

from grader.files.key_value import KeyValueFile

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def default_path() -> Path:
    """Return the path of the user's judge cache."""
    import platformdirs

    return platformdirs.user_cache_path("grade") / "judge-2.sqlite3"


def cache_key(endpoint: str, model: str, prompt: str) -> bytes:
    """Return the key of a reply: a digest, so that the file contains no prompts."""
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
        """Why the cache cannot be used; empty if it can."""
        return self._file.problem

    def find(self, keys: Iterable[bytes]) -> dict[bytes, str]:
        """Return the stored replies of the keys that have one."""
        return {key: value.decode() for key, value in self._file.find(keys).items()}

    def keep(self, key: bytes, text: str) -> None:
        """Store a reply on disk at once, so that an interrupted run loses no replies."""
        self._file.keep([(key, text.encode("utf-8", errors="replace"))])

    def size(self) -> int:
        """Return the number of stored replies."""
        return self._file.size()

    def clear(self) -> int:
        """Delete all replies; return their number. Raises InfrastructureError."""
        return self._file.clear()

    def close(self) -> None:
        """Close the file; later calls find and store nothing."""
        self._file.close()
