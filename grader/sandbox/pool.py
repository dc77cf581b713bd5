"""Keeps supervisors busy: hands out jobs, replaces what breaks, and runs again alone what may have been starved."""

from __future__ import annotations

import collections
import contextlib
import queue
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

import msgspec

from grader.errors import InfrastructureError
from grader.sandbox.interface import Answer, Backend, Job, Supervisor, SupervisorLostError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

WINDOW = 2
"""Jobs a supervisor has at a time: while it runs one, the next is already there."""
STARVED = {"blocked", "wall", "shared", "disturbed"}
"""Ways to be stopped that the rest of the machine may have caused."""
CALM_SECONDS = 0.2
"""A program that was ready to run and had to wait for less than this did not lack a processor."""
MAX_ATTEMPTS = 2
CANDIDATES = ("answer", "split")
"""Kinds of jobs that run a candidate whose careful verdict is open."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one job."""

    key: str
    answer: Answer | None
    """None: infrastructure failed twice; nothing is known of the program."""
    reason: str = ""


class _Ticket:
    """A job on its way: how often it was tried, and whether it must have the machine to itself."""

    __slots__ = ("alone", "attempts", "job", "key", "tried")

    def __init__(self, key: str, job: Job) -> None:
        self.key, self.job, self.attempts, self.alone = key, job, 0, False
        self.tried = False
        """It has been given to a supervisor before."""

    @property
    def task(self) -> int | None:
        """A hash of the task whose candidate it runs; None: it runs none."""
        for kind in CANDIDATES:
            part = self.job.get(kind)
            if isinstance(part, dict):
                return hash((kind, part.get("signature"), part.get("test"), tuple(part.get("calls", ()))))
        return None


class Pool:
    """A fixed number of supervisors of one backend. Use as a context manager."""

    def __init__(self, backend: Backend, workers: int, answer_seconds: float, *, fresh: bool = False) -> None:
        """`fresh`: every program gets a supervisor, and so a sandbox, that has run nothing before."""
        self._backend = backend
        self.fresh = fresh
        self.workers = workers
        self._answer_seconds = answer_seconds
        self._stop = threading.Event()
        self._lock = threading.Lock()
        # A child that dies with its parent dies with the parent's thread: those that start supervisors stay.
        self._starters = ThreadPoolExecutor(workers, "starter")
        self._supervisors: dict[int, Future[Supervisor]] = {}
        self._tasks: dict[int, set[int]] = {}
        self._started = 0

    def __enter__(self) -> Pool:
        self._backend.reap()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End every supervisor, also those that are still starting."""
        self._stop.set()
        self._end(self._all())
        self._starters.shutdown()

    def begin(self) -> None:
        """Start the next `run`'s supervisors in the background; that one fails shows when it is needed."""
        for index in range(self.workers):
            self._started_or_starting(index)

    def _all(self) -> list[Future[Supervisor]]:
        """Take every supervisor out."""
        with self._lock:
            supervisors = list(self._supervisors.values())
            self._supervisors.clear()
            self._tasks.clear()
        return supervisors

    @staticmethod
    def _end(supervisors: Iterable[Future[Supervisor]]) -> None:
        """End supervisors side by side; wait for it."""

        def end(supervisor: Future[Supervisor]) -> None:
            if supervisor.exception() is None:
                supervisor.result().close()

        threads = [threading.Thread(target=end, args=(supervisor,), daemon=True) for supervisor in supervisors]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def run(self, jobs: Iterable[tuple[str, Job]]) -> Iterator[Verdict]:
        """Yield a verdict for every job, in the order they finish.

        Jobs are drawn as they are needed. Raises InfrastructureError where no supervisor can be started.
        """
        starved: list[_Ticket] = []
        tickets = (_Ticket(key, job) for key, job in jobs)
        yield from self._round(tickets, self.workers, starved)
        if starved:
            # A program that used its wall time but not its CPU time may have been waiting for a busy machine.
            for ticket in starved:
                ticket.alone, ticket.attempts, ticket.tried = True, 0, True
                ticket.job = ticket.job | {"alone": True}
            yield from self._round(iter(starved), 1, [])

    def _round(self, tickets: Iterator[_Ticket], workers: int, starved: list[_Ticket]) -> Iterator[Verdict]:
        source = _Source(tickets)
        results: queue.SimpleQueue[Verdict | BaseException | None] = queue.SimpleQueue()
        threads = [
            threading.Thread(target=self._work, args=(index, source, results, starved), daemon=True)
            for index in range(workers)
        ]
        for thread in threads:
            thread.start()
        running = len(threads)
        failure: BaseException | None = None
        while running:
            item = results.get()
            if item is None:
                running -= 1
            elif isinstance(item, BaseException):
                failure = failure or item
                self._stop.set()
            else:
                yield item
        for thread in threads:
            thread.join()
        if failure is not None:
            raise failure

    def _work(
        self,
        index: int,
        source: _Source,
        results: queue.SimpleQueue[Verdict | BaseException | None],
        starved: list[_Ticket],
    ) -> None:
        try:
            _Worker(self, index, source, results, starved).loop()
        except BaseException as error:
            results.put(error)
        finally:
            results.put(None)

    # --- for the workers ---

    def supervisor(self, index: int) -> Supervisor:
        """Return worker `index`'s supervisor, started now if it has none."""
        future = self._started_or_starting(index)
        if future.exception() is not None:
            with self._lock:
                self._supervisors.pop(index, None)
        return future.result()

    def _started_or_starting(self, index: int) -> Future[Supervisor]:
        with self._lock:
            if self._stop.is_set():
                raise InfrastructureError("The run was stopped.")
            if index not in self._supervisors:
                start = self._starters.submit(self._backend.start, self._started, lint=True)
                self._supervisors[index] = start
                self._started += 1
            return self._supervisors[index]

    def has_run(self, index: int, task: int | None) -> bool:
        """Whether worker `index`'s supervisor has been given a candidate of this task."""
        return task is not None and task in self._tasks.get(index, ())

    def note_run(self, index: int, task: int | None) -> None:
        """Worker `index`'s supervisor is given a job; of a candidate of this task, if it is one."""
        if task is not None:
            self._tasks.setdefault(index, set()).add(task)

    def discard(self, index: int) -> None:
        """End worker `index`'s supervisor; the next job gets a new one."""
        with self._lock:
            supervisor = self._supervisors.pop(index, None)
            self._tasks.pop(index, None)
        if supervisor is not None:
            self._end([supervisor])

    @property
    def stopped(self) -> bool:
        """Whether the run is being ended."""
        return self._stop.is_set()

    @property
    def answer_seconds(self) -> float:
        """How long an answer may take before its supervisor counts as lost."""
        return self._answer_seconds


class _Source:
    """Hands tickets to several threads; what must be tried again comes first."""

    def __init__(self, tickets: Iterator[_Ticket]) -> None:
        self._tickets, self._again, self._lock = tickets, collections.deque[_Ticket](), threading.Lock()

    def next(self) -> _Ticket | None:
        with self._lock:
            return self._again.popleft() if self._again else next(self._tickets, None)

    def again(self, tickets: Iterable[_Ticket]) -> None:
        with self._lock:
            self._again.extend(tickets)


class _Worker:
    """One thread's loop: fill the window, take an answer, judge whether it counts."""

    def __init__(
        self,
        pool: Pool,
        index: int,
        source: _Source,
        results: queue.SimpleQueue[Verdict | BaseException | None],
        starved: list[_Ticket],
    ) -> None:
        self._pool, self._index, self._source, self._results = pool, index, source, results
        self._starved = starved
        self._outstanding: collections.deque[_Ticket] = collections.deque()

    def loop(self) -> None:
        while not self._pool.stopped:
            try:
                if not self._fill():
                    return
                answer = self._pool.supervisor(self._index).receive(self._pool.answer_seconds)
            except SupervisorLostError as error:
                if self._pool.stopped:
                    return
                self._lost(str(error))
                continue
            self._take(answer)

    def _fill(self) -> bool:
        """Send until the window is full; False where nothing is left to do."""
        while len(self._outstanding) < (1 if self._pool.fresh else WINDOW):
            ticket = self._source.next()
            if ticket is None:
                break
            # What a first run left where nobody cleans, a second one of a candidate must not find.
            if ticket.tried and self._pool.has_run(self._index, ticket.task):
                if self._outstanding:
                    self._source.again([ticket])
                    break
                self._pool.discard(self._index)
            self._outstanding.append(ticket)
            supervisor = self._pool.supervisor(self._index)
            self._pool.note_run(self._index, ticket.task)
            supervisor.send(ticket.job)
        return bool(self._outstanding)

    def _take(self, answer: Answer) -> None:
        ticket = self._outstanding.popleft()
        if self._pool.fresh or "retired" in answer:
            # Its answer stands, but nothing more may run there: what it was sent already goes to another.
            self._pool.discard(self._index)
            self._source.again(self._outstanding)
            self._outstanding = collections.deque()
        if "damaged" in answer:
            self._outstanding.appendleft(ticket)
            self._lost(str(answer["damaged"]))
        elif was_starved(answer) and not ticket.alone:
            self._starved.append(ticket)
        else:
            self._results.put(Verdict(key=ticket.key, answer=answer))

    def _lost(self, reason: str) -> None:
        """Replace the supervisor. Only the job it was working on can be to blame; the others just go again."""
        self._pool.discard(self._index)
        outstanding, self._outstanding = self._outstanding, collections.deque()
        if outstanding:
            first = outstanding.popleft()
            first.attempts, first.tried = first.attempts + 1, True
            if first.attempts < MAX_ATTEMPTS:
                outstanding.appendleft(first)
            else:
                self._results.put(Verdict(key=first.key, answer=None, reason=reason))
        self._source.again(outstanding)


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
