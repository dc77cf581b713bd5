"""Jobs without a verdict yet: their queue, and which of them a busy machine has stopped."""

from __future__ import annotations

import collections
import contextlib
import threading
from typing import TYPE_CHECKING, Any

import msgspec

from grader.sandbox.interface import Answer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grade_sandbox.jobs import Job

    from grader.sandbox.canaries import Canary

STARVED = {"blocked", "wall", "shared", "disturbed"}
"""Reasons for stopping a program that other programs on the machine can cause."""
KILLED = -9
"""The status of a program that SIGKILL has ended; not every system that imports this has `signal.SIGKILL`."""
CALM_SECONDS = 0.2
"""A program that was ready to run but waited less than this had enough processor time."""
CALM_RUN_SECONDS = 0.02
"""The same for an official run, which gets no grace after its limit."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one job."""

    key: str
    answer: Answer | None
    """None: infrastructure failed twice, so nothing is known of the program."""
    reason: str = ""


class Ticket:
    """A job without a verdict yet: how often it was tried, and whether it must run alone on the machine."""

    __slots__ = ("alone", "attempts", "canary", "job", "key", "tried", "voided")

    def __init__(self, key: str, job: Job, canary: Canary | None = None) -> None:
        self.key, self.job, self.attempts, self.alone = key, job, 0, False
        self.canary = canary
        self.tried = False
        """Whether it was sent to a supervisor before."""
        self.voided = False
        """Whether it ran in a sandbox that misjudged a canary."""

    def begin_alone(self) -> None:
        """Begin again, with more patience: a busy machine may have stopped it."""
        self.alone, self.attempts, self.tried = True, 0, True
        self.job = self.job | {"alone": True}

    @property
    def task(self) -> int | None:
        """A hash of the task whose candidate it runs; None if it runs no candidate."""
        if "answer" in self.job:
            asked: Any = self.job["answer"]
            return hash((asked.get("candidate", {}).get("signature"), *asked["calls"]))
        return None

    @property
    def needs_new(self) -> bool:
        """Whether it needs a sandbox in which no candidate of its task has run, because it was tried before."""
        return self.canary is None and self.tried


class Source:
    """Hands out tickets to several threads; tickets to repeat come first."""

    def __init__(self, tickets: Iterator[Ticket]) -> None:
        self._tickets, self._again, self._lock = tickets, collections.deque[Ticket](), threading.Lock()
        self.is_over = False
        """Whether no more jobs will come, except those to repeat."""

    def next(self, *, wait: bool) -> Ticket | None:
        """Return a ticket; None if all are done. It never has to wait."""
        del wait
        with self._lock:
            if self._again:
                return self._again.popleft()
            ticket = next(self._tickets, None)
            self.is_over = ticket is None
            return ticket

    def again(self, tickets: Iterable[Ticket]) -> None:
        """Put tickets back at the front of the queue."""
        with self._lock:
            self._again.extend(tickets)


def was_starved(answer: Answer) -> bool:
    """Whether a run ended for a reason that the machine or another program may have caused.

    SIGKILL may come from a machine that has no more memory, if no limit was exceeded. A run that was asleep and hardly
    had to wait for the machine is not starved. A run that already failed for good is not starved either, however it
    ended.
    """
    for part in ("run", "record", "answer", "judge", "compare"):
        run = answer.get(part)
        if isinstance(run, dict) and run.get("confirmed") is not False:
            with contextlib.suppress(KeyError, TypeError):
                evidence = run["evidence"]
                calm = CALM_RUN_SECONDS if part == "run" else CALM_SECONDS
                asleep = evidence["stopped"] == "blocked" and evidence["waited"] < calm
                is_killed = evidence["stopped"] is None and evidence["status"] == KILLED and not evidence["oom"]
                if is_killed or (evidence["stopped"] in STARVED and not asleep):
                    return True
    return False
