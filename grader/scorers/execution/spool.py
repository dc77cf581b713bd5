"""The candidates' answers, on disk until they are judged, so that memory does not grow with the run."""

from __future__ import annotations

import tempfile
import threading
import zlib
from typing import TYPE_CHECKING

import msgspec

from grader.files import compact_json
from grader.sandbox.answer import Answers

if TYPE_CHECKING:
    from typing import Self


class Spool:
    """Answers by key, in a private temporary file, for any number of threads. Use it as a context manager."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="grade-answers-")  # noqa: SIM115 - closed by __exit__
        self._places: dict[str, tuple[int, int]] = {}
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def put(self, key: str, answers: Answers) -> None:
        """Store answers."""
        data = zlib.compress(compact_json.encode(answers), 1)
        with self._lock:
            self._places[key] = self._file.seek(0, 2), len(data)
            self._file.write(data)

    def get(self, key: str) -> Answers | None:
        """Return stored answers, or None."""
        with self._lock:
            if key not in self._places:
                return None
            start, length = self._places[key]
            self._file.seek(start)
            data = self._file.read(length)
        return msgspec.convert(compact_json.decode(zlib.decompress(data)), Answers)

    def forget(self, key: str) -> None:
        """Forget answers. Their place in the file stays used."""
        self._places.pop(key, None)
