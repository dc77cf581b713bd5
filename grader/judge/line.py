"""The line to one endpoint, shared by the threads: repeats, waits, counts, and hangs up for good."""

from __future__ import annotations

import itertools
import random
import threading
import time
from typing import TYPE_CHECKING

from grader.judge import JudgeUsage
from grader.judge.endpoint import Completion, Failure

if TYPE_CHECKING:
    from grader.judge.endpoint import Endpoint

_ATTEMPTS = {"down": 5, "busy": 9}
"""Requests for one reply before giving up: with the default back-off 7 s of failures, a minute and a half of 429s."""
_LONGEST_BACKOFF = 30.0
_LONGEST_WAIT = 120.0
"""An endpoint that asks for more than this is not waited for."""


class Line:
    """The line to one endpoint, shared by the threads: repeats, waits, counts, and hangs up for good."""

    def __init__(self, endpoint: Endpoint, *, backoff: float, patience: int) -> None:
        self._endpoint = endpoint
        self._backoff = backoff
        self._patience = patience
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._calls = self._prompt_tokens = self._completion_tokens = 0
        self._failures = 0
        self._resume_at = 0.0
        self.halted = ""
        """Why nothing more is asked; empty while something is."""

    def usage(self, *, cached: int, failed: int) -> JudgeUsage:
        """Return what was spent so far."""
        with self._lock:
            return JudgeUsage(
                calls=self._calls,
                cached=cached,
                failed=failed,
                prompt_tokens=self._prompt_tokens,
                completion_tokens=self._completion_tokens,
            )

    def halt(self, reason: str) -> None:
        """Ask nothing more and end every wait; the first reason stays."""
        with self._lock:
            self.halted = self.halted or reason
        self._stop.set()

    def reach(self, prompt: str, temperature: float) -> Completion | Failure:
        """Return a completion, or why there is none after as many attempts as the kind of failure deserves."""
        for attempt in itertools.count(1):
            self._wait_for_resumption()
            if self._stop.is_set():
                return Failure(kind="halted", reason=self.halted)
            outcome = self._endpoint.post(prompt, temperature)
            self._count(outcome)
            if isinstance(outcome, Completion):
                return outcome
            if outcome.kind == "again":
                continue
            if attempt >= _ATTEMPTS.get(outcome.kind, 1) or outcome.wait > _LONGEST_WAIT:
                return self._give_up(outcome, attempt)
            self._stop.wait(self._pause(attempt))
        raise AssertionError("unreachable")

    def _count(self, outcome: Completion | Failure) -> None:
        with self._lock:
            self._calls += 1
            if isinstance(outcome, Completion):
                self._prompt_tokens += outcome.prompt_tokens
                self._completion_tokens += outcome.completion_tokens
            troubled = isinstance(outcome, Failure) and outcome.kind in _ATTEMPTS
            self._failures = self._failures + 1 if troubled else 0
            if isinstance(outcome, Failure) and outcome.wait <= _LONGEST_WAIT:
                self._resume_at = max(self._resume_at, time.monotonic() + outcome.wait)

    def _give_up(self, failure: Failure, attempts: int) -> Failure:
        reason = failure.reason
        if attempts > 1:
            reason += f" ({attempts} attempts)"
        if failure.wait > _LONGEST_WAIT:
            reason += f"; it asks to wait {failure.wait:.0f} s"
        if failure.kind == "exhausted":
            self.halt(reason)
        elif failure.kind in _ATTEMPTS and self._failures >= self._patience:
            self.halt(f"{self._failures} requests to the judge failed in a row, the last: {reason}")
        return Failure(kind=failure.kind, reason=reason)

    def _wait_for_resumption(self) -> None:
        """One thread's Retry-After holds for all of them."""
        while (left := self._resume_at - time.monotonic()) > 0 and not self._stop.wait(left):
            pass

    def _pause(self, attempt: int) -> float:
        longest = min(self._backoff * 2.0 ** (attempt - 1), _LONGEST_BACKOFF)
        return longest * random.uniform(0.75, 1.0)  # noqa: S311 - spreads requests, guards nothing
