"""Keeps supervisors busy: sends jobs, replaces broken supervisors, and repeats alone jobs that may have starved."""

from __future__ import annotations

import collections
import itertools
import queue
import threading
from typing import TYPE_CHECKING

from grader.sandbox.interface import FEW_LINTS, Answer, Backend, Job, SupervisorLostError
from grader.sandbox.supervisors import Supervisors
from grader.sandbox.tickets import Source, Ticket, Verdict, was_starved
from grader.sandbox.vouching import LOST, MISJUDGED, Canaries, Vouching

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grader.sandbox.canaries import Canary

ANSWER_SECONDS = 180.0
"""Maximum time of a job; every kind of job has a wall-clock limit well below it."""
WINDOW = 2
"""Number of jobs that a supervisor has at a time: the next one is already there while it runs one."""
MAX_ATTEMPTS = 2

Results = queue.SimpleQueue[Verdict | BaseException | None]
"""Verdicts of all workers; an exception ends the run; None means that one worker has finished."""


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
    ) -> None:
        """`answer_seconds`: time without an answer after which a supervisor is lost.

        `fresh`: every program gets a new supervisor, and so a new sandbox.
        `canaries`: they decide which answers are valid; None: every answer is valid.
        """
        self._backend = backend
        self.workers = workers
        self.answer_seconds = answer_seconds
        self.fresh = fresh
        self.canaries = canaries
        self.supervisors = Supervisors(backend, workers)
        self._crew: list[_Worker] = []
        self.linters = 0
        """Number of workers whose supervisors have loaded the linter, or will."""

    @property
    def held(self) -> int:
        """Number of answers that wait for a canary. At the end of the jobs, no answer waits any more."""
        return sum(worker.held for worker in self._crew)

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

        `lint`: at least so many lint jobs will come first. Supervisors that will get none start later.
        """
        self._backend.load()
        self.linters = self._worthwhile(lint)
        for index in range(self.linters or self.workers):
            self.supervisors.start(index, lint=lint > 0)

    def _worthwhile(self, lint: int) -> int:
        """Return the number of workers for so many lint jobs."""
        if not lint:
            return 0
        # With a sandbox for each program, each one loads its own linter.
        return max(1, self.linters) if lint <= FEW_LINTS and not self.fresh else self.workers

    def run(self, jobs: Iterable[tuple[str, Job]]) -> Iterator[Verdict]:
        """Yield a verdict for every job, in the order in which they finish.

        Jobs are drawn as they are needed. Raises InfrastructureError if no supervisor can be started.
        """
        rest = iter(jobs)
        first = list(itertools.islice(rest, FEW_LINTS + 1))
        self.linters = self._worthwhile(len(first) if first and first[0][1].get("lint") else 0)
        if self.linters:
            for index in range(self.workers):
                self.supervisors.start(index, lint=index < self.linters)
        tickets = (Ticket(key, job) for key, job in itertools.chain(first, rest))
        yield from self.run_tickets(tickets, [], self.linters or self.workers)

    def run_tickets(
        self, tickets: Iterator[Ticket | None], starved: list[Ticket], workers: int = 0
    ) -> Iterator[Verdict]:
        """Like `run`. `tickets` yields None if it has no job at the moment, and ends if no more will come.

        `starved` collects the jobs that will run again alone after the others. `workers`: how many run them; 0: all.
        """
        yield from self._round(tickets, workers or self.workers, starved)
        # A program that used up its wall time but not its CPU time may have waited for a busy machine.
        alone = starved.copy()
        starved.clear()
        for ticket in alone:
            ticket.alone, ticket.attempts, ticket.tried = True, 0, True
            ticket.job = ticket.job | {"alone": True}
        if alone:
            yield from self._round(iter(alone), 1, [])

    def _round(self, tickets: Iterator[Ticket | None], workers: int, starved: list[Ticket]) -> Iterator[Verdict]:
        source = Source(tickets, self.supervisors.stop)
        results: Results = queue.SimpleQueue()
        self._crew = [_Worker(self, index, source, results, starved) for index in range(workers)]
        threads = [threading.Thread(target=self._work, args=(worker, results), daemon=True) for worker in self._crew]
        for thread in threads:
            thread.start()
        running = len(threads)
        failure: BaseException | None = None
        while running:
            item = results.get()
            if item is None:
                running -= 1
            elif isinstance(item, BaseException):
                failure = failure or item
                self.supervisors.stop.set()
            else:
                yield item
        for thread in threads:
            thread.join()
        if failure is not None:
            raise failure

    @staticmethod
    def _work(worker: _Worker, results: Results) -> None:
        try:
            worker.loop()
        except BaseException as error:
            results.put(error)
        finally:
            results.put(None)


class _Worker:
    """One thread's loop: fill the window, receive an answer, and decide whether it is valid."""

    def __init__(
        self,
        pool: Pool,
        index: int,
        source: Source,
        results: Results,
        starved: list[Ticket],
    ) -> None:
        self._pool, self._index, self._source, self._results = pool, index, source, results
        self._supervisors = pool.supervisors
        self._starved = starved
        self._outstanding: collections.deque[Ticket] = collections.deque()
        self._vouching: Vouching[Ticket] = Vouching(pool.canaries, fresh=pool.fresh)

    @property
    def held(self) -> int:
        """Number of answers that wait for a canary."""
        return self._vouching.held

    def loop(self) -> None:
        while not self._supervisors.stop.is_set():
            try:
                if not self._fill():
                    return
                answer = self._supervisors.get(self._index).receive(self._pool.answer_seconds)
            except SupervisorLostError as error:
                if self._supervisors.stop.is_set():
                    return
                self._lost(str(error))
                continue
            self._take(answer)

    def _fill(self) -> bool:
        """Send jobs until the window is full; return False if nothing is left to do."""
        while len(self._outstanding) < (1 if self._pool.fresh else WINDOW):
            ticket = self._canary() or self._vouching.next() or self._next()
            if ticket is None:
                break
            # A job may leave traces that no cleaning finds, so a job that could use them needs another sandbox.
            if ticket.needs_new and self._supervisors.has_run(self._index, ticket.task):
                self._source.again([ticket])
                last = self._canary(at_end=True)
                if last is None:
                    if self._outstanding:
                        break
                    self._discard()
                    continue
                ticket = last
            self._outstanding.append(ticket)
            supervisor = self._supervisors.get(self._index)
            self._supervisors.note_run(self._index, ticket.task)
            if ticket.canary is None:
                self._vouching.sent(ticket, supervisor)
            supervisor.send(ticket.job, self._pool.answer_seconds)
        return bool(self._outstanding)

    def _next(self) -> Ticket | None:
        """Return a job, or a canary after the last one. If answers are outstanding, do not wait for a job."""
        ticket = self._source.next(wait=not self._outstanding)
        return self._canary(at_end=True) if ticket is None and self._source.is_over else ticket

    def _canary(self, *, at_end: bool = False) -> Ticket | None:
        canary = self._vouching.due(lambda: self._supervisors.get(self._index), at_end=at_end)
        return None if canary is None else Ticket("", canary.job, canary)

    def _take(self, answer: Answer) -> None:
        ticket = self._outstanding.popleft()
        if "damaged" in answer:
            self._outstanding.appendleft(ticket)
            self._lost(str(answer["damaged"]))
            return
        if ticket.canary is not None:
            self._take_canary(ticket.canary, answer)
        elif was_starved(answer) and not ticket.alone:
            self._starved.append(ticket)
        elif not self._vouching.hold(ticket, answer):
            self._results.put(Verdict(key=ticket.key, answer=answer))
        if "retired" in answer or (self._pool.fresh and not self._vouching.is_open):
            # Its answer is valid, but nothing more may run there: jobs already sent to it go to another supervisor.
            self._discard()
            self._source.again(ticket for ticket in self._outstanding if ticket.canary is None)
            self._outstanding = collections.deque()

    def _take_canary(self, canary: Canary, answer: Answer) -> None:
        if canary.judged(answer):
            self._count(self._vouching.right(canary))
        elif not (was_starved(answer) and self._vouching.starved(canary)):
            self._void(canary)

    def _void(self, canary: Canary) -> None:
        """Discard a supervisor that misjudged a canary, and repeat all jobs since the last canary that was right."""
        unfinished = [ticket for ticket in self._outstanding if ticket.canary is None]
        self._outstanding = collections.deque()
        self._unscore(self._vouching.void(canary, unfinished), MISJUDGED)
        self._supervisors.discard(self._index)

    def _discard(self) -> None:
        """Discard a supervisor whose answers no further canary can confirm."""
        self._supervisors.discard(self._index)
        counting, lost = self._vouching.gone()
        self._count(counting)
        self._unscore(lost, LOST)

    def _count(self, held: Iterable[tuple[Ticket, Answer]]) -> None:
        for ticket, answer in held:
            self._results.put(Verdict(key=ticket.key, answer=answer))

    def _unscore(self, tickets: Iterable[Ticket], reason: str) -> None:
        for ticket in tickets:
            self._results.put(Verdict(key=ticket.key, answer=None, reason=reason))

    def _lost(self, reason: str) -> None:
        """Replace the supervisor. Only its current job can be the cause; the others are simply sent again."""
        if self._outstanding and (canary := self._outstanding[0].canary) is not None:
            # A canary breaks nothing, so the supervisor had been broken before.
            self._void(canary)
            return
        self._discard()
        outstanding = collections.deque(ticket for ticket in self._outstanding if ticket.canary is None)
        self._outstanding = collections.deque()
        if outstanding:
            first = outstanding.popleft()
            first.attempts, first.tried = first.attempts + 1, True
            if first.attempts < MAX_ATTEMPTS:
                outstanding.appendleft(first)
            else:
                self._results.put(Verdict(key=first.key, answer=None, reason=reason))
        self._source.again(outstanding)
