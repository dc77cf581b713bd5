"""Jobs on their way to a verdict: where they wait, and which of them were stopped by a busy machine."""

from __future__ import annotations

import collections
import contextlib
import threading
from typing import TYPE_CHECKING

import msgspec

from grader.sandbox.interface import Answer, Job

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grader.sandbox.canaries import Canary

IDLE_SECONDS = 0.02
"""How long a worker with nothing to do waits before it looks again, where jobs come in from elsewhere."""
STARVED = {"blocked", "wall", "shared", "disturbed"}
"""Ways to be stopped that the rest of the machine may have caused."""
CALM_SECONDS = 0.2
"""A program that was ready to run and had to wait for less than this did not lack a processor."""
CANDIDATES = ("answer", "split")
"""Kinds of jobs that run a candidate whose careful verdict is open."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one job."""

    key: str
    answer: Answer | None
    """None: infrastructure failed twice; nothing is known of the program."""
    reason: str = ""


class Ticket:
    """A job on its way: how often it was tried, and whether it must have the machine to itself."""

    __slots__ = ("alone", "attempts", "canary", "job", "key", "tried", "voided")

    def __init__(self, key: str, job: Job, canary: Canary | None = None, *, tried: bool = False) -> None:
        self.key, self.job, self.attempts, self.alone = key, job, 0, False
        self.canary = canary
        self.tried = tried
        """It has been given to a supervisor before, here or on another machine."""
        self.voided = False
        """A sandbox that misjudged a canary has run it."""

    @property
    def task(self) -> int | None:
        """A hash of the task whose candidate it runs; None: it runs none."""
        for kind in CANDIDATES:
            part = self.job.get(kind)
            if isinstance(part, dict):
                return hash((kind, part.get("signature"), part.get("test"), tuple(part.get("calls", ()))))
        return None

    @property
    def needs_new(self) -> bool:
        """Whether it must have a sandbox in which no candidate of its task has run.

        It has been tried before, or tests run beside it: they say what was right, and the next program would know.
        """
        return self.canary is None and (self.tried or "split" in self.job)


class Source:
    """Hands tickets to several threads; what must be tried again comes first."""

    def __init__(self, tickets: Iterator[Ticket | None], stop: threading.Event) -> None:
        self._tickets, self._again, self._lock = tickets, collections.deque[Ticket](), threading.Lock()
        self._stop = stop
        self.is_over = False
        """No more jobs will come, but those that must be tried again."""

    def next(self, *, wait: bool) -> Ticket | None:
        """Return a ticket; None: all are done, or (without `wait`) there is none at the moment."""
        while True:
            with self._lock:
                if self._again:
                    return self._again.popleft()
                try:
                    ticket = next(self._tickets)
                except StopIteration:
                    self.is_over = True
                    return None
            if ticket is not None or not wait or self._stop.wait(IDLE_SECONDS):
                return ticket

    def again(self, tickets: Iterable[Ticket]) -> None:
        """Put tickets back: they come before all others."""
        with self._lock:
            self._again.extend(tickets)


def was_starved(answer: Answer) -> bool:
    """Tell whether a run was stopped for what another program may have done.

    All but the official run have patience of their own: where one was asleep and hardly kept waiting by the machine, it
    was asleep. What has failed for good by then is not starved, however it ended.
    """
    for part in ("run", "record", "answer", "judge", "split"):
        run = answer.get(part)
        if isinstance(run, dict) and run.get("confirmed") is not False:
            with contextlib.suppress(KeyError, TypeError):
                evidence = run["evidence"]
                asleep = part != "run" and evidence["stopped"] == "blocked" and evidence["waited"] < CALM_SECONDS
                if evidence["stopped"] in STARVED and not asleep:
                    return True
    return False
