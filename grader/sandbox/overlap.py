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
        """`linters`: number of workers that lint. `count`: number of jobs. `heard`: see `Work` in worker.py."""
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
        """Yield a verdict for each of these jobs, and in between those of lint jobs.

        The workers that do not lint run these jobs. The others join them when all lint jobs have run. `jobs` yields
        None if it has no job at the moment. Raises InfrastructureError.
        """
        starved: list[Ticket] = []
        source = self._crews.source(None if job is None else Ticket(*job) for job in jobs)
        workers = range(self._crews.workers)
        yield from self._crews.form(workers, source, starved, self._results, is_free=self._is_free).verdicts()
        if starved:
            # These jobs run alone on the machine, so the lint jobs must end first.
            yield from self.rest()
            yield from self._crews.alone(starved)

    def _is_free(self, index: int) -> bool:
        return index >= self._linters or self.is_over

    def rest(self) -> Iterator[Verdict]:
        """Yield the verdicts of the lint jobs that `run` has not yielded; raises InfrastructureError.

        If many lint jobs are left, all workers lint. Those that have run other jobs get new sandboxes for this, because
        no linter runs where a program has run.
        """
        if self._count - self._ran > FEW_LINTS:
            others = range(self._linters, self._crews.workers)
            self._crews.renew(others)
            yield from self._crews.form(others, self._source, [], self._results, heard=self._hear).verdicts()
        yield from self._linting.verdicts()
