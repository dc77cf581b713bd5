"""Decide which answers of a sandbox are valid: those confirmed by later canaries in the same sandbox.

Canaries run at random places among the jobs of each kind, and after the last job. An answer is held until a right and
a wrong program after it were judged correctly. If a canary is misjudged, all held answers are discarded, and their jobs
run once more in a new sandbox. If that one misjudges a canary, too, these jobs are unscored. Neither the place of a
canary nor its consequences depend on a verdict.
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
"""The first canary of a kind comes within this number of jobs of that kind."""
GAPS = (128, 384)
"""Range of the number of jobs between two later canaries."""
MOST_SECONDS = 5.0
"""About the maximum time that an answer waits for a canary, because an interrupted run loses held answers."""
MOST_CHARACTERS = 8 << 20
"""About the maximum size of the held answers."""
PATIENCE = 2
"""Number of canaries in a row that may be starved; one more is misjudged."""
MISJUDGED = "two sandboxes misjudged a program with a known verdict that ran after it; run grade doctor"
LOST = "its sandbox misjudged a program with a known verdict, and the one after that was lost"


class Sent(Protocol):
    """A job that was sent to a sandbox."""

    job: Job
    voided: bool
    """Whether it ran in a sandbox that misjudged a canary."""


Ticket = TypeVar("Ticket", bound=Sent)


class Canaries:
    """The canaries of a run's sandboxes, and counts of their results."""

    def __init__(self, draw: random.Random | None = None) -> None:
        self._draw = draw or random.SystemRandom()
        self._lock = threading.Lock()
        self._sandboxes: weakref.WeakKeyDictionary[Supervisor, _Sandbox] = weakref.WeakKeyDictionary()
        self._counts = Counter[str]()
        self._misjudged = Counter[str]()

    def of(self, supervisor: Supervisor) -> _Sandbox:
        """Return the state of a sandbox's canaries."""
        with self._lock:
            return self._sandboxes.setdefault(supervisor, _Sandbox(self._draw))

    def count(self, what: str, more: int = 1) -> None:
        """Count `right` canaries, jobs that run `again`, and jobs that stay `unscored`."""
        with self._lock:
            self._counts[what] += more

    def misjudged(self, canary: Canary) -> None:
        """Count a misjudged canary."""
        with self._lock:
            self._misjudged[f"{canary.kind}: a {'right' if canary.is_right else 'wrong'} program"] += 1

    def described(self) -> CanaryProvenance:
        """Return the counts for a report."""
        with self._lock:
            return CanaryProvenance(
                right=self._counts["right"],
                misjudged=dict(self._misjudged),
                run_again=self._counts["again"],
                unscored=self._counts["unscored"],
            )


class _Sandbox:
    """The state of one sandbox's canaries, over all phases."""

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self._had = set[Kind]()
        self.gap = 0
        """Number of jobs before the next canary."""

    def begin(self, kind: Kind) -> None:
        """Begin with jobs of a kind: draw the place of its first canary."""
        self.gap = self._draw.randint(*GAPS) if kind in self._had else self._draw.randint(1, FIRST_WITHIN)
        self._had.add(kind)

    def draw(self, job: Job, after: dict[bool, int]) -> Canary | None:
        """Draw a canary like a job. `after`: number of jobs since the last right program, and since the last wrong."""
        self.gap = self._draw.randint(*GAPS)
        is_right = self._draw.random() < 0.5 if after[True] == after[False] else after[True] > after[False]
        return canaries.like(job, self._draw, is_right=is_right)


class Vouching(Generic[Ticket]):
    """One worker's answers in one phase, held until a right and a wrong canary confirm them.

    A right canary alone would not be enough: a sandbox in which everything passes judges it correctly.
    """

    misjudged, lost = MISJUDGED, LOST
    """Why the jobs have no verdict that `void` and `gone` return as unscored."""

    def __init__(self, all_: Canaries | None, *, fresh: bool) -> None:
        """`all_`: None means no canaries, and every answer is valid. `fresh`: a sandbox runs only one job."""
        self._vouches = all_ is not None
        self._canaries, self._fresh = all_ or Canaries(), fresh
        self._held: list[tuple[Ticket, Answer]] = []
        self._vouched = {True: 0, False: 0}
        """The number of held answers, from the first, that a right and a wrong program have confirmed."""
        self._again = collections.deque[Ticket]()
        self._last: Job | None = None
        """The last job sent to the current sandbox; None if none was sent."""
        self._after = {True: 0, False: 0}
        """Number of jobs sent since the last right program, and since the last wrong one."""
        self._since = 0.0
        self._characters = 0
        """Total size of the held answers."""
        self._is_second = False
        """Whether a job sent since then runs for the second time."""
        self._starved = 0

    @property
    def is_open(self) -> bool:
        """Whether canaries must still be sent to the sandbox before it may be discarded."""
        return any(self._after.values())

    @property
    def held(self) -> int:
        """Number of answers that wait for a canary."""
        return len(self._held)

    def next(self) -> Ticket | None:
        """Return the next job that must run once more; None if there is none."""
        return self._again.popleft() if self._again else None

    def _kind(self, job: Job | None) -> Kind | None:
        return canaries.kind_of(job) if self._vouches and job is not None else None

    def sent(self, ticket: Ticket, supervisor: Supervisor) -> None:
        """Record that a job was sent."""
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
        """Return a canary if one is due before the next job; `at_end`: no job follows."""
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
        # Since the last canary, right or wrong.
        jobs, waited = min(self._after.values()), time.monotonic() - self._since
        return jobs > 0 and (jobs >= sandbox.gap or waited > MOST_SECONDS or self._characters > MOST_CHARACTERS)

    def hold(self, ticket: Ticket, answer: Answer) -> bool:
        """Hold an answer; return False if no canary can confirm this kind of job: its answer is valid at once."""
        if self._kind(ticket.job) is None:
            return False
        self._held.append((ticket, answer))
        self._characters += _length(answer)
        return True

    def starved(self, canary: Canary) -> bool:
        """Whether to ignore a starved canary and send another one."""
        self._starved += 1
        self._after[canary.is_right] += 1
        return self._starved <= PATIENCE

    def right(self, canary: Canary) -> list[tuple[Ticket, Answer]]:
        """Process a canary that was judged correctly; return the answers that are valid now."""
        self._canaries.count("right")
        self._starved = 0
        self._vouched[canary.is_right] = len(self._held)
        count = min(self._vouched.values())
        counting, self._held = self._held[:count], self._held[count:]
        self._vouched = {is_right: number - count for is_right, number in self._vouched.items()}
        self._characters -= sum(_length(answer) for _, answer in counting)
        return counting

    def void(self, canary: Canary, unfinished: Iterable[Ticket]) -> list[Ticket]:
        """Process a misjudged canary; return the jobs that stay unscored. The others will run again.

        `unfinished`: jobs that the sandbox has not answered. The caller must discard the sandbox.
        """
        self._canaries.misjudged(canary)
        tickets = [*(ticket for ticket, _ in self._forget()), *unfinished]
        unscored = [ticket for ticket in tickets if ticket.voided]
        again = [ticket for ticket in tickets if not ticket.voided]
        for ticket in again:
            ticket.voided = True
        # Their first runs were in the discarded sandbox, so in a new one they run as if for the first time.
        self._again.extend(again)
        self._canaries.count("again", len(again))
        self._canaries.count("unscored", len(unscored))
        return unscored

    def gone(self) -> tuple[list[tuple[Ticket, Answer]], list[Ticket]]:
        """Process the loss of a sandbox, after which no canary can confirm its answers; return the valid ones.

        Answers that came before a supervisor reported damage are valid, too. Jobs that ran for the second time are not:
        they are returned second, as unscored.
        """
        held = self._forget()
        lost = [ticket for ticket, _ in held if ticket.voided]
        self._canaries.count("unscored", len(lost))
        return [(ticket, answer) for ticket, answer in held if not ticket.voided], lost

    def _forget(self) -> list[tuple[Ticket, Answer]]:
        """Reset the state of the sandbox; return its held answers."""
        held, self._held, self._last = self._held, [], None
        self._after, self._vouched = {True: 0, False: 0}, {True: 0, False: 0}
        self._characters, self._is_second, self._starved = 0, False, 0
        return held


def _length(answer: Answer) -> int:
    """Return the approximate number of characters of an answer, counting only the parts that can be large."""
    part = answer.get("answer")
    return sum(map(len, part.get("replies", ()))) if isinstance(part, dict) else 0
