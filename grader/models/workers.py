"""Many jobs in threads, at a pace that the server allows; results go back to the calling thread."""

from __future__ import annotations

import queue
import threading
import time
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

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


Job = TypeVar("Job")
Result = TypeVar("Result")

GRACE_SECONDS = 0.5
_NOTHING = object()


class Workers(Generic[Job, Result]):
    """Threads that run `work(job)` for every job.

    They are daemon threads: a request may take minutes, but Ctrl-C must not.
    """

    def __init__(self, work: Callable[[Job], Iterable[Result]], count: int, name: str) -> None:
        self._work = work
        self._count = max(1, count)
        self._name = name
        self._results: queue.SimpleQueue[Result | BaseException | None] = queue.SimpleQueue()
        self._jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []

    def run(self, jobs: Iterable[Job], *, tick: Callable[[], None], seconds: float = 1.0) -> Iterator[Result]:
        """Yield the results of all jobs as they arrive, and call `tick` about every `seconds`.

        Exceptions of `work` are raised here. An interrupt ends the generator; the caller must stop the work.
        """
        listed = list(jobs)
        for job in listed:
            self._jobs.put(job)
        for number in range(min(self._count, len(listed))):
            thread = threading.Thread(target=self._run, name=f"{self._name}-{number}", daemon=True)
            thread.start()
            self._threads.append(thread)
        running, ticked = len(self._threads), time.monotonic()
        while running:
            result = self._take(seconds)
            if time.monotonic() - ticked >= seconds:
                ticked = time.monotonic()
                tick()
            if result is _NOTHING:
                continue
            if isinstance(result, BaseException):
                raise result
            if result is None:
                running -= 1
                continue
            yield result
        self.join(None)

    def join(self, seconds: float | None = GRACE_SECONDS) -> None:
        """Wait for the threads to end, `seconds` at most."""
        deadline = None if seconds is None else time.monotonic() + seconds
        for thread in self._threads:
            thread.join(None if deadline is None else max(0.0, deadline - time.monotonic()))

    def _take(self, seconds: float) -> Any:
        try:
            return self._results.get(timeout=seconds)
        except queue.Empty:
            return _NOTHING

    def _run(self) -> None:
        try:
            while True:
                for result in self._work(self._jobs.get_nowait()):
                    self._results.put(result)
        except queue.Empty:
            self._results.put(None)
        except Exception as error:  # a thread's outermost edge: the calling thread raises it
            self._results.put(error)
