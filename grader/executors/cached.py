"""The common part of executors: the cache of verdicts, on the machine where `grade` runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.observer import Silent
from grader.sandbox import verdict_cache

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from grader.observer import Observer
    from grader.sandbox.interface import Answer, Job, Limits
    from grader.sandbox.overlap import Overlap
    from grader.sandbox.verdict_cache import VerdictCache
    from grader.sandbox.worker import Heard


class Cached:
    """Stores the results of jobs, with keys that include everything that can change the verdict."""

    def __init__(self, cache: VerdictCache, limits: Limits, observer: Observer | None = None) -> None:
        self._cache, self._limits, self._observer = cache, limits, observer or Silent()
        self._identity = ""
        """A hash of the sandbox. An executor sets it as soon as it knows its sandbox."""

    def key(self, job: Job) -> str:
        """Return the key of a job in the cache."""
        return verdict_cache.key(job, self._identity, self._limits)

    def has(self, key: str) -> bool:
        """Whether the cache has an answer under this key."""
        return self._cache.has(key)

    def kept(self, keys: Sequence[str]) -> dict[str, Answer]:
        """Return the answers of earlier runs, by key."""
        return self._cache.get(keys)

    def keep(self, key: str, answer: Answer) -> None:
        """Keep an answer for later runs."""
        self._cache.put(key, answer)

    def overlap(self, jobs: Iterable[tuple[str, Job]], count: int, heard: Heard) -> Overlap | None:
        """Return None: other jobs wait for the lint jobs. An executor can do better."""

    def finish(self) -> None:
        """Do nothing. An executor can end its sandboxes here."""

    def _close_cache(self) -> None:
        """Save the cache; say so if it could not be used."""
        self._cache.close()
        if problem := self._cache.problem:
            self._observer.message(f"{problem[0].upper()}{problem[1:]}")
