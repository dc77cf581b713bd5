"""Check sandboxes with canaries: one right and one wrong program before a sandbox's first job and after its last one.

A pair also runs after many jobs, and in a run when answers have waited for some seconds. The answers of a run are held
until both programs of a pair after them were judged as expected. If a canary is misjudged, the held answers are
discarded, and their jobs run once more in another sandbox. If that one misjudges a canary, too, they are unscored. A
pool has no end and gives its answers at once: it only says how many may be wrong.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from typing import TYPE_CHECKING

from grader.results import CanaryProvenance
from grader.sandbox import canaries
from grader.sandbox.interface import length_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from grade_sandbox.jobs import Job

    from grader.sandbox.canaries import Canary
    from grader.sandbox.interface import Answer
    from grader.sandbox.tickets import Ticket

MOST_JOBS = 1000
"""Number of jobs after which a pair of canaries runs."""
MOST_SECONDS = 5.0
"""About the maximum time that an answer is held, because an interrupted run loses held answers."""
MOST_CHARACTERS = 8 << 20
"""About the maximum size of the held answers."""
PATIENCE = 2
"""Number of canaries in a row that may be starved; one more is misjudged."""
# Why the jobs have no verdict that `void` and `gone` return as unscored.
MISJUDGED = "two sandboxes misjudged a program with a known verdict that ran beside it; run grade doctor"
LOST = "its sandbox misjudged a program with a known verdict, and the one after that was lost"
GIVEN = (
    "A sandbox misjudged a program with a known verdict ({what}). Up to {count} results that it has given since the "
    "last check may be wrong, and they are not recalled. It was replaced; run grade doctor."
)


class Canaries:
    """Counts of the canaries of all sandboxes. `say` gets a message if a pool has given results that may be wrong."""

    def __init__(self, say: Callable[[str], object] = bool) -> None:
        self.say = say
        self._lock = threading.Lock()
        self._counts, self._misjudged = Counter[str](), Counter[str]()

    def count(self, what: str, more: int = 1) -> None:
        """Count `right` canaries, jobs that run `again`, and jobs that stay `unscored`."""
        with self._lock:
            self._counts[what] += more

    def misjudged(self, canary: Canary, given: int) -> None:
        """Count a misjudged canary. `given`: number of answers that its sandbox has given since the last check."""
        what = f"{canary.kind}: a {'right' if canary.is_right else 'wrong'} program"
        with self._lock:
            self._misjudged[what] += 1
        if given:
            self.say(GIVEN.format(what=what, count=given))

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
    """The canaries of one worker's sandboxes, and the answers that they have not confirmed yet."""

    def __init__(self, all_: Canaries | None, *, holds: bool = True) -> None:
        """`all_`: None means no canaries, and every answer is valid.

        `holds`: whether an answer is held until canaries confirm it.
        """
        self._checks, self._canaries = all_ is not None, all_ or Canaries()
        self._holds = holds
        self._begin()

    def _begin(self) -> None:
        """Begin with a new sandbox."""
        self._held: list[tuple[Ticket, Answer]] = []
        self._characters = self._given = 0
        """Total size of the held answers; number of those that were given since the last pair."""
        self._confirmed = {True: 0, False: 0}
        """The number of held answers, from the first, that a right and a wrong program have confirmed."""
        self._last: Job | None = None
        """The last job sent, or the first before it is sent; None if there was none."""
        self._jobs, self._since = 0, 0.0
        """Number of jobs since the last pair, and the time of the first of them."""
        self._pair: list[bool] = []
        """The programs of a pair that are not sent yet."""
        self._starved = 0

    @property
    def is_open(self) -> bool:
        """Whether canaries must still be sent to the sandbox before it may be discarded."""
        return self._jobs > 0 or bool(self._pair)

    @property
    def held(self) -> int:
        """Number of answers that wait for a canary."""
        return len(self._held)

    def begins(self, job: Job) -> bool:
        """Whether canaries must come before this job, because it is the first of a sandbox."""
        if not self._is_checked(job) or self._last is not None:
            return False
        self._last, self._pair = job, [False, True]
        return True

    def _is_checked(self, job: Job) -> bool:
        return self._checks and canaries.kind_of(job) is not None

    def sent(self, ticket: Ticket) -> None:
        """Record that a job was sent."""
        if self._is_checked(ticket.job):
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
            self._jobs, self._pair = 0, [False, True]
        return canaries.like(self._last, is_right=self._pair.pop())

    def _is_due(self) -> bool:
        is_late = self._holds and time.monotonic() - self._since > MOST_SECONDS
        return self._jobs >= MOST_JOBS or is_late or self._characters > MOST_CHARACTERS

    def hold(self, ticket: Ticket, answer: Answer) -> bool:
        """Hold an answer; return False if it is given at once."""
        if not self._is_checked(ticket.job):
            return False
        if not self._holds:
            self._given += 1
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
        self._given *= canary.is_right
        self._confirmed[canary.is_right] = len(self._held)
        count = min(self._confirmed.values())
        counting, self._held = self._held[:count], self._held[count:]
        self._confirmed = {is_right: number - count for is_right, number in self._confirmed.items()}
        self._characters -= sum(length_of(answer) for _, answer in counting)
        return counting

    def void(self, canary: Canary, unfinished: Iterable[Ticket]) -> tuple[list[Ticket], list[Ticket]]:
        """Process a misjudged canary; return the jobs that run again, and those that stay unscored.

        `unfinished`: jobs that the sandbox has not answered. The caller must discard the sandbox.
        """
        self._canaries.misjudged(canary, self._given)
        tickets = [*(ticket for ticket, _ in self._held), *unfinished]
        self._begin()
        unscored = [ticket for ticket in tickets if ticket.voided]
        again = [ticket for ticket in tickets if not ticket.voided]
        for ticket in again:
            ticket.voided = True
        self._canaries.count("again", len(again))
        self._canaries.count("unscored", len(unscored))
        return again, unscored

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
