"""Keeps supervisors busy: hands out jobs, replaces what breaks, and runs again alone what may have been starved."""

from __future__ import annotations

import collections
import queue
import threading
from typing import TYPE_CHECKING

from grader.sandbox.interface import Answer, Backend, Job, SupervisorLostError
from grader.sandbox.supervisors import Supervisors
from grader.sandbox.tickets import Source, Ticket, Verdict, was_starved
from grader.sandbox.vouching import LOST, MISJUDGED, Canaries, Vouching

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grader.sandbox.canaries import Canary

ANSWER_SECONDS = 180.0
"""No job takes longer: each kind of job has a wall limit well below this."""
WINDOW = 2
"""Jobs a supervisor has at a time: while it runs one, the next is already there."""
MAX_ATTEMPTS = 2

Results = queue.SimpleQueue[Verdict | BaseException | None]
"""Verdicts of all workers; an exception ends the run; None: one worker is done."""


class Pool:
    """A fixed number of supervisors of one backend. Use as a context manager."""

    def __init__(
        self,
        backend: Backend,
        workers: int,
        answer_seconds: float,
        *,
        fresh: bool = False,
        lint: bool = True,
        canaries: Canaries | None = None,
    ) -> None:
        """`answer_seconds`: how long an answer may take before its supervisor counts as lost.

        `fresh`: every program gets a supervisor, and so a sandbox, that has run nothing before.
        `lint`: supervisors will be asked to lint, and load at once what that takes.
        `canaries`: they decide which answers count; None: every answer does.
        """
        self._backend = backend
        self.workers = workers
        self.answer_seconds = answer_seconds
        self.fresh = fresh
        self.canaries = canaries
        self.supervisors = Supervisors(backend, workers, lint=lint)
        self._crew: list[_Worker] = []

    @property
    def held(self) -> int:
        """How many answers wait for a canary; they come at the latest when no more jobs come."""
        return sum(worker.held for worker in self._crew)

    def __enter__(self) -> Pool:
        self._backend.reap()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End every supervisor, also those that are still starting."""
        self.supervisors.close()

    def begin(self) -> None:
        """Start all supervisors in the background. A failure shows when the supervisor is needed."""
        for index in range(self.workers):
            self.supervisors.start(index)

    def run(self, jobs: Iterable[tuple[str, Job]]) -> Iterator[Verdict]:
        """Yield a verdict for every job, in the order they finish.

        Jobs are drawn as they are needed. Raises InfrastructureError where no supervisor can be started.
        """
        yield from self.run_tickets((Ticket(key, job) for key, job in jobs), [])

    def run_tickets(self, tickets: Iterator[Ticket | None], starved: list[Ticket]) -> Iterator[Verdict]:
        """Do as `run`. `tickets` gives None where there is no job at the moment, and ends where no more will come.

        `starved` holds the jobs that wait for the others to be done, so that they can run again alone.
        """
        yield from self._round(tickets, self.workers, starved)
        # A program that used its wall time but not its CPU time may have been waiting for a busy machine.
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
    """One thread's loop: fill the window, take an answer, judge whether it counts."""

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
        """How many answers wait for a canary."""
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
        """Send until the window is full; False where nothing is left to do."""
        while len(self._outstanding) < (1 if self._pool.fresh else WINDOW):
            ticket = self._canary() or self._vouching.next() or self._next()
            if ticket is None:
                break
            # What a run left where nobody cleans, another one must not find that could use it.
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
        """Return a job, or a canary after the last one. One with an answer to wait for does not wait for a job."""
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
            # Its answer stands, but nothing more may run there: what it was sent already goes to another.
            self._discard()
            self._source.again(ticket for ticket in self._outstanding if ticket.canary is None)
            self._outstanding = collections.deque()

    def _take_canary(self, canary: Canary, answer: Answer) -> None:
        if canary.judged(answer):
            self._count(self._vouching.right(canary))
        elif not (was_starved(answer) and self._vouching.starved(canary)):
            self._void(canary)

    def _void(self, canary: Canary) -> None:
        """Give up a supervisor that misjudged a canary; what it ran since the last right one runs once more."""
        unfinished = [ticket for ticket in self._outstanding if ticket.canary is None]
        self._outstanding = collections.deque()
        self._unscore(self._vouching.void(canary, unfinished), MISJUDGED)
        self._supervisors.discard(self._index)

    def _discard(self) -> None:
        """Give up a supervisor that can vouch for nothing more."""
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
        """Replace the supervisor. Only the job it was working on can be to blame; the others just go again."""
        if self._outstanding and (canary := self._outstanding[0].canary) is not None:
            # A canary breaks nothing: a supervisor that is lost with one had been broken before.
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
