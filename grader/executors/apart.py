"""Sandboxes apart: programs, tests and linter never share one. For a pool that never ends its run.

A run of `grade` ends, and its phases keep programs and tests apart in time. A pool for rewards does not end: what one
call judges must teach nothing to the programs of the next. So each kind of job has a set of sandboxes of its own.
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

Name = Literal["linting", "answering", "judging", "interactive", "official"]
OF_KIND: dict[str, Name] = {
    "lint": "linting",
    "record": "judging",
    "answer": "answering",
    "judge": "judging",
    "split": "interactive",
    "run": "official",
}
"""Kind of job -> the set that does it.

`linting` reads programs and tests and executes neither. `answering` runs programs and never has a test. `judging` runs
tests and never has a program of a model. `interactive` and `official` run both at once, for the tasks and the calls
that need it.
"""
ALWAYS: tuple[Name, ...] = ("linting", "answering", "judging")
"""The sets that every call needs."""
RENEWED_AFTER = 20_000
"""So many jobs a set does before its sandboxes are replaced: nothing in them grows for longer than that."""


def name_of(job: Job) -> Name:
    """Return the set that does a job; raises ValueError for a job of no known kind."""
    for kind, name in OF_KIND.items():
        if job.get(kind):
            return name
    raise ValueError("a job that asks for nothing")


class Apart:
    """A set of sandboxes for each kind of job; one thread's. Has what `grader.sandbox.pool.Pool` has."""

    def __init__(
        self,
        backend: Backend,
        workers: int,
        answer_seconds: float,
        *,
        fresh: bool = False,
        canaries: Canaries | None = None,
    ) -> None:
        """See `grader.sandbox.pool.Pool`. A canary stands among jobs of its own kind, so it is in their set."""
        self._backend, self.workers, self.canaries = backend, workers, canaries
        self._answer_seconds, self._fresh = answer_seconds, fresh
        self._sets: dict[Name, Pool] = {}
        self._done = dict.fromkeys(get_args(Name), 0)

    def __enter__(self) -> Apart:
        self._backend.reap()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End every sandbox. A later job starts new ones."""
        for name in list(self._sets):
            self._end(name)

    def begin(self) -> None:
        """Start the sandboxes that every call needs in the background."""
        for name in ALWAYS:
            self._set(name).begin()

    def run(self, jobs: Iterable[tuple[str, Job]]) -> Iterator[Verdict]:
        """Yield a verdict for every job. Where nothing can run them (InfrastructureError), a later call tries anew."""
        for name, part in itertools.groupby(jobs, key=lambda item: name_of(item[1])):
            yield from self._run(name, part)

    def run_in_judging(self, jobs: Iterable[tuple[str, Job]]) -> Iterator[Verdict]:
        """Yield a verdict for every job, all done where the tests are: for a task's own solution."""
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
                lint=name == "linting",
                canaries=self.canaries,
            )
        return self._sets[name]

    def _end(self, name: Name) -> None:
        self._done[name] = 0
        ended = self._sets.pop(name, None)
        if ended is not None:
            ended.close()
