"""Many jobs in threads. Results go back to the calling thread, which alone reports progress."""

from __future__ import annotations

import queue
import threading
import time
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

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
