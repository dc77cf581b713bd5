"""Workers that share one stream of jobs, each in its own thread, and the queue of their results."""

from __future__ import annotations

import itertools
import threading
from queue import SimpleQueue
from typing import TYPE_CHECKING

from grader.sandbox.interface import FEW_LINTS
from grader.sandbox.tickets import Source, Ticket, Verdict
from grader.sandbox.worker import Heard, Rules, Tickets, Work, Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from grade_sandbox.jobs import Job

    from grader.sandbox.interface import Answer
    from grader.sandbox.supervisors import Supervisors


class End:
    """The last result of a worker: it has no more jobs, or it failed."""

    def __init__(self, crew: Crew, error: BaseException | None) -> None:
        self.crew, self.error = crew, error


Queue = SimpleQueue[Verdict | End]
"""The results of one crew, or of several at the same time."""


class Crew:
    """Some workers with the same jobs. They start at once."""

    def __init__(self, indexes: Iterable[int], work: Work, results: Queue) -> None:
        """`results` gets their verdicts. If a worker fails, no other one takes another job."""
        self.workers = [Worker(index, work, results) for index in indexes]
        self._results, self._stop = results, work.supervisors.stop
        self._unread = len(self.workers)
        """Number of workers whose end was not read from the results."""
        self._threads = [threading.Thread(target=self._run, args=(worker,), daemon=True) for worker in self.workers]
        for thread in self._threads:
            thread.start()

    @property
    def is_over(self) -> bool:
        """Whether no worker is working any more."""
        return not any(thread.is_alive() for thread in self._threads)

    def verdicts(self) -> Iterator[Verdict]:
        """Yield verdicts until these workers are done. If crews share their results, those of others are among them.

        Raises the error of a worker that failed.
        """
        failure: BaseException | None = None
        while self._unread:
            result = self._results.get()
            if isinstance(result, Verdict):
                yield result
                continue
            result.crew._unread -= 1
            failure = failure or result.error
        for thread in self._threads:
            thread.join()
        if failure is not None:
            raise failure

    def _run(self, worker: Worker) -> None:
        failure: BaseException | None = None
        try:
            worker.loop()
        except BaseException as error:
            failure = error
        self._results.put(End(self, failure))
        if failure is not None:
            # The others end after this, so whoever waits for them has read the error before.
            self._stop.set()


class Crews:
    """Forms crews from a pool's workers."""

    def __init__(self, supervisors: Supervisors, workers: int, rules: Rules) -> None:
        self._supervisors, self.workers, self._rules = supervisors, workers, rules
        self._last: Crew | None = None

    @property
    def held(self) -> int:
        """Number of answers of the last crew that wait for a canary."""
        return 0 if self._last is None else sum(worker.held for worker in self._last.workers)

    def renew(self, indexes: Iterable[int]) -> None:
        """Replace the supervisors of some idle workers by new ones that load the linter."""
        for index in indexes:
            self._supervisors.discard(index)
            self._supervisors.start(index, lint=True)

    def source(self, tickets: Iterator[Ticket | None]) -> Source:
        """Return a stream of jobs for several workers, which ends early if the run stops."""
        return Source(tickets, self._supervisors.stop)

    def form(
        self,
        indexes: Iterable[int],
        source: Tickets,
        starved: list[Ticket],
        results: Queue,
        *,
        waits: bool = False,
        heard: Heard | None = None,
        is_free: Callable[[int], bool] = lambda _: True,
    ) -> Crew:
        """Let some workers begin with these jobs. `results` gets their verdicts; for the rest see `Work`."""
        work = Work(
            supervisors=self._supervisors,
            rules=self._rules,
            source=source,
            starved=starved,
            heard=heard,
            waits=waits,
            is_free=is_free,
        )
        self._last = Crew(indexes, work, results)
        return self._last

    def run(self, tickets: Iterator[Ticket | None], workers: int, starved: list[Ticket]) -> Iterator[Verdict]:
        """Yield the verdicts of these jobs, run by the first `workers`."""
        results: Queue = SimpleQueue()
        yield from self.form(range(workers), self.source(tickets), starved, results).verdicts()

    def alone(self, starved: list[Ticket]) -> Iterator[Verdict]:
        """Run jobs again, one at a time. No other job may run."""
        # A program that used up its wall time but not its CPU time may have waited for a busy machine.
        alone = starved.copy()
        starved.clear()
        for ticket in alone:
            ticket.alone, ticket.attempts, ticket.tried = True, 0, True
            ticket.job = ticket.job | {"alone": True}
        if alone:
            yield from self.run(iter(alone), 1, [])


class Overlap:
    """Lint jobs that run on the first workers of a pool, while its other workers run other jobs. They begin at once.

    A linter takes half a second to load. If half of the workers lint, half as many linters are loaded. The linter of a
    sandbox ends before the first program runs there.
    """

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
