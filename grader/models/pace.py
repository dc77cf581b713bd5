"""The limit of concurrent requests: at most N, fewer after HTTP 429, none while the server asks to wait."""

from __future__ import annotations

import threading
import time

import msgspec

_LEAST = 1.0
_CUT = 0.5


class PaceStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The current limit and load, for progress."""

    in_flight: int
    limit: int
    """Current maximum number of concurrent requests."""
    most: int
    held_seconds: float
    """Time until the next request may be sent; 0: now."""


class Pace:
    """Slots for requests, shared by threads. A reduced limit grows by one slot per round of replies."""

    def __init__(self, most: int) -> None:
        self._most = max(1, most)
        self._limit = float(self._most)
        self._in_flight = 0
        self._resume_at = 0.0
        self._cut_at = 0.0
        self._changed = threading.Condition()
        self.halted = ""
        """Why no more requests are sent; empty while requests are sent."""

    def status(self) -> PaceStatus:
        """Return the current limit and load."""
        with self._changed:
            held = max(0.0, self._resume_at - time.monotonic())
            return PaceStatus(
                in_flight=self._in_flight, limit=int(self._limit), most=self._most, held_seconds=round(held, 1)
            )

    def enter(self) -> float | None:
        """Wait for a slot; return the time when it was free, or None if no more requests are sent."""
        with self._changed:
            while not self.halted:
                held = self._resume_at - time.monotonic()
                if held <= 0 and self._in_flight < int(self._limit):
                    self._in_flight += 1
                    return time.monotonic()
                self._changed.wait(held if held > 0 else None)
            return None

    def leave(self, entered: float, *, crowded: bool, calm: bool, wait: float = 0.0) -> None:
        """Return a slot. `crowded`: the server had too many requests; `calm`: it answered; `wait`: seconds to pause."""
        with self._changed:
            self._in_flight -= 1
            # Requests of one round are refused together, so they reduce the limit only once.
            if crowded and entered >= self._cut_at:
                self._limit = max(_LEAST, self._limit * _CUT)
                self._cut_at = time.monotonic()
            elif calm:
                self._limit = min(float(self._most), self._limit + 1.0 / self._limit)
            self._resume_at = max(self._resume_at, time.monotonic() + wait if wait > 0 else 0.0)
            self._changed.notify_all()

    def pause(self, seconds: float) -> bool:
        """Wait without a slot; return whether requests are still sent."""
        deadline = time.monotonic() + seconds
        with self._changed:
            while not self.halted and (left := deadline - time.monotonic()) > 0:
                self._changed.wait(left)
            return not self.halted

    def halt(self, reason: str) -> None:
        """Stop sending and end all waits; the first reason is kept."""
        with self._changed:
            self.halted = self.halted or reason
            self._changed.notify_all()
