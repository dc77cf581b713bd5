"""The interface of executors: an executor takes jobs and yields their answers. It decides where to run them.

The scorer decides the order of a run's phases: an executor finishes one `run` before it gets the next.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Self

from grader.observer import Silent
from grader.sandbox import verdict_cache

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from grade_sandbox.jobs import Job

    from grader.observer import Observer
    from grader.results import SandboxProvenance
    from grader.sandbox.interface import Answer, Limits
    from grader.sandbox.verdict_cache import MemoryCache, VerdictCache


class Executor(ABC):
    """Runs jobs in sandboxes. It is a context manager that leaves nothing behind."""

    def __init__(self, cache: MemoryCache | VerdictCache, limits: Limits, observer: Observer | None = None) -> None:
        self.cache = cache
        """The results of jobs in earlier runs, by key."""
        self._limits, self._observer = limits, observer or Silent()
        self._identity = ""
        """A hash of the sandbox, known as soon as there is one."""

    @abstractmethod
    def __enter__(self) -> Self:
        """Prepare it; raises InfrastructureError."""

    @abstractmethod
    def __exit__(self, *_: object) -> None:
        """End every sandbox, and save the cache."""

    @abstractmethod
    def begin(self, lint_jobs: int = 0) -> None:
        """Announce that jobs will come soon: start now what takes long to start.

        `lint_jobs`: the number known so far. Up to `FEW_LINTS`, one linter is enough. Call it again if there are more:
        then one starts for each worker.
        """

    def key(self, job: Mapping[str, object]) -> str:
        """Return the key of a job's result: a hash of everything that can change it."""
        return verdict_cache.cache_key(job, self._identity, self._limits)

    @abstractmethod
    def run(self, jobs: Iterable[tuple[str, Job]]) -> Iterator[tuple[str, Answer | str]]:
        """Yield the key of every (key, job) with the job's answer, or with the reason why there is none.

        They come in the order in which they finish. Jobs are drawn as they are needed.
        Raises InfrastructureError if no sandbox can run them; a later `run` may succeed.
        """

    def finish(self) -> None:  # noqa: B027 - only one needs it
        """Announce that the run has no more jobs: its sandboxes may end while its results are computed."""

    @abstractmethod
    def describe(self) -> SandboxProvenance:
        """Return the provenance of the sandboxes for a report."""

    def _close_cache(self) -> None:
        """Save the cache; say so if it could not be used."""
        self.cache.close()
        if problem := self.cache.problem:
            self._observer.message(f"{problem[0].upper()}{problem[1:]}")
