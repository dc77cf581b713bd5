"""Which answers of a sandbox count: those that canaries after them, in the same sandbox, vouch for.

Canaries stand among the jobs of each kind at places that are drawn, and after the last one. An answer is held until a
right program and a wrong one after it were judged right. One that is misjudged voids what is held: all of it runs once
more in a new sandbox, and where that one misjudges too, nothing is known of it. Where a canary stands and what comes of
it depends on no verdict.
"""

from __future__ import annotations

import collections
import random
import threading
import time
import weakref
from collections import Counter
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from grader.results import CanaryProvenance
from grader.sandbox import canaries
from grader.sandbox.canaries import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from grader.sandbox.canaries import Canary
    from grader.sandbox.interface import Answer, Job, Supervisor

FIRST_WITHIN = 16
"""The first canary of a kind comes before that many jobs of it have run."""
GAPS = (128, 384)
"""Jobs between two later ones."""
MOST_SECONDS = 5.0
"""No answer waits much longer for a canary while its sandbox works: an interrupted run loses what was held."""
MOST_CHARACTERS = 8 << 20
"""No more than that is held of what programs answered, by much."""
PATIENCE = 2
"""How many canaries in a row may be starved before that counts as misjudged."""
MISJUDGED = "two sandboxes misjudged a program with a known verdict that ran after it; run grade doctor"
LOST = "its sandbox misjudged a program with a known verdict, and the one after that was lost"


class Sent(Protocol):
    """A job on its way."""

    job: Job
    voided: bool
    """A sandbox that misjudged a canary has run it."""


Ticket = TypeVar("Ticket", bound=Sent)


class Canaries:
    """The canaries of a run's sandboxes: what they have had, and what came of it."""

    def __init__(self, draw: random.Random | None = None) -> None:
        self._draw = draw or random.SystemRandom()
        self._lock = threading.Lock()
        self._sandboxes: weakref.WeakKeyDictionary[Supervisor, _Sandbox] = weakref.WeakKeyDictionary()
        self._counts = Counter[str]()
        self._misjudged = Counter[str]()

    def of(self, supervisor: Supervisor) -> _Sandbox:
        """Return what a sandbox has had."""
        with self._lock:
            return self._sandboxes.setdefault(supervisor, _Sandbox(self._draw))

    def count(self, what: str, more: int = 1) -> None:
        """Count canaries that were `right`, jobs that run `again`, and jobs that stay `unscored`."""
        with self._lock:
            self._counts[what] += more

    def misjudged(self, canary: Canary) -> None:
        """Take note of a canary that was misjudged."""
        with self._lock:
            self._misjudged[f"{canary.kind}: a {'right' if canary.is_right else 'wrong'} program"] += 1

    def described(self) -> CanaryProvenance:
        """Return what a report says of them."""
        with self._lock:
            return CanaryProvenance(
                right=self._counts["right"],
                misjudged=dict(self._misjudged),
                run_again=self._counts["again"],
                unscored=self._counts["unscored"],
            )


class _Sandbox:
    """What one sandbox has had of canaries, over all phases."""

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self._had = set[Kind]()
        self.gap = 0
        """Jobs before the next canary."""

    def begin(self, kind: Kind) -> None:
        """Jobs of a kind begin: draw the first place."""
        self.gap = self._draw.randint(*GAPS) if kind in self._had else self._draw.randint(1, FIRST_WITHIN)
        self._had.add(kind)

    def draw(self, job: Job, after: dict[bool, int]) -> Canary | None:
        """Draw a canary like a job. `after`: jobs since the last right program, and since the last wrong one."""
        self.gap = self._draw.randint(*GAPS)
        is_right = self._draw.random() < 0.5 if after[True] == after[False] else after[True] > after[False]
        return canaries.like(job, self._draw, is_right=is_right)


class Vouching(Generic[Ticket]):
    """One worker's answers in one phase, until canaries vouch for them: a right program and a wrong one.

    A right one alone would not: a sandbox in which everything passes judges it right.
    """

    def __init__(self, all_: Canaries | None, *, fresh: bool) -> None:
        """`all_`: None: there are no canaries, and every answer counts. `fresh`: a sandbox runs one job."""
        self._vouches = all_ is not None
        self._canaries, self._fresh = all_ or Canaries(), fresh
        self._held: list[tuple[Ticket, Answer]] = []
        self._vouched = {True: 0, False: 0}
        """How many of these, from the first, a right and a wrong program have vouched for."""
        self._again = collections.deque[Ticket]()
        self._last: Job | None = None
        """The job that was sent last to the sandbox that is there; None: it has been sent none."""
        self._after = {True: 0, False: 0}
        """Jobs sent since the last right program was sent, and since the last wrong one."""
        self._since = 0.0
        self._characters = 0
        """What the answers that are held come to."""
        self._is_second = False
        """Whether what was sent since then runs a second time."""
        self._starved = 0

    @property
    def is_open(self) -> bool:
        """Whether canaries must still be sent to the sandbox before it may be given up."""
        return any(self._after.values())

    @property
    def held(self) -> int:
        """How many answers wait for a canary."""
        return len(self._held)

    def next(self) -> Ticket | None:
        """Return the next job that must run once more; None: there is none."""
        return self._again.popleft() if self._again else None

    def _kind(self, job: Job | None) -> Kind | None:
        return canaries.kind_of(job) if self._vouches and job is not None else None

    def sent(self, ticket: Ticket, supervisor: Supervisor) -> None:
        """Take note of a job that was sent."""
        kind = self._kind(ticket.job)
        if kind is None:
            return
        if self._kind(self._last) != kind:
            self._canaries.of(supervisor).begin(kind)
        if not min(self._after.values()):
            self._since = time.monotonic()
        self._last = ticket.job
        self._after = {is_right: count + 1 for is_right, count in self._after.items()}
        self._is_second = self._is_second or ticket.voided

    def due(self, supervisor: Callable[[], Supervisor], *, at_end: bool = False) -> Canary | None:
        """Return a canary where one is due before the next job; `at_end`: there is no next job."""
        if self._last is None or not self.is_open:
            return None
        sandbox = self._canaries.of(supervisor())
        if not at_end and not self._is_due(sandbox):
            return None
        canary = sandbox.draw(self._last, self._after)
        if canary is not None:
            self._after[canary.is_right] = 0
        self._is_second = self._is_second and self.is_open
        return canary

    def _is_due(self, sandbox: _Sandbox) -> bool:
        if self._fresh or (self._is_second and not self._again) or self._starved:
            return True
        # Since the last canary, whichever it was.
        jobs, waited = min(self._after.values()), time.monotonic() - self._since
        return jobs > 0 and (jobs >= sandbox.gap or waited > MOST_SECONDS or self._characters > MOST_CHARACTERS)

    def hold(self, ticket: Ticket, answer: Answer) -> bool:
        """Hold an answer; False: no canary can vouch for this kind of job, so it counts at once."""
        if self._kind(ticket.job) is None:
            return False
        self._held.append((ticket, answer))
        self._characters += _length(answer)
        return True

    def starved(self, canary: Canary) -> bool:
        """Whether a canary that was starved says nothing, and another one is to follow."""
        self._starved += 1
        self._after[canary.is_right] += 1
        return self._starved <= PATIENCE

    def right(self, canary: Canary) -> list[tuple[Ticket, Answer]]:
        """A canary was judged right: return the answers that count now."""
        self._canaries.count("right")
        self._starved = 0
        self._vouched[canary.is_right] = len(self._held)
        count = min(self._vouched.values())
        counting, self._held = self._held[:count], self._held[count:]
        self._vouched = {is_right: number - count for is_right, number in self._vouched.items()}
        self._characters -= sum(_length(answer) for _, answer in counting)
        return counting

    def void(self, canary: Canary, unfinished: Iterable[Ticket]) -> list[Ticket]:
        """A canary was misjudged: return the jobs that nothing is known of. The others are next.

        `unfinished`: what the sandbox has been sent and has not answered. The sandbox must be given up.
        """
        self._canaries.misjudged(canary)
        tickets = [*(ticket for ticket, _ in self._forget()), *unfinished]
        unscored = [ticket for ticket in tickets if ticket.voided]
        again = [ticket for ticket in tickets if not ticket.voided]
        for ticket in again:
            ticket.voided = True
        # Their first runs were in the sandbox that is given up, so in a new one they run as if for the first time.
        self._again.extend(again)
        self._canaries.count("again", len(again))
        self._canaries.count("unscored", len(unscored))
        return unscored

    def gone(self) -> tuple[list[tuple[Ticket, Answer]], list[Ticket]]:
        """The sandbox is gone, and can vouch for nothing more: return the answers that count all the same.

        So does what was answered before a supervisor said that it is damaged. What ran for the second time does not:
        it comes second, as jobs that nothing is known of.
        """
        held = self._forget()
        lost = [ticket for ticket, _ in held if ticket.voided]
        self._canaries.count("unscored", len(lost))
        return [(ticket, answer) for ticket, answer in held if not ticket.voided], lost

    def _forget(self) -> list[tuple[Ticket, Answer]]:
        """Forget the sandbox; return the answers that are held of it."""
        held, self._held, self._last = self._held, [], None
        self._after, self._vouched = {True: 0, False: 0}, {True: 0, False: 0}
        self._characters, self._is_second, self._starved = 0, False, 0
        return held


def _length(answer: Answer) -> int:
    """Return about how many characters an answer has, of those that may be many."""
    part = answer.get("answer")
    return sum(map(len, part.get("replies", ()))) if isinstance(part, dict) else 0
