"""A fixed number of workers with one supervisor each; jobs that a busy machine may have starved run again alone."""

from __future__ import annotations

import itertools
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from grader.sandbox.canary_check import MOST_SECONDS, CanaryCheck
from grader.sandbox.interface import FEW_LINTS
from grader.sandbox.supervisors import Supervisors
from grader.sandbox.tickets import Source, Ticket
from grader.sandbox.worker import WINDOW, Crew, Losses, Work

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grade_sandbox.jobs import Job

    from grader.sandbox.canary_check import Canaries
    from grader.sandbox.interface import Answer, Backend
    from grader.sandbox.tickets import Verdict
    from grader.sandbox.worker import Heard, Queue, Tickets

ANSWER_SECONDS = 180.0
"""Maximum time of a job; every kind of job has a wall-clock limit well below it."""


class Pool:
    """A fixed number of supervisors of one backend. Use it as a context manager."""

    def __init__(
        self,
        backend: Backend,
        workers: int,
        answer_seconds: float,
        *,
        fresh: bool = False,
        canaries: Canaries | None = None,
        overlaps: bool = False,
        canary_seconds: float = MOST_SECONDS,
        window: int = WINDOW,
        losses: Losses | None = None,
    ) -> None:
        """`answer_seconds`: time without an answer after which a supervisor is lost.

        `fresh`: every program gets a new supervisor, and so a new sandbox.
        `canaries`: they decide which answers are valid; None: every answer is valid.
        `canary_seconds`: about the maximum time that an answer waits for a canary.
        `window`: number of jobs that a supervisor has at a time; with 2, the next one is there while it runs one.
        `losses`: counts lost supervisors.
        `overlaps`: if there are two or more workers, half of them can lint while the others run other jobs (`overlap`).
        """
        self._backend = backend
        self.workers = workers
        self.canaries = canaries
        self.supervisors = Supervisors(backend, workers)
        self._work = partial(
            Work,
            supervisors=self.supervisors,
            answer_seconds=answer_seconds,
            fresh=fresh,
            window=1 if fresh else window,
            losses=losses or Losses(),
            canary_check=lambda: CanaryCheck(canaries, fresh=fresh, seconds=canary_seconds),
        )
        self._last: Crew | None = None
        self._fresh, self._overlaps = fresh, overlaps and workers > 1 and not fresh
        self.linters = 0
        """Number of workers whose supervisors have loaded the linter, or will."""

    @property
    def held(self) -> int:
        """Number of answers that wait for a canary. At the end of the jobs, no answer waits any more."""
        return 0 if self._last is None else sum(worker.held for worker in self._last.workers)

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def finish(self) -> None:
        """Begin to end every supervisor, after the last job. `close` waits until they have ended."""
        self.supervisors.finish()

    def close(self) -> None:
        """End every supervisor, including those that are still starting."""
        self.supervisors.close()

    def begin(self, lint: int = 0) -> None:
        """Start supervisors in the background. An error is raised only when the supervisor is needed.

        `lint`: at least so many lint jobs will come first. If these are few, the supervisors that get none start later.
        """
        self._backend.load()
        self.linters = self._worthwhile(lint)
        if 0 < lint <= FEW_LINTS:
            for index in range(self.linters):
                self.supervisors.start(index, lint=True)
        else:
            self._start_all()

    def _start_all(self) -> None:
        for index in range(self.workers):
            self.supervisors.start(index, lint=index < self.linters)

    def _worthwhile(self, lint: int) -> int:
        """Return the number of workers for so many lint jobs."""
        if not lint:
            return 0
        # With a sandbox for each program, each one loads its own linter.
        if self._fresh:
            return self.workers
        if lint <= FEW_LINTS:
            return max(1, self.linters)
        return self.workers // 2 if self._overlaps else self.workers

    def run(self, jobs: Iterable[tuple[str, Job]]) -> Iterator[Verdict]:
        """Yield a verdict for every job, in the order in which they finish.

        Jobs are drawn as they are needed. Raises InfrastructureError if no supervisor can be started.
        """
        rest = iter(jobs)
        first = list(itertools.islice(rest, FEW_LINTS + 1))
        self.linters = self._worthwhile(len(first) if first and first[0][1].get("lint") else 0)
        if self.linters:
            self._start_all()
        tickets = (Ticket(key, job) for key, job in itertools.chain(first, rest))
        yield from self.run_tickets(tickets, [], self.linters or self.workers)

    def overlap(self, jobs: Iterable[tuple[str, Job]], count: int, heard: Heard) -> Overlap | None:
        """Begin to run `count` lint jobs on some workers, so that the others are free for other jobs.

        Return None if this pool does not do so. `heard`: see `Work` in worker.py.
        """
        if not self._overlaps:
            return None
        self.linters = self._worthwhile(count)
        self._start_all()
        return Overlap(self, self.linters, jobs, count=count, heard=heard)

    def source(self, tickets: Iterator[Ticket | None]) -> Source:
        """Return a stream of jobs for several workers, which ends early if the run stops."""
        return Source(tickets, self.supervisors.stop)

    def form(self, indexes: Iterable[int], source: Tickets, starved: list[Ticket], results: Queue, **more: Any) -> Crew:
        """Let some workers begin with these jobs. `results` gets their verdicts; `more`: other fields of `Work`."""
        self._last = Crew(indexes, self._work(source=source, starved=starved, **more), results)
        return self._last

    def run_tickets(
        self, tickets: Iterator[Ticket | None], starved: list[Ticket], workers: int = 0
    ) -> Iterator[Verdict]:
        """Like `run`. `tickets` yields None if it has no job at the moment, and ends if no more will come.

        `starved` collects the jobs that will run again alone after the others. `workers`: how many run them; 0: all.
        """
        yield from self._together(tickets, workers or self.workers, starved)
        yield from self.alone(starved)

    def _together(self, tickets: Iterator[Ticket | None], workers: int, starved: list[Ticket]) -> Iterator[Verdict]:
        results: Queue = SimpleQueue()
        yield from self.form(range(workers), self.source(tickets), starved, results).verdicts()

    def alone(self, starved: list[Ticket]) -> Iterator[Verdict]:
        """Run jobs again, one at a time. No other job may run."""
        # A program that used up its wall time but not its CPU time may have waited for a busy machine.
        alone = starved.copy()
        starved.clear()
        for ticket in alone:
            ticket.begin_alone()
        if alone:
            yield from self._together(iter(alone), 1, [])


class Overlap:
    """Lint jobs that run on the first workers of a pool, while its other workers run other jobs. They begin at once.

    A linter takes half a second to load. If half of the workers lint, half as many linters are loaded. The linter of a
    sandbox ends before the first program runs there.
    """

    def __init__(self, pool: Pool, linters: int, jobs: Iterable[tuple[str, Job]], *, count: int, heard: Heard) -> None:
        """`linters`: number of workers that lint. `count`: number of jobs. `heard`: see `Work` in worker.py."""
        self._pool, self._linters, self._count, self._heard = pool, linters, count, heard
        self._results: Queue = SimpleQueue()
        self._ran = 0
        self._numbers = itertools.count(1)
        self._source = pool.source(Ticket(key, job) for key, job in jobs)
        self._linting = pool.form(range(linters), self._source, [], self._results, heard=self._hear)

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
        source = self._pool.source(None if job is None else Ticket(*job) for job in jobs)
        workers = range(self._pool.workers)
        yield from self._pool.form(workers, source, starved, self._results, is_free=self._is_free).verdicts()
        if starved:
            # These jobs run alone on the machine, so the lint jobs must end first.
            yield from self.rest()
            yield from self._pool.alone(starved)

    def _is_free(self, index: int) -> bool:
        return index >= self._linters or self.is_over

    def rest(self) -> Iterator[Verdict]:
        """Yield the verdicts of the lint jobs that `run` has not yielded; raises InfrastructureError.

        If many lint jobs are left, all workers lint. Those that have run other jobs get new sandboxes for this, because
        no linter runs where a program has run.
        """
        if self._count - self._ran > FEW_LINTS:
            others = range(self._linters, self._pool.workers)
            for index in others:
                self._pool.supervisors.discard(index)
                self._pool.supervisors.start(index, lint=True)
            yield from self._pool.form(others, self._source, [], self._results, heard=self._hear).verdicts()
        yield from self._linting.verdicts()
