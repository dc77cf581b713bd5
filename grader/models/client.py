"""A client that asks one model until it replies or fails permanently, with limits for attempts and time."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from typing import TYPE_CHECKING, Self

import msgspec

from grader.models.endpoint import LONGEST_WAIT, Endpoint, Server, Wording
from grader.models.replies import Failure, Outcome, Reply, Usage
from grader.models.workers import Pace, PaceStatus

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.models.messages import Request
    from grader.models.replies import FailureKind


class Patience(msgspec.Struct, frozen=True, kw_only=True):
    """Limits for repeated requests. Times are in seconds."""

    seconds: float = 600.0
    """Time from a request's first failure until it is given up; for 429, from the server's last reply."""
    attempts: int = 1000
    """Maximum number of requests for one reply while the server or the connection fails; `seconds` end most earlier."""
    unreachable_attempts: int = 4
    """Attempts to connect to a server that has never replied, because its address is probably wrong."""
    empty_attempts: int = 3
    """Maximum number of requests for one reply while replies have no text."""
    backoff: float = 1.0
    """The first wait; each further wait is twice as long."""
    longest_backoff: float = 60.0
    given_up_in_a_row: int = 3
    """Number of requests given up in a row, without any reply in between, after which no more are sent."""


class ClientStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a client, for progress."""

    pace: PaceStatus
    calls: int
    usage: Usage
    waiting: int
    """Number of failed requests that wait for their next attempt."""
    trouble: str
    """The last temporary failure; empty after a reply."""
    gives_up_after: float = 0.0
    """Seconds until a failing request is given up, at most."""


class Client:
    """A client of one model, for many threads. Close it (or use `with`) after the last request."""

    def __init__(self, server: Server, wording: Wording, *, concurrency: int, patience: Patience | None = None) -> None:
        self.endpoint = Endpoint(server, wording)
        self.pace = Pace(concurrency)
        self.patience = patience or Patience()
        self._lock = threading.Lock()
        self._calls = self._waiting = self._given_up = 0
        self._usage = Usage()
        self._trouble = ""
        self._last_contact = 0.0
        """Time of the server's last reply of any kind; 0: never."""

    def __repr__(self) -> str:
        return f"Client({self.endpoint!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Send nothing more and close the connections."""
        self.pace.halt("the client is closed")
        self.endpoint.close()

    def connect(self) -> None:
        """Prepare for sending. Raises `InfrastructureError` if the key is missing or cannot be sent."""
        self.endpoint.connect()

    def status(self) -> ClientStatus:
        """Return the usage so far and the current state."""
        with self._lock:
            return ClientStatus(
                pace=self.pace.status(),
                calls=self._calls,
                usage=self._usage,
                waiting=self._waiting,
                trouble=self._trouble,
                gives_up_after=self.patience.seconds,
            )

    def ask(self, request: Request) -> Outcome:
        """Return a reply, or the failure after the maximum number of attempts for its kind."""
        course = _Course()
        while True:
            outcome = self._attempt(request)
            course.note(outcome)
            if isinstance(outcome, Reply):
                return msgspec.structs.replace(outcome, attempts=course.attempts)
            if outcome.kind == "again":
                continue
            if outcome.kind == "halted" or self._is_final(outcome, course):
                return self._given_up_on(outcome, course)
            if not self._wait(course, outcome):
                return self._halted(course)

    def _attempt(self, request: Request) -> Outcome:
        entered = self.pace.enter()
        if entered is None:
            return Failure(kind="halted", reason=self.pace.halted)
        outcome: Outcome | None = None
        try:
            outcome = self.endpoint.post(request)
            return outcome
        finally:
            self._leave(entered, outcome)
            self._count(outcome)

    def _leave(self, entered: float, outcome: Outcome | None) -> None:
        if isinstance(outcome, Failure):
            wait = outcome.wait if outcome.wait <= self.patience.seconds else 0.0
            self.pace.leave(entered, crowded=outcome.kind == "busy", calm=False, wait=wait)
        else:
            self.pace.leave(entered, crowded=False, calm=outcome is not None)

    def _count(self, outcome: Outcome | None) -> None:
        with self._lock:
            self._calls += 1
            if outcome is None:
                return
            self._usage += outcome.usage
            if isinstance(outcome, Reply):
                self._given_up, self._trouble = 0, ""
            elif outcome.kind in _REPEATED:
                self._trouble = outcome.reason
            if isinstance(outcome, Reply) or outcome.kind not in {"down", "busy", *_NO_CONNECTION}:
                self._last_contact = time.monotonic()

    def _is_final(self, failure: Failure, course: _Course) -> bool:
        """Return whether a failed request must not be repeated."""
        if failure.wait > self.patience.seconds or failure.kind not in _REPEATED:
            return True
        if failure.kind == "busy":
            # While the server replies to other requests, this request can still succeed.
            return time.monotonic() - max(course.failing_since, self._last_contact) > self.patience.seconds
        if course.failures - course.counts["busy"] >= self.patience.attempts:
            return True
        if failure.kind in {"empty", "reasoning_only"}:
            cut = failure.kind == "reasoning_only" and failure.finish_reason == "length"
            return cut or course.counts[failure.kind] >= self.patience.empty_attempts
        if failure.kind in _NO_CONNECTION and not self._last_contact:
            return course.counts[failure.kind] >= self.patience.unreachable_attempts
        return time.monotonic() - course.failing_since > self.patience.seconds

    def _wait(self, course: _Course, failure: Failure) -> bool:
        """Wait before a request is repeated. A wait that the server asks for applies to all requests."""
        longest = min(self.patience.backoff * 2.0 ** (course.failures - 1), self.patience.longest_backoff)
        with self._lock:
            self._waiting += 1
        try:
            told = failure.kind == "busy" and failure.wait > 0
            wait = 0.0 if told else longest * random.uniform(0.75, 1.0)  # noqa: S311 - spreads requests, guards nothing
            return self.pace.pause(wait)
        finally:
            with self._lock:
                self._waiting -= 1

    def _given_up_on(self, failure: Failure, course: _Course) -> Failure:
        if failure.kind == "halted":
            return self._halted(course)
        reason = failure.reason
        if course.attempts > 1:
            reason += f" ({course.attempts} attempts)"
        if failure.wait > self.patience.seconds:
            reason += (
                f"; it asks to wait {'a day or more' if failure.wait >= LONGEST_WAIT else f'{failure.wait:.0f} s'}"
            )
        if failure.kind in _NO_CONNECTION and not self._last_contact:
            asks = (
                "is it running" if failure.kind == "unreachable" else "does it speak TLS, and is its certificate valid"
            )
            reason += f"; {asks}? Check {self.endpoint.wording.address_option}"
        self._consider_halting(failure, reason)
        return msgspec.structs.replace(failure, reason=reason, attempts=course.attempts)

    def _consider_halting(self, failure: Failure, reason: str) -> None:
        """Stop sending if no request can succeed for some time."""
        if failure.kind in {"fatal", "exhausted"} or failure.wait > self.patience.seconds:
            self.pace.halt(reason)
        elif failure.kind in {"down", "busy", *_NO_CONNECTION}:
            with self._lock:
                self._given_up += 1
                given_up = self._given_up
            if failure.kind in _NO_CONNECTION and not self._last_contact:
                self.pace.halt(reason)
            elif given_up >= self.patience.given_up_in_a_row:
                self.pace.halt(f"{given_up} requests in a row failed, the last: {reason}")

    def _halted(self, course: _Course) -> Failure:
        return Failure(kind="halted", reason=self.pace.halted, attempts=course.attempts)


_NO_CONNECTION: frozenset[FailureKind] = frozenset({"unreachable", "untrusted"})
_REPEATED: frozenset[FailureKind] = _NO_CONNECTION | {"busy", "down", "empty", "reasoning_only"}


class _Course:
    """The attempts for one reply so far."""

    def __init__(self) -> None:
        self.attempts = 0
        self.counts: Counter[FailureKind] = Counter()
        self.failing_since = 0.0

    @property
    def failures(self) -> int:
        return sum(self.counts.values())

    def note(self, outcome: Outcome) -> None:
        if isinstance(outcome, Failure) and outcome.kind == "halted":
            return
        self.attempts += 1
        if isinstance(outcome, Failure) and outcome.kind != "again":
            self.counts[outcome.kind] += 1
            self.failing_since = self.failing_since or time.monotonic()


FIRST_REFUSED = 10
"""If this number of first requests is refused (HTTP 400), without any reply, no more are sent."""


class FirstRefusals:
    """Finds out whether all of the first requests are refused: then the cause is not a single one. For many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        """Number of refusals so far; -1: there was a reply."""

    def note(self, outcome: Outcome) -> str:
        """Count an outcome; return why no more requests should be sent, or an empty text."""
        with self._lock:
            if isinstance(outcome, Reply):
                self._count = -1
                return ""
            self._count += outcome.kind == "refused" and self._count >= 0
            if self._count < FIRST_REFUSED:
                return ""
        return f"the first {FIRST_REFUSED} requests were all refused, the last: {outcome.reason}"


class TroubleReporter:
    """A reporter of failures that last longer than `grace` seconds, at most once in `every` seconds."""

    def __init__(self, who: str, say: Callable[[str], None], *, grace: float = 1.0, every: float = 15.0) -> None:
        self._who = who
        self._say = say
        self._grace = grace
        self._every = every
        self._since: float | None = None
        """Time when replies were first seen to fail; None: they do not fail."""
        self._said_at: float | None = None
        self._is_said = False
        """Whether the current failure was reported."""

    def look(self, status: ClientStatus) -> None:
        """Report a status, if it needs a message."""
        now = time.monotonic()
        if not status.trouble:
            if self._is_said:
                self._say(f"{self._who} replies again. {_load(status)}")
            self._since, self._is_said = None, False
            return
        self._since = now if self._since is None else self._since
        lasts = now - self._since >= self._grace
        if lasts and (self._said_at is None or now - self._said_at >= self._every):
            self._said_at, self._is_said = now, True
            self._say(f"{self._who}: {status.trouble.rstrip('. ')}. Trying again: {_load(status)}{_limits(status)}")


def _load(status: ClientStatus) -> str:
    waiting = "1 request waits" if status.waiting == 1 else f"{status.waiting} requests wait"
    sent = "1 is sent" if status.pace.limit == 1 else f"{status.pace.limit} are sent"
    return f"{waiting}. At most {sent} at once."


def _limits(status: ClientStatus) -> str:
    """Say how long the server asks to wait, and when a request is given up."""
    held, most = status.pace.held_seconds, status.gives_up_after
    told = f" The server asks to wait {held:.0f} s." if held >= 1 else ""
    return told + (f" A request is given up after {most / 60:.0f} minutes at most." if most >= 120 else "")
