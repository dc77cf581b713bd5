"""Jobs of several callers that share one pool: they arrive while others run, and each caller gets its own verdicts."""

from __future__ import annotations

import collections
import itertools
import threading
from queue import SimpleQueue
from typing import TYPE_CHECKING

import msgspec

from grader.errors import InfrastructureError
from grader.sandbox.tickets import Ticket, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grade_sandbox.jobs import Job

    from grader.sandbox.pool import Pool

AHEAD = 8
"""Number of jobs for each worker that one caller may have in the queue."""


class Arrivals:
    """A queue of jobs that ends only when it is closed. It is used in the place of `Source`."""

    def __init__(self) -> None:
        self._tickets = collections.deque[Ticket]()
        self._changed = threading.Condition()
        self.is_over = False
        """Whether it was closed."""

    def next(self, *, wait: bool) -> Ticket | None:
        """Return a ticket; None if it is closed, or (without `wait`) if there is none at the moment."""
        with self._changed:
            while not self._tickets and wait and not self.is_over:
                self._changed.wait()
            return self._tickets.popleft() if self._tickets else None

    def put(self, ticket: Ticket) -> None:
        """Add a ticket."""
        with self._changed:
            self._tickets.append(ticket)
            self._changed.notify()

    def again(self, tickets: Iterable[Ticket]) -> None:
        """Put tickets back at the front of the queue."""
        with self._changed:
            self._tickets.extendleft(tickets)
            self._changed.notify_all()

    def close(self) -> None:
        """End: jobs that have not begun will not run."""
        with self._changed:
            self.is_over = True
            self._tickets.clear()
            self._changed.notify_all()


class _Starved(list[Ticket]):
    """Jobs that a busy machine may have stopped run again at once, with more patience: others are never all done."""

    def __init__(self, arrivals: Arrivals) -> None:
        super().__init__()
        self._arrivals = arrivals

    def append(self, ticket: Ticket, /) -> None:
        ticket.begin_alone()
        self._arrivals.again([ticket])


class Stream:
    """A pool of sandboxes that runs the jobs of several threads. Close it at the end."""

    def __init__(self, pool: Pool, *, holds: bool = False) -> None:
        """`pool` must not be used in another way. `holds`: an answer is given when canaries have confirmed it."""
        self.pool, self._holds = pool, holds
        self.done = 0
        """Number of verdicts."""
        self._arrivals = Arrivals()
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._open: dict[str, tuple[str, SimpleQueue[Verdict | None]]] = {}
        """Number of a job -> its key, and where its verdict goes."""
        self._failure: BaseException | None = None
        self._is_over = False
        self._thread: threading.Thread | None = None

    @property
    def is_idle(self) -> bool:
        """Whether no caller waits for a verdict."""
        return not self._open

    def run(self, jobs: Iterable[tuple[str, Job]]) -> Iterator[Verdict]:
        """Yield a verdict for every job, in the order in which they finish; raises InfrastructureError."""
        results: SimpleQueue[Verdict | None] = SimpleQueue()
        rest, waiting = iter(jobs), 0
        while True:
            for key, job in itertools.islice(rest, max(0, AHEAD * self.pool.workers - waiting)):
                self._put(key, job, results)
                waiting += 1
            if not waiting:
                return
            verdict = results.get()
            if verdict is None:
                raise InfrastructureError(str(self._failure or "The run was stopped.")) from self._failure
            waiting -= 1
            yield verdict

    def close(self) -> None:
        """End the sandboxes. Callers that still wait get an InfrastructureError."""
        self._end(None)
        self.pool.close()
        if self._thread is not None:
            self._thread.join()

    def _put(self, key: str, job: Job, results: SimpleQueue[Verdict | None]) -> None:
        with self._lock:
            if self._is_over:
                results.put(None)
                return
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="stream", daemon=True)
                self._thread.start()
            number = str(next(self._numbers))
            self._open[number] = key, results
        self._arrivals.put(Ticket(number, job))

    def _work(self) -> None:
        """Give every verdict to its caller, until the end or a failure."""
        try:
            crew = self.pool.form(self.pool.workers, self._arrivals, _Starved(self._arrivals), holds=self._holds)
            for verdict in crew.verdicts():
                self._give(verdict)
        except BaseException as error:
            self._end(error)

    def _give(self, verdict: Verdict) -> None:
        with self._lock:
            self.done += 1
            found = self._open.pop(verdict.key, None)
        if found is not None:
            key, results = found
            results.put(msgspec.structs.replace(verdict, key=key))

    def _end(self, failure: BaseException | None) -> None:
        with self._lock:
            self._is_over, self._failure = True, self._failure or failure
            open_, self._open = list(self._open.values()), {}
        self._arrivals.close()
        for _, results in open_:
            results.put(None)
