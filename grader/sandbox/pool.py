"""A fixed number of workers with one supervisor each; jobs that a busy machine may have starved run again alone."""

from __future__ import annotations

import itertools
from functools import partial
from typing import TYPE_CHECKING

from grader.sandbox.interface import FEW_LINTS
from grader.sandbox.supervisors import Supervisors
from grader.sandbox.tickets import Source, Ticket
from grader.sandbox.worker import WINDOW, Crew, Losses, Work

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grade_sandbox.jobs import Job

    from grader.sandbox.canary_check import Canaries
    from grader.sandbox.interface import Backend
    from grader.sandbox.tickets import Verdict
    from grader.sandbox.worker import Tickets

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
        canaries: Canaries | None = None,
        window: int = WINDOW,
        losses: Losses | None = None,
    ) -> None:
        """`answer_seconds`: time without an answer after which a supervisor is lost.

        `canaries`: they decide which answers are valid; None: every answer is valid.
        `window`: number of jobs that a supervisor has at a time; with 2, the next one is there while it runs one.
        `losses`: counts lost supervisors.
        """
        self._backend = backend
        self.workers = workers
        self.canaries = canaries
        self.supervisors = Supervisors(backend, workers)
        self._work = partial(
            Work,
            supervisors=self.supervisors,
            answer_seconds=answer_seconds,
            window=window,
            losses=losses or Losses(),
            canaries=canaries,
        )
        self.linters = 0
        """Number of workers whose supervisors have loaded the linter, or will."""

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
        if lint <= FEW_LINTS:
            return max(1, self.linters)
        return self.workers

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
        starved: list[Ticket] = []
        yield from self._together(tickets, self.linters or self.workers, starved)
        # A program that used up its wall time but not its CPU time may have waited for a busy machine.
        for ticket in starved:
            ticket.begin_alone()
        if starved:
            yield from self._together(iter(starved), 1, [])

    def form(
        self, workers: int, source: Tickets, starved: list[Ticket], *, holds: bool = True, has_spare: bool = False
    ) -> Crew:
        """Let some workers begin with these jobs. For the other arguments see `Work` in worker.py."""
        return Crew(workers, self._work(source=source, starved=starved, holds=holds, has_spare=has_spare))

    def _together(self, tickets: Iterator[Ticket], workers: int, starved: list[Ticket]) -> Iterator[Verdict]:
        yield from self.form(workers, Source(tickets), starved, has_spare=True).verdicts()
