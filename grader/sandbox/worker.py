"""The workers of a pool: each keeps a supervisor busy, replaces it if it is lost, and collects the valid answers.

Workers that share one stream of jobs are a crew: each has its own thread, and all have one queue for their results.
"""

from __future__ import annotations

import collections
import threading
from queue import SimpleQueue
from typing import TYPE_CHECKING, Protocol

import msgspec

from grader.sandbox.canary_check import LOST, MISJUDGED, Canaries, CanaryCheck
from grader.sandbox.interface import SupervisorLostError
from grader.sandbox.supervisors import Supervisors
from grader.sandbox.tickets import Ticket, Verdict, was_starved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from grader.sandbox.canaries import Canary
    from grader.sandbox.interface import Answer

WINDOW = 2
"""Usual number of jobs that a supervisor has at a time: the next one is already there while it runs one."""
MAX_ATTEMPTS = 2


class Tickets(Protocol):
    """Where workers get their jobs, each from its own thread."""

    is_over: bool
    """Whether no more jobs will come, except those to repeat."""

    def next(self, *, wait: bool) -> Ticket | None:
        """Return a ticket; None if all are done, or (without `wait`) if there is none at the moment."""

    def again(self, tickets: Iterable[Ticket]) -> None:
        """Put tickets back at the front of the queue."""


class Losses:
    """Counts lost supervisors, and the jobs that were sent again because of it."""

    def __init__(self) -> None:
        self.sandboxes = self.jobs = 0
        self._lock = threading.Lock()

    def note(self, jobs: int) -> None:
        """Count a lost supervisor, with the number of jobs that it had not answered."""
        with self._lock:
            self.sandboxes += 1
            self.jobs += jobs


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """What the workers of a crew share."""

    supervisors: Supervisors
    answer_seconds: float
    """Time without an answer after which a supervisor is lost."""
    canaries: Canaries | None
    """None: every answer is valid."""
    window: int
    """Number of jobs that a supervisor has at a time."""
    losses: Losses
    source: Tickets
    starved: list[Ticket]
    """The jobs that will run again alone."""
    holds: bool = True
    """Whether an answer is given only when canaries have confirmed it."""
    has_spare: bool = False
    """Whether one worker more takes part as soon as a program sleeps: such a program needs no core."""


class Worker:
    """One thread's loop: fill the window, receive an answer, and decide whether it is valid."""

    def __init__(self, index: int, work: Work, give: Callable[[Verdict], None], asleep: Callable[[], object]) -> None:
        """`give` gets the verdicts. `asleep` is called when a program sleeps."""
        self._index, self._work, self._give, self._asleep = index, work, give, asleep
        self._source, self._supervisors = work.source, work.supervisors
        self._outstanding: collections.deque[Ticket] = collections.deque()
        self._waiting: Ticket | None = None
        """The first job of a sandbox, while canaries come before it."""
        self._canary_check = CanaryCheck(work.canaries, holds=work.holds)

    def loop(self) -> None:
        """Work until no job is left, or the run stops."""
        while not self._supervisors.stop.is_set():
            try:
                if not self._fill():
                    return
                answer = self._supervisors.get(self._index).receive(self._work.answer_seconds)
            except SupervisorLostError as error:
                if self._supervisors.stop.is_set():
                    return
                self._lost(str(error))
                continue
            if "asleep" in answer:
                self._asleep()
            else:
                self._take(answer)

    def _fill(self) -> bool:
        """Send jobs until the window is full; return False if nothing is left to do."""
        while len(self._outstanding) < self._work.window:
            ticket = self._canary() or self._waiting or self._next()
            if ticket is None:
                break
            if ticket.canary is None:
                is_first = self._canary_check.begins(ticket.job)
                self._waiting = ticket if is_first else None
                if is_first:
                    continue
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
                self._canary_check.sent(ticket)
            supervisor.send(ticket.job, self._work.answer_seconds)
        return bool(self._outstanding)

    def _next(self) -> Ticket | None:
        """Return a job, or a canary after the last one. If answers are outstanding or held, do not wait for a job."""
        ticket = self._source.next(wait=not (self._outstanding or self._canary_check.held))
        is_last = ticket is None and (self._source.is_over or not self._outstanding)
        return self._canary(at_end=True) if is_last else ticket

    def _canary(self, *, at_end: bool = False) -> Ticket | None:
        canary = self._canary_check.due(at_end=at_end)
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
            self._work.starved.append(ticket)
        elif not self._canary_check.hold(ticket, answer):
            self._give(Verdict(key=ticket.key, answer=answer))
        if "retired" in answer:
            # Its answer is valid, but nothing more may run there: jobs already sent to it go to another supervisor.
            self._discard()
            self._source.again(ticket for ticket in self._outstanding if ticket.canary is None)
            self._outstanding = collections.deque()

    def _take_canary(self, canary: Canary, answer: Answer) -> None:
        if canary.judged(answer):
            self._count(self._canary_check.right(canary))
        elif not (was_starved(answer) and self._canary_check.starved(canary)):
            self._void(canary)

    def _void(self, canary: Canary) -> None:
        """Discard a supervisor that misjudged a canary, and repeat all jobs since the last canary that was right."""
        unfinished = [ticket for ticket in self._outstanding if ticket.canary is None]
        unfinished += [] if self._waiting is None else [self._waiting]
        self._outstanding, self._waiting = collections.deque(), None
        again, unscored = self._canary_check.void(canary, unfinished)
        self._unscore(unscored, MISJUDGED)
        self._supervisors.discard(self._index)
        self._source.again(again)

    def _discard(self) -> None:
        """Discard a supervisor whose answers no further canary can confirm."""
        self._supervisors.discard(self._index)
        counting, lost = self._canary_check.gone()
        self._count(counting)
        self._unscore(lost, LOST)

    def _count(self, held: Iterable[tuple[Ticket, Answer]]) -> None:
        for ticket, answer in held:
            self._give(Verdict(key=ticket.key, answer=answer))

    def _unscore(self, tickets: Iterable[Ticket], reason: str) -> None:
        for ticket in tickets:
            self._give(Verdict(key=ticket.key, answer=None, reason=reason))

    def _lost(self, reason: str) -> None:
        """Replace the supervisor. Only its current job can be the cause; the others are simply sent again."""
        self._work.losses.note(sum(ticket.canary is None for ticket in self._outstanding))
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
                self._give(Verdict(key=first.key, answer=None, reason=reason))
        self._source.again(outstanding)


# --- crews ---


class Crew:
    """Some workers with the same jobs. They start at once."""

    def __init__(self, workers: int, work: Work) -> None:
        """If a worker fails, no other one takes another job."""
        self._results = SimpleQueue[Verdict | BaseException | None]()
        """Verdicts, and for each worker that has ended its error or None."""
        self._work, self._stop, self._most = work, work.supervisors.stop, workers + work.has_spare
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        for _ in range(workers):
            self._add()

    def _add(self) -> None:
        """Let one more worker begin, if there may be more."""
        with self._lock:
            if len(self._threads) < self._most:
                worker = Worker(len(self._threads), self._work, self._results.put, self._add)
                self._threads.append(threading.Thread(target=self._run, args=(worker,), daemon=True))
                self._threads[-1].start()

    def verdicts(self) -> Iterator[Verdict]:
        """Yield verdicts until the workers are done. Raises the error of a worker that failed."""
        failure: BaseException | None = None
        ended = 0
        while ended < len(self._threads):
            result = self._results.get()
            if isinstance(result, Verdict):
                yield result
                continue
            ended += 1
            failure = failure or result
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
        self._results.put(failure)
        if failure is not None:
            # The others end after this, so whoever waits for them has read the error before.
            self._stop.set()
