"""Separate sandboxes for programs, tests and linter, for a pool that never ends its run.

A run of `grade` ends, and its phases separate programs and tests in time. A pool for rewards does not end, and the
programs of one call must learn nothing from the tests of an earlier call. So each kind of job has its own set of
sandboxes.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Literal, get_args

from grader.errors import InfrastructureError
from grader.sandbox.pool import Pool

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grader.sandbox.interface import Backend, Job
    from grader.sandbox.tickets import Verdict
    from grader.sandbox.vouching import Canaries
    from grader.sandbox.worker import Heard

Name = Literal["linting", "answering", "judging", "interactive", "official"]
OF_KIND: dict[str, Name] = {
    "lint": "linting",
    "record": "judging",
    "answer": "answering",
    "judge": "judging",
    "split": "interactive",
    "run": "official",
}
"""Kind of job -> the set of sandboxes for it.

`linting` reads programs and tests but executes neither. `answering` runs programs and never gets a test. `judging` runs
tests and never gets a model's program. `interactive` and `official` run both at the same time, for the tasks and
calls that need it.
"""
ALWAYS: tuple[Name, ...] = ("linting", "answering", "judging")
"""The sets that every call needs."""
RENEWED_AFTER = 20_000
"""Number of jobs after which a set's sandboxes are replaced, which limits the growth of anything in them."""


def name_of(job: Job) -> Name:
    """Return the set for a job; raises ValueError for an unknown kind of job."""
    for kind, name in OF_KIND.items():
        if job.get(kind):
            return name
    raise ValueError("a job that asks for nothing")


class Apart:
    """A set of sandboxes for each kind of job, for one thread. It has the interface of `grader.sandbox.pool.Pool`."""

    def __init__(
        self,
        backend: Backend,
        workers: int,
        answer_seconds: float,
        *,
        fresh: bool = False,
        canaries: Canaries | None = None,
    ) -> None:
        """See `grader.sandbox.pool.Pool`. A canary runs among jobs of its own kind, so it runs in their set."""
        self._backend, self.workers, self.canaries = backend, workers, canaries
        self._answer_seconds, self._fresh = answer_seconds, fresh
        self._sets: dict[Name, Pool] = {}
        self._done = dict.fromkeys(get_args(Name), 0)

    def __enter__(self) -> Apart:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def finish(self) -> None:
        """Do nothing: later runs use the same sandboxes."""

    def close(self) -> None:
        """End every sandbox. A later job starts new ones."""
        for name in list(self._sets):
            self._end(name)

    def begin(self, lint: int = 0) -> None:
        """Start, in the background, the sandboxes that every call needs."""
        for name in ALWAYS:
            self._set(name).begin(lint if name == "linting" else 0)

    def run(self, jobs: Iterable[tuple[str, Job]]) -> Iterator[Verdict]:
        """Yield a verdict for every job. After an InfrastructureError, a later call tries again."""
        for name, part in itertools.groupby(jobs, key=lambda item: name_of(item[1])):
            yield from self._run(name, part)

    def overlap(self, jobs: Iterable[tuple[str, Job]], count: int, heard: Heard) -> None:
        """Return None: a round has few lint jobs, and other jobs wait for them."""

    def run_in_judging(self, jobs: Iterable[tuple[str, Job]]) -> Iterator[Verdict]:
        """Yield a verdict for every job, all run in the judging sandboxes: for a task's own solution."""
        yield from self._run("judging", jobs)

    def _run(self, name: Name, jobs: Iterable[tuple[str, Job]]) -> Iterator[Verdict]:
        if self._done[name] >= RENEWED_AFTER:
            self._end(name)
        try:
            for verdict in self._set(name).run(jobs):
                self._done[name] += 1
                yield verdict
        except InfrastructureError:
            self._end(name)
            raise

    def _set(self, name: Name) -> Pool:
        if name not in self._sets:
            self._sets[name] = Pool(
                self._backend,
                self.workers,
                self._answer_seconds,
                fresh=self._fresh,
                canaries=self.canaries,
            )
        return self._sets[name]

    def _end(self, name: Name) -> None:
        self._done[name] = 0
        ended = self._sets.pop(name, None)
        if ended is not None:
            ended.close()
