"""The executor of one machine: its queue of warm sandboxes, and the cache of verdicts in the user's cache folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import msgspec

from grader import resources
from grader.executors.interface import Executor
from grader.sandbox import choice
from grader.sandbox import verdict_cache as verdicts
from grader.sandbox.queue import JobQueue, answer_seconds
from grader.sandbox.verdict_cache import MemoryCache, VerdictCache

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grade_sandbox.jobs import Job

    from grader.observer import Observer
    from grader.options import Options
    from grader.results import SandboxProvenance
    from grader.sandbox.interface import Answer, Backend, Limits


class Local(Executor):
    """Runs jobs in the sandboxes of this machine, for any number of threads."""

    def __init__(
        self,
        backend: Backend,
        queue: JobQueue,
        cache: MemoryCache | VerdictCache,
        limits: Limits,
        observer: Observer | None = None,
    ) -> None:
        super().__init__(cache, limits, observer)
        self._backend, self.queue = backend, queue
        self._identity = backend.identity

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # Interrupted or not: the next run resumes from the finished verdicts.
        try:
            self.queue.close()
        finally:
            self._close_cache()

    def begin(self, lint_jobs: int = 0) -> None:
        """Start, in the background, the sandboxes that lint, judge and answer; official ones start when needed."""
        if lint_jobs:
            self.queue.prestart("linting", lint_jobs)
        self.queue.prestart("judging")
        self.queue.prestart("answering")

    def run(self, jobs: Iterable[tuple[str, Job]]) -> Iterator[tuple[str, Answer | str]]:
        """Yield the answer to every job, or why there is none."""
        return self.queue.run(jobs)

    def finish(self) -> None:
        """Begin to end the sandboxes, also those that are busy; jobs raise InfrastructureError from now on."""
        self.queue.finish()

    def describe(self) -> SandboxProvenance:
        """Return the provenance of the sandboxes for a report."""
        return msgspec.structs.replace(
            self._backend.describe(),
            workers=self.queue.workers,
            cpu_seconds=self._limits.cpu_seconds,
            memory_bytes=self._limits.memory_bytes,
        )


def open_local(options: Options, limits: Limits, observer: Observer, python: str | None = None) -> Local:
    """Return the executor for these options; raise InfrastructureError if no sandbox is available.

    `python` is the Python version of the official environment (`3.12`); the sandbox uses it if it is available.
    """
    is_cache_on_disk = options.cache is True
    if is_cache_on_disk and resources.cache_is_temporary():
        observer.message(
            f"Verdicts are stored in {resources.cache_folder()}, which may be deleted at any time, because your cache "
            "folder is not writable (set another one with XDG_CACHE_HOME)"
        )
    backend = choice.open_backend(options, limits, observer, python)
    queue = JobQueue(backend, options.worker_count, answer_seconds(limits), program_bytes=limits.sandbox_bytes)
    return Local(backend, queue, _cache(options), limits, observer)


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
