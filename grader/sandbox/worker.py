"""One worker of a pool: it keeps a supervisor busy, replaces it if it is lost, and collects the valid answers."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import msgspec

from grader.sandbox.interface import Answer, SupervisorLostError
from grader.sandbox.supervisors import Supervisors
from grader.sandbox.tickets import IDLE_SECONDS, Source, Ticket, Verdict, was_starved

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.sandbox.canaries import Canary
    from grader.sandbox.vouching import Vouching

WINDOW = 2
"""Number of jobs that a supervisor has at a time: the next one is already there while it runs one."""
MAX_ATTEMPTS = 2

Heard = Callable[[str, Answer], None]


class Results(Protocol):
    """Where workers put their verdicts, each from its own thread."""

    def put(self, item: Verdict, /) -> None:
        """Add a verdict."""


class Rules:
    """How a pool's workers use their supervisors."""

    def __init__(self, answer_seconds: float, vouching: Callable[[], Vouching[Ticket]], *, fresh: bool) -> None:
        """`answer_seconds`: time without an answer after which a supervisor is lost.

        `vouching` returns what holds a worker's answers until canaries confirm them.
        `fresh`: every program gets a new supervisor, and so a new sandbox.
        """
        self.answer_seconds, self.vouching, self.fresh = answer_seconds, vouching, fresh


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """What the workers of a crew share."""

    supervisors: Supervisors
    rules: Rules
    source: Source
    starved: list[Ticket]
    """The jobs that will run again alone."""
    heard: Heard | None
    """It is called in a worker's thread with the key and answer of a job, before canaries confirm the answer."""
    is_free: Callable[[int], bool]
    """Whether the worker with this index may begin. If it may not, it waits until it may or no job is left."""


class Worker:
    """One thread's loop: fill the window, receive an answer, and decide whether it is valid."""

    def __init__(self, index: int, work: Work, results: Results) -> None:
        self._index, self._work, self._results = index, work, results
        self._source = work.source
        self._supervisors, self._rules = work.supervisors, work.rules
        self._outstanding: collections.deque[Ticket] = collections.deque()
        self._vouching = work.rules.vouching()

    @property
    def held(self) -> int:
        """Number of answers that wait for a canary."""
        return self._vouching.held

    def loop(self) -> None:
        """Work until no job is left, or the run stops."""
        while not self._work.is_free(self._index):
            if self._source.is_over or self._supervisors.stop.wait(IDLE_SECONDS):
                return
        while not self._supervisors.stop.is_set():
            try:
                if not self._fill():
                    return
                answer = self._supervisors.get(self._index).receive(self._rules.answer_seconds)
            except SupervisorLostError as error:
                if self._supervisors.stop.is_set():
                    return
                self._lost(str(error))
                continue
            self._take(answer)

    def _fill(self) -> bool:
        """Send jobs until the window is full; return False if nothing is left to do."""
        while len(self._outstanding) < (1 if self._rules.fresh else WINDOW):
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
            supervisor.send(ticket.job, self._rules.answer_seconds)
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
            self._work.starved.append(ticket)
        else:
            if self._work.heard is not None:
                self._work.heard(ticket.key, answer)
            if not self._vouching.hold(ticket, answer):
                self._results.put(Verdict(key=ticket.key, answer=answer))
        if "retired" in answer or (self._rules.fresh and not self._vouching.is_open):
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
        self._unscore(self._vouching.void(canary, unfinished), self._vouching.misjudged)
        self._supervisors.discard(self._index)

    def _discard(self) -> None:
        """Discard a supervisor whose answers no further canary can confirm."""
        self._supervisors.discard(self._index)
        counting, lost = self._vouching.gone()
        self._count(counting)
        self._unscore(lost, self._vouching.lost)

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
