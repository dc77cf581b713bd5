"""Run lint jobs on some workers of a pool while its other workers run other jobs.

A linter takes half a second to load. If half of the workers lint, half as many linters are loaded. A sandbox runs no
program while its linter is loaded.
"""

from __future__ import annotations

import itertools
from queue import SimpleQueue
from typing import TYPE_CHECKING

from grader.sandbox.crew import Work
from grader.sandbox.interface import FEW_LINTS
from grader.sandbox.tickets import Source, Ticket

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grader.sandbox.crew import Heard, Results
    from grader.sandbox.interface import Answer, Job
    from grader.sandbox.pool import Pool
    from grader.sandbox.tickets import Verdict


class Overlap:
    """Lint jobs that run on the first workers of a pool. They begin at once."""

    def __init__(self, pool: Pool, jobs: Iterable[tuple[str, Job]], count: int, heard: Heard) -> None:
        """`count`: the number of jobs. `heard`: see `Pool.overlap`."""
        self._pool, self._count, self._heard = pool, count, heard
        self._results: Results = SimpleQueue()
        self._ran = 0
        self._numbers = itertools.count(1)
        source = Source((Ticket(key, job) for key, job in jobs), pool.supervisors.stop)
        self._work = Work(source, [], self._results, heard=self._hear)
        self._linting = pool.crew(range(pool.linters), self._work)

    def _hear(self, key: str, answer: Answer) -> None:
        self._ran = next(self._numbers)
        self._heard(key, answer)

    @property
    def is_over(self) -> bool:
        """Whether every lint job has run."""
        return self._linting.is_over

    def run(self, jobs: Iterable[tuple[str, Job] | None]) -> Iterator[Verdict]:
        """Yield a verdict for each of these jobs, and those of lint jobs that come meanwhile.

        The other workers run them, and the first ones join when the lint jobs are over. `jobs` yields None if it has no
        job at the moment. Raises InfrastructureError.
        """
        pool, starved = self._pool, list[Ticket]()
        source = Source((None if job is None else Ticket(*job) for job in jobs), pool.supervisors.stop)
        work = Work(source, starved, self._results, after=self._linting)
        yield from pool.crew(range(pool.workers), work).verdicts()
        if starved:
            # Such a job runs alone on the machine.
            yield from self.rest()
            yield from pool.alone(starved)

    def rest(self) -> Iterator[Verdict]:
        """Yield the other verdicts of the lint jobs; raises InfrastructureError. If they are many, all workers lint."""
        if self._count - self._ran > FEW_LINTS:
            yield from self._pool.crew(range(self._pool.linters, self._pool.workers), self._work).verdicts()
        yield from self._linting.verdicts()
