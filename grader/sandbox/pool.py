"""A fixed number of workers with one supervisor each; jobs that a busy machine may have starved run again alone."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from grader.sandbox.canary_check import MOST_SECONDS, CanaryCheck
from grader.sandbox.crew import Crews, Overlap
from grader.sandbox.interface import FEW_LINTS
from grader.sandbox.supervisors import Supervisors
from grader.sandbox.tickets import Ticket
from grader.sandbox.worker import WINDOW, Losses, Rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grade_sandbox.jobs import Job

    from grader.sandbox.canary_check import Canaries
    from grader.sandbox.crew import Crew, Queue
    from grader.sandbox.interface import Backend
    from grader.sandbox.tickets import Verdict
    from grader.sandbox.worker import Heard, Tickets

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
        rules = Rules(
            answer_seconds=answer_seconds,
            fresh=fresh,
            window=1 if fresh else window,
            losses=losses or Losses(),
            canary_check=lambda: CanaryCheck(canaries, fresh=fresh, seconds=canary_seconds),
        )
        self._crews = Crews(self.supervisors, workers, rules)
        self._fresh, self._overlaps = fresh, overlaps and workers > 1 and not fresh
        self.linters = 0
        """Number of workers whose supervisors have loaded the linter, or will."""

    @property
    def held(self) -> int:
        """Number of answers that wait for a canary. At the end of the jobs, no answer waits any more."""
        return self._crews.held

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
        return Overlap(self._crews, self.linters, jobs, count=count, heard=heard)

    def crew(self, source: Tickets, starved: list[Ticket], results: Queue) -> Crew:
        """Let all workers begin with jobs that arrive while they work; see stream.py."""
        return self._crews.form(range(self.workers), source, starved, results, waits=True)

    def run_tickets(
        self, tickets: Iterator[Ticket | None], starved: list[Ticket], workers: int = 0
    ) -> Iterator[Verdict]:
        """Like `run`. `tickets` yields None if it has no job at the moment, and ends if no more will come.

        `starved` collects the jobs that will run again alone after the others. `workers`: how many run them; 0: all.
        """
        yield from self._crews.run(tickets, workers or self.workers, starved)
        yield from self._crews.alone(starved)
