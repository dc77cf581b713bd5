"""Separate sandboxes for programs, tests and linter, for a pool that never ends its run.

A run of `grade` ends, and its phases separate programs and tests in time. A pool for rewards does not end, and the
programs of one call must learn nothing from the tests of an earlier call. So each kind of job has its own set of
sandboxes.
"""

from __future__ import annotations

import itertools
import threading
from functools import partial
from typing import TYPE_CHECKING, Literal

from grader.errors import InfrastructureError
from grader.sandbox.interface import FEW_LINTS
from grader.sandbox.pool import Pool
from grader.sandbox.stream import Stream
from grader.sandbox.worker import WINDOW, Losses

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grade_sandbox.jobs import Job

    from grader.sandbox.canary_check import Canaries
    from grader.sandbox.interface import Backend
    from grader.sandbox.tickets import Verdict

Name = Literal["linting", "answering", "judging", "official"]
OF_KIND: dict[str, Name] = {
    "lint": "linting",
    "record": "judging",
    "answer": "answering",
    "judge": "judging",
    "compare": "judging",
    "run": "official",
}
"""Kind of job -> the set of sandboxes for it.

`linting` reads programs and tests but executes neither. `answering` runs programs and never gets a test. `judging` runs
tests and never gets a model's program. `official` runs both at the same time, for the calls that ask for it.
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
    """A set of sandboxes for each kind of job, for any number of threads."""

    def __init__(
        self,
        backend: Backend,
        workers: int,
        answer_seconds: float,
        *,
        canaries: Canaries | None = None,
        window: int = WINDOW,
        losses: Losses | None = None,
    ) -> None:
        """See `grader.sandbox.pool.Pool`. A canary runs among jobs of its own kind, so it runs in their set."""
        self.workers, self.canaries, self._losses = workers, canaries, losses or Losses()
        self._given = backend, workers, answer_seconds
        self._made = partial(Pool, *self._given, canaries=canaries, window=window, losses=self._losses)
        self._lock = threading.Lock()
        self._is_over = False
        self._sets: dict[Name, Stream] = {}
        self._replaced: list[Stream] = []
        """Sets that were replaced while callers still waited for them."""

    def __enter__(self) -> Apart:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def beside(self) -> Apart:
        """Return further sets for long jobs: a worker has only one at a time."""
        return Apart(*self._given, canaries=self.canaries, window=1, losses=self._losses)

    @property
    def losses(self) -> tuple[int, int]:
        """Number of sandboxes lost so far, and of the jobs that ran again because of it."""
        return self._losses.sandboxes, self._losses.jobs

    def finish(self) -> None:
        """Do nothing: later runs use the same sandboxes."""

    def close(self) -> None:
        """End every sandbox. A later job starts new ones."""
        with self._lock:
            ended, self._sets, self._replaced = [*self._sets.values(), *self._replaced], {}, []
        for pool in ended:
            pool.close()

    def abort(self) -> None:
        """End every sandbox, also those that are busy; jobs that are open or come later raise InfrastructureError."""
        with self._lock:
            self._is_over = True
        self.close()

    def begin(self, lint: int = 0) -> None:
        """Start, in the background, the sandboxes that every call needs."""
        for name in ALWAYS:
            if lint or name != "linting":
                self._set(name).pool.begin(lint if name == "linting" else 0)

    def run(self, jobs: Iterable[tuple[str, Job]]) -> Iterator[Verdict]:
        """Yield a verdict for every job. After an InfrastructureError, a later call tries again."""
        for name, part in itertools.groupby(jobs, key=lambda item: name_of(item[1])):
            yield from self._run(name, part)

    def run_in_judging(self, jobs: Iterable[tuple[str, Job]]) -> Iterator[Verdict]:
        """Yield a verdict for every job, all run in the judging sandboxes: for a task's own solution."""
        yield from self._run("judging", jobs)

    def _run(self, name: Name, jobs: Iterable[tuple[str, Job]]) -> Iterator[Verdict]:
        stream = self._set(name)
        try:
            yield from stream.run(jobs)
        except InfrastructureError:
            with self._lock:
                if self._sets.get(name) is stream:
                    del self._sets[name]
            stream.close()
            raise

    def _set(self, name: Name) -> Stream:
        """Return a set; it is replaced when its sandboxes have done many jobs."""
        with self._lock:
            if self._is_over:
                raise InfrastructureError("The pool is ending.")
            pool = self._sets.get(name)
            if pool is not None and pool.done >= RENEWED_AFTER:
                self._replaced.append(self._sets.pop(name))
                pool = None
            unused = [unused_pool for unused_pool in self._replaced if unused_pool.is_idle]
            self._replaced = [unused_pool for unused_pool in self._replaced if unused_pool not in unused]
            if pool is None:
                pool = self._sets[name] = Stream(self._made())
                if name == "linting":
                    pool.pool.begin(FEW_LINTS + 1)
        for unused_pool in unused:
            unused_pool.close()
        return pool
