"""Run lint jobs on some workers of a pool while its other workers run other jobs.

A linter takes half a second to load. If half of the workers lint, half as many linters are loaded. The linter of a
sandbox ends before the first program runs there.
"""

from __future__ import annotations

import itertools
from queue import SimpleQueue
from typing import TYPE_CHECKING

from grader.sandbox.interface import FEW_LINTS
from grader.sandbox.tickets import Ticket

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grader.sandbox.crew import Crews, Queue
    from grader.sandbox.interface import Answer, Job
    from grader.sandbox.tickets import Verdict
    from grader.sandbox.worker import Heard


class Overlap:
    """Lint jobs that run on the first workers of a pool. They begin at once."""

    def __init__(
        self, crews: Crews, linters: int, jobs: Iterable[tuple[str, Job]], *, count: int, heard: Heard
    ) -> None:
        """`linters`: the number of workers that lint. `count`: the number of jobs. `heard`: see `Pool.overlap`."""
        self._crews, self._linters, self._count, self._heard = crews, linters, count, heard
        self._results: Queue = SimpleQueue()
        self._ran = 0
        self._numbers = itertools.count(1)
        self._source = crews.source(Ticket(key, job) for key, job in jobs)
        self._linting = crews.form(range(linters), self._source, [], self._results, heard=self._hear)

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
        starved: list[Ticket] = []
        source = self._crews.source(None if job is None else Ticket(*job) for job in jobs)
        workers = range(self._crews.workers)
        yield from self._crews.form(workers, source, starved, self._results, is_free=self._is_free).verdicts()
        if starved:
            # Such a job runs alone on the machine.
            yield from self.rest()
            yield from self._crews.alone(starved)

    def _is_free(self, index: int) -> bool:
        return index >= self._linters or self.is_over

    def rest(self) -> Iterator[Verdict]:
        """Yield the other verdicts of the lint jobs; raises InfrastructureError. If they are many, all workers lint.

        The others lint in new sandboxes: no linter runs where a program has run.
        """
        if self._count - self._ran > FEW_LINTS:
            others = range(self._linters, self._crews.workers)
            self._crews.renew(others)
            yield from self._crews.form(others, self._source, [], self._results, heard=self._hear).verdicts()
        yield from self._linting.verdicts()
