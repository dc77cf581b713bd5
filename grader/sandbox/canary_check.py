"""Decide which answers of a sandbox are valid: those confirmed by later canaries in the same sandbox.

Canaries run in pairs, a right and a wrong program, at random places among the jobs and after the last job. An answer is
held until both programs of a pair after it were judged correctly: a sandbox that passes everything judges the right one
correctly. If a canary is misjudged, all held answers are discarded, and their jobs run once more in a new sandbox. If
that one misjudges a canary, too, these jobs are unscored. Neither the place of a canary nor its consequences depend on
a verdict.
"""

from __future__ import annotations

import collections
import random
import threading
import time
from collections import Counter
from typing import TYPE_CHECKING

from grader.results import CanaryProvenance
from grader.sandbox import canaries
from grader.sandbox.interface import length_of
from grader.sandbox.tickets import Ticket

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grade_sandbox.jobs import Job

    from grader.sandbox.canaries import Canary, Kind
    from grader.sandbox.interface import Answer

MOST_JOBS = 512
"""Maximum number of jobs between two pairs of canaries; the number is drawn each time."""
MOST_SECONDS = 5.0
"""About the maximum time that an answer waits for a canary, because an interrupted run loses held answers."""
MOST_CHARACTERS = 8 << 20
"""About the maximum size of the held answers."""
PATIENCE = 2
"""Number of canaries in a row that may be starved; one more is misjudged."""
# Why the jobs have no verdict that `void` and `gone` return as unscored.
MISJUDGED = "two sandboxes misjudged a program with a known verdict that ran after it; run grade doctor"
LOST = "its sandbox misjudged a program with a known verdict, and the one after that was lost"


class Canaries:
    """The canaries of a run's sandboxes, and counts of their results."""

    def __init__(self, draw: random.Random | None = None) -> None:
        self.draw = draw or random.SystemRandom()
        self._lock = threading.Lock()
        self._counts = Counter[str]()
        self._misjudged = Counter[str]()

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


class CanaryCheck:
    """One worker's answers in one phase, held until a right and a wrong canary confirm them."""

    def __init__(self, all_: Canaries | None, *, fresh: bool, seconds: float = MOST_SECONDS) -> None:
        """`all_`: None means no canaries, and every answer is valid. `fresh`: a sandbox runs only one job.

        `seconds`: about the maximum time that an answer waits for a canary.
        """
        self._checks = all_ is not None
        self._seconds = seconds
        self._canaries, self._fresh = all_ or Canaries(), fresh
        self._again = collections.deque[Ticket]()
        self._begin()

    def _begin(self) -> None:
        """Begin with a new sandbox."""
        self._held: list[tuple[Ticket, Answer]] = []
        self._characters = 0
        """Total size of the held answers."""
        self._confirmed = {True: 0, False: 0}
        """The number of held answers, from the first, that a right and a wrong program have confirmed."""
        self._last: Job | None = None
        """The last job sent; None if none was sent."""
        self._jobs, self._since = 0, 0.0
        """Number of jobs since the last pair of canaries, and the time of the first of them."""
        self._gap = self._canaries.draw.randint(1, MOST_JOBS)
        self._pair: list[bool] = []
        """The programs of a pair that are not sent yet: right, wrong."""
        self._starved = 0

    @property
    def is_open(self) -> bool:
        """Whether canaries must still be sent to the sandbox before it may be discarded."""
        return self._jobs > 0 or bool(self._pair)

    @property
    def held(self) -> int:
        """Number of answers that wait for a canary."""
        return len(self._held)

    def next(self) -> Ticket | None:
        """Return the next job that must run once more; None if there is none."""
        return self._again.popleft() if self._again else None

    def _kind(self, job: Job | None) -> Kind | None:
        return canaries.kind_of(job) if self._checks and job is not None else None

    def sent(self, ticket: Ticket) -> None:
        """Record that a job was sent."""
        if self._kind(ticket.job) is not None:
            self._last = ticket.job
            self._since = self._since if self._jobs else time.monotonic()
            self._jobs += 1

    def due(self, *, at_end: bool = False) -> Canary | None:
        """Return a canary if one is due before the next job; `at_end`: no job follows."""
        if self._last is None or not self.is_open:
            return None
        if not self._pair:
            if not (at_end or self._is_due()):
                return None
            self._pair = self._canaries.draw.sample((True, False), 2)
            self._jobs, self._gap = 0, self._canaries.draw.randint(1, MOST_JOBS)
        return canaries.like(self._last, self._canaries.draw, is_right=self._pair.pop())

    def _is_due(self) -> bool:
        waited = time.monotonic() - self._since
        return self._fresh or self._jobs >= self._gap or waited > self._seconds or self._characters > MOST_CHARACTERS

    def hold(self, ticket: Ticket, answer: Answer) -> bool:
        """Hold an answer; return False if no canary can confirm this kind of job: its answer is valid at once."""
        if self._kind(ticket.job) is None:
            return False
        self._held.append((ticket, answer))
        self._characters += length_of(answer)
        return True

    def starved(self, canary: Canary) -> bool:
        """Whether to ignore a starved canary and send another one."""
        self._starved += 1
        self._pair.append(canary.is_right)
        return self._starved <= PATIENCE

    def right(self, canary: Canary) -> list[tuple[Ticket, Answer]]:
        """Process a canary that was judged correctly; return the answers that are valid now."""
        self._canaries.count("right")
        self._starved = 0
        self._confirmed[canary.is_right] = len(self._held)
        count = min(self._confirmed.values())
        counting, self._held = self._held[:count], self._held[count:]
        self._confirmed = {is_right: number - count for is_right, number in self._confirmed.items()}
        self._characters -= sum(length_of(answer) for _, answer in counting)
        return counting

    def void(self, canary: Canary, unfinished: Iterable[Ticket]) -> list[Ticket]:
        """Process a misjudged canary; return the jobs that stay unscored. The others will run again.

        `unfinished`: jobs that the sandbox has not answered. The caller must discard the sandbox.
        """
        self._canaries.misjudged(canary)
        tickets = [*(ticket for ticket, _ in self._held), *unfinished]
        self._begin()
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
        held = self._held
        self._begin()
        lost = [ticket for ticket, _ in held if ticket.voided]
        self._canaries.count("unscored", len(lost))
        return [(ticket, answer) for ticket, answer in held if not ticket.voided], lost
