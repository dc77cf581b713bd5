"""Workers that share one stream of jobs, each in its own thread, and the queue of their results."""

from __future__ import annotations

import threading
from queue import SimpleQueue
from typing import TYPE_CHECKING

from grader.sandbox.tickets import Source, Ticket, Verdict
from grader.sandbox.worker import Heard, Rules, Work, Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

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
        source: Source,
        starved: list[Ticket],
        results: Queue,
        *,
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
