"""The executor of one machine: warm sandboxes, and the cache of verdicts in the user's cache folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import msgspec

from grader import resources
from grader.executors.apart import Apart
from grader.executors.interface import Executor
from grader.sandbox import choice
from grader.sandbox import verdict_cache as verdicts
from grader.sandbox.canary_check import Canaries
from grader.sandbox.pool import ANSWER_SECONDS, Pool
from grader.sandbox.verdict_cache import MemoryCache, VerdictCache

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grade_sandbox.jobs import Job

    from grader.observer import Observer
    from grader.options import Options
    from grader.results import SandboxProvenance
    from grader.sandbox.interface import Backend, Limits
    from grader.sandbox.tickets import Verdict


class Local(Executor):
    """Runs jobs in the sandboxes of this machine."""

    def __init__(
        self,
        backend: Backend,
        pool: Pool | Apart,
        cache: MemoryCache | VerdictCache,
        limits: Limits,
        observer: Observer | None = None,
    ) -> None:
        super().__init__(cache, limits, observer)
        self._backend, self._pool = backend, pool
        self._identity = backend.identity

    def __enter__(self) -> Self:
        self._pool.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        # Interrupted or not: the next run resumes from the finished verdicts.
        try:
            self._pool.close()
        finally:
            self._close_cache()

    def begin(self, lint: int = 0) -> None:
        """Start the sandboxes in the background."""
        self._pool.begin(lint)

    def run(self, jobs: Iterable[tuple[str, Job]], *, with_tests: bool = False) -> Iterator[Verdict]:
        """Yield a verdict for every job. Never use `with_tests` for a model's program."""
        if with_tests and isinstance(self._pool, Apart):
            return self._pool.run_in_judging(jobs)
        return self._pool.run(jobs)

    def finish(self) -> None:
        """Begin to end the sandboxes."""
        self._pool.finish()

    def patient(self) -> Local:
        """Return an executor for long jobs, with as many sandboxes of its own. Close it before this one."""
        pool = self._pool
        beside = pool.beside() if isinstance(pool, Apart) else pool
        return Local(self._backend, beside, self.cache, self._limits)

    def abort(self) -> None:
        """End the sandboxes, also those that are busy; jobs raise InfrastructureError from now on."""
        if isinstance(self._pool, Apart):
            self._pool.abort()

    @property
    def losses(self) -> tuple[int, int]:
        """Number of sandboxes lost so far, and of the jobs that ran again because of it."""
        return self._pool.losses if isinstance(self._pool, Apart) else (0, 0)

    def describe(self) -> SandboxProvenance:
        """Return the provenance of the sandboxes for a report."""
        return msgspec.structs.replace(
            self._backend.describe(),
            workers=self._pool.workers,
            cpu_seconds=self._limits.cpu_seconds,
            memory_bytes=self._limits.memory_bytes,
            canaries=self._pool.canaries.described() if self._pool.canaries is not None else None,
        )


def open_local(
    options: Options, limits: Limits, observer: Observer, python: str | None = None, *, apart: bool = False
) -> Local:
    """Return the executor for these options; raise InfrastructureError if no sandbox is available.

    `python` is the Python version of the official environment (`3.12`); the sandbox uses it if it is available.
    `apart`: programs and tests never share a sandbox, in whatever order the jobs come.
    """
    if options.cache is True and resources.cache_is_temporary():
        observer.message(
            f"Verdicts are stored in {resources.cache_folder()}, which may be deleted at any time, because your cache "
            "folder is not writable (set another one with XDG_CACHE_HOME)"
        )
    backend = choice.open_backend(options, limits, observer, python)
    seconds = ANSWER_SECONDS + 4 * limits.wall_seconds
    workers, canaries = options.worker_count, Canaries(observer.message)
    pool: Pool | Apart = (
        Apart(backend, workers, seconds, canaries=canaries)
        if apart
        else Pool(backend, workers, seconds, canaries=canaries)
    )
    return Local(backend, pool, _cache(options), limits, observer)


def open_executor(options: Options, limits: Limits, observer: Observer, python: str | None = None) -> Executor:
    """Return the executor for these options: this machine, or a Ray cluster; raises InfrastructureError."""
    if options.executor == "ray":
        # Imported late: it needs the extra `ray`, which takes a second to load.
        from grader.executors.ray import open_ray

        return open_ray(options, limits, observer, python)
    return open_local(options, limits, observer, python)


def _cache(options: Options) -> MemoryCache | VerdictCache:
    if options.cache == "memory":
        return MemoryCache()
    return VerdictCache(verdicts.default_path() if options.cache else None)
