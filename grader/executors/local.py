"""The executor of one machine: a pool of warm sandboxes, and the cache of verdicts in the user's cache folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import msgspec

from grader import resources
from grader.sandbox import choice
from grader.sandbox import verdict_cache as verdicts
from grader.sandbox.pool import Pool
from grader.sandbox.verdict_cache import VerdictCache

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grader.observer import Observer
    from grader.options import Options
    from grader.results import SandboxProvenance
    from grader.sandbox.interface import Answer, Backend, Job, Limits
    from grader.sandbox.pool import Verdict

ANSWER_SECONDS = 180.0
"""No job takes longer: each kind of job has a wall limit well below this."""


class Local:
    """Runs jobs in the sandboxes of this machine."""

    def __init__(self, backend: Backend, pool: Pool, cache: VerdictCache, limits: Limits) -> None:
        self._backend, self._pool, self._cache, self._limits = backend, pool, cache, limits

    def __enter__(self) -> Self:
        self._pool.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        # Interrupted or not: what is finished is what the next run resumes from.
        try:
            self._pool.close()
        finally:
            self._cache.close()

    def begin(self) -> None:
        """Start the sandboxes in the background."""
        self._pool.begin()

    def key(self, job: Job) -> str:
        """Return the name of what comes of a job."""
        return verdicts.key(job, self._backend.identity, self._limits)

    def has(self, key: str) -> bool:
        """Whether the cache has something of this name."""
        return self._cache.has(key)

    def kept(self, key: str) -> Answer | None:
        """Return what came of a job in an earlier run."""
        return self._cache.get(key)

    def keep(self, key: str, answer: Answer) -> None:
        """Keep what came of a job."""
        self._cache.put(key, answer)

    def run(self, jobs: Iterable[tuple[str, Job]]) -> Iterator[Verdict]:
        """Yield a verdict for every job."""
        return self._pool.run(jobs)

    def describe(self) -> SandboxProvenance:
        """Return what a report says about the sandboxes."""
        return msgspec.structs.replace(
            self._backend.describe(),
            workers=self._pool.workers,
            cpu_seconds=self._limits.cpu_seconds,
            memory_bytes=self._limits.memory_bytes,
        )


def open_local(options: Options, limits: Limits, observer: Observer, python: str | None = None) -> Local:
    """Return the executor for these options; raise InfrastructureError if no sandbox is available.

    `python` is the version that the official environment has (`3.12`): it runs inside where it can be had.
    """
    if options.cache and resources.cache_is_temporary():
        observer.message(
            f"Verdicts are kept in {resources.cache_folder()}, which may be gone tomorrow: your cache folder cannot be "
            "written (name another with XDG_CACHE_HOME)"
        )
    backend = choice.open_backend(options, limits, observer, python)
    seconds = ANSWER_SECONDS + 4 * limits.wall_seconds
    pool = Pool(backend, options.worker_count, seconds, fresh=options.isolation == "container")
    return Local(backend, pool, VerdictCache(verdicts.default_path() if options.cache else None), limits)
