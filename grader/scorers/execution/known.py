"""What is known of a benchmark's tasks before any sample is graded: their calls, and the reference's answers."""

from __future__ import annotations

import tempfile
import threading
import zlib
from typing import TYPE_CHECKING

import msgspec

from grader.files import compact_json
from grader.sandbox.answer import Answers

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

    from grader.scorers.execution.calls import Calls, NotJudged, Reordered


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


class Known:
    """The calls and references of tasks, kept as long as their samples are graded."""

    def __init__(self, spool: Spool) -> None:
        """`spool` keeps the answers of references."""
        self._spool = spool
        self.calls: dict[str, Calls | NotJudged] = {}
        self._references: dict[str, int] = {}
        """Task -> number of runs of its reference solution, if the tests pass with its answers."""
        self._reordered: dict[str, Reordered] = {}
        self.broken: dict[str, str] = {}
        """Task -> why its reference solution fails, in one process with its tests and apart from them."""

    def keep(self, qid: str, runs: Iterable[Answers | None]) -> None:
        """Keep the answers of each run of a task's reference solution."""
        kept = [answers for answers in runs if answers is not None and answers.hello is not None]
        for number, answers in enumerate(kept):
            self._spool.put(_key(qid, number), answers)
        self._references[qid] = len(kept)

    def reference(self, qid: str) -> list[Answers]:
        """Return what a task's reference solution answered each time; nothing if there is none that passes."""
        found = (self._spool.get(_key(qid, number)) for number in range(self._references.get(qid, 0)))
        return [answers for answers in found if answers is not None]

    def forget(self, qid: str) -> None:
        """Forget a task."""
        for number in range(-1, self._references.pop(qid, 0)):
            self._spool.forget(_key(qid, number))
        self.calls.pop(qid, None)
        self._reordered.pop(qid, None)
        self.broken.pop(qid, None)

    def keep_again(self, qid: str, other: Reordered, answers: Answers | None) -> None:
        """Keep a reference solution's answers to its task's calls in another order."""
        if answers is not None and answers.hello is not None:
            self._reordered[qid] = other
            self._spool.put(_key(qid, -1), answers)

    def reordered(self, qid: str) -> Reordered | None:
        """Return a task's calls in another order, if programs have to answer them as well."""
        return self._reordered.get(qid)

    def answered_again(self, qid: str) -> Answers | None:
        """Return the reference solution's answers to the calls in another order."""
        return self._spool.get(_key(qid, -1))

    def is_answer(self, qid: str, answers: Answers, again: Answers | None) -> bool:
        """Whether these are the messages of the judged run of the reference, and `again` those in another order."""
        if qid in self._reordered and _messages(again) != _messages(self.answered_again(qid)):
            return False
        return self.has_reference(qid) and _messages(answers) == _messages(self._spool.get(_key(qid, 0)))

    def has_reference(self, qid: str) -> bool:
        """Whether a task has a reference solution that passes."""
        return bool(self._references.get(qid))


def _key(qid: str, number: int) -> str:
    return f"reference {number} {qid}"


def _messages(answers: Answers | None) -> list[str | None]:
    return [] if answers is None else answers.messages
