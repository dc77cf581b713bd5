"""`Pool`: grading for training loops. Any thread and process of a node can use it; one process of the node grades."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any, Self

import msgspec

from grader.errors import InfrastructureError, UsageError
from grader.pool.connection import CLOSED, encode_request, send_request, send_request_async
from grader.pool.exchange import IDS, Exchange, encode_row, id_in
from grader.pool.messages import PoolState
from grader.pool.settings import reward_name, settings_of
from grader.pool.starting import START_SECONDS, connect, try_connect, wait_until_ended
from grader.results import Outcome
from grader.sandbox import channel
from grader.scorers import declarations, registry

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Mapping

    from grader.pool.exchange import Sample
    from grader.pool.settings import RewardName
    from grader.results import SampleResult

MARGIN_SECONDS = 5.0
"""Time that the client waits longer than the pool's process before it gives up."""
END_SECONDS = 60.0
"""Maximum time to wait until the process has ended its sandboxes."""
RECONNECT_SECONDS = 0.2
STATE_SECONDS = 30.0
TRIES = 3
MAX_ASYNC_CALLS = 256
"""Asynchronous calls of an event loop that have a connection at a time: each takes a descriptor of the caller.

The usual limit is 1,024; a training step can await thousands of calls.
"""
MIN_SECONDS = 0.01
"""The shortest time that a request to the process asks for."""
PATH = "/grade/batch"


class Pool:
    """Grades samples of one benchmark for as long as it is open, from any thread and after any fork.

    The keywords are those of `grader.grade` that say what is graded and how (`benchmark`, `data`, `protocol`,
    `sandbox`, `workers`, `timeout`, `memory`, ...). `wait` is the maximum number of seconds of a call. Pools with the
    same keywords and data share one process on a node (`shared=False`: this pool has its own). `linger`: seconds that
    the process stays if its last client dies without `close`. `reward`: what rewards are, `passed`, `calls_right` or
    `tests_right`.

    Raises UsageError. The process starts with the first call, with `start`, or at the beginning of a `with` block.
    """

    def __init__(
        self,
        *,
        wait: float = 600.0,
        shared: bool = True,
        linger: float = 10.0,
        reward: RewardName = "passed",
        **options: Any,
    ) -> None:
        self.reward = reward_name(reward)
        """What the `reward` of a result is."""
        # For a pickled copy, whose settings are made anew: those of a private pool have a name of their own.
        self._arguments = {"wait": wait, "shared": shared, "reward": reward, "linger": linger, **options}
        self._wait = _seconds(wait)
        self._settings = settings_of(options, private_name="" if shared else os.urandom(8).hex(), linger=linger)
        self._rows: dict[str, bytes] = {}
        """Task id -> row, of the tasks that were added."""
        self._reset()
        _pools.add(self)

    def _reset(self) -> None:
        """Reset to a state without connections: in a new object, and in a forked process."""
        self._lock = threading.Lock()
        self._kept_connection: socket.socket | None = None
        """A connection that shows the process that this pool is open; nothing is sent over it."""
        self._is_closed = False
        self._slots = weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore]()
        """Event loop -> the slots of its asynchronous calls."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (self._arguments, self._rows)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> Self:
        """Start the process, or connect to it if it runs; raises a GradeError if it cannot start."""
        self.state()
        return self

    def close(self) -> None:
        """Disconnect. The process ends if it has no other user; calls of other threads are answered before."""
        with self._lock:
            kept, self._kept_connection = self._kept_connection, None
            self._is_closed = True
        if kept is not None:
            # Another connection is opened before the kept one is closed: without any, the process could end in between.
            # `/leave` ends the process at once, or, while calls of other threads have connections, `linger` seconds
            # after the last one.
            with contextlib.suppress(OSError, msgspec.DecodeError), kept:
                if (connection := try_connect(self._settings.name, time.monotonic() + MARGIN_SECONDS)) is not None:
                    kept.close()
                    answer = b"".join(send_request(connection, encode_request("POST", "/leave"), MARGIN_SECONDS))
                    wait_until_ended(msgspec.json.decode(answer)["pid"], END_SECONDS)

    def add_tasks(self, rows: Iterable[Mapping[str, Any]], *, column: str = "") -> dict[str, str]:
        """Add tasks, at any time; samples can then name them by their id. A row replaces an earlier one with its id.

        Return the tasks whose samples will be `not_judged`, and why: their tests cannot judge a program in a process
        of its own, in which there are no tests. To find such tasks, an empty reply to each task is graded.

        `column` has the ids; empty: the first of `qid`, `task_id`, `question_id`, `problem_id` and `id`. The rows have
        the columns of the pool's benchmark; see docs/rewards.md for those of `Pool(benchmark="rows")`. A row that is
        not a task makes its samples unscored. Raises UsageError for a row without an id.
        """
        added: dict[str, None] = {}
        for number, row in enumerate(rows):
            qid = id_in(row, [column] if column else IDS)
            if qid is None:
                raise UsageError(f"rows[{number}] has no column {column or ' or '.join(IDS)} with the id of its task")
            try:
                self._rows[qid] = encode_row(row)
            except ValueError as error:
                raise UsageError(f"rows[{number}]: {error}") from None
            added[qid] = None
        if not added or not self._runs_programs():
            return {}
        # A reply without a program is as good as any: what is not judged depends only on the task.
        results = self.grade_samples((qid, "") for qid in added)
        return {r.qid: r.careful.detail for r in results if r.careful.outcome is Outcome.NOT_JUDGED}

    def _runs_programs(self) -> bool:
        declared = declarations.load(self._settings.options.benchmark)
        return registry.scorer(declared.scoring).runs_programs

    def grade_samples(
        self, samples: Iterable[Sample], *, official: bool = False, wait: float | None = None
    ) -> list[SampleResult]:
        """Return a result for each sample, in the given order, after at most `wait` seconds.

        A sample is (task id, raw output), (row with its task, raw output), or a mapping with `text`, `qid` or `row`,
        and if needed `timeout` (CPU seconds), `memory`, `wall` and `wait` (seconds). Every result has the careful
        reading; with `official=True` also the official one, from separate sandboxes. A sample that could not be scored
        is `unscored`, with the reason as its detail. Raises UsageError if an item of `samples`
        is not a sample, GradeError if the process cannot start.
        """
        return _in_order(self.as_completed(samples, official=official, wait=wait))

    def as_completed(
        self, samples: Iterable[Sample], *, official: bool = False, wait: float | None = None
    ) -> Iterator[tuple[int, SampleResult]]:
        """Yield (index of the sample, its result) as soon as each is judged; see `grade_samples`."""
        seconds, exchange = self._exchange(samples, official=official, wait=wait)
        return self._completed(exchange, seconds)

    def _completed(self, exchange: Exchange, seconds: float) -> Iterator[tuple[int, SampleResult]]:
        """Yield all results. Those that a process does not give are requested again, until `seconds` have passed."""
        yield from exchange.refused_results()
        deadline = time.monotonic() + seconds
        problem = ""
        while not exchange.is_complete and (remaining := deadline - time.monotonic()) > 0:
            request = encode_request("POST", PATH, exchange.request_body(remaining))
            connection = self._connect(remaining)
            try:
                for line in send_request(connection, request, remaining + MARGIN_SECONDS):
                    yield exchange.receive_line(line)
                problem = CLOSED  # if results are missing at the end of the answer
            except OSError as error:
                problem = str(error)
            if not exchange.is_complete:
                # The process has ended, or has no room: the next try finds or starts one.
                time.sleep(min(RECONNECT_SECONDS, max(0.0, deadline - time.monotonic())))
        yield from exchange.give_up(_timeout_detail(seconds, problem))

    async def grade_samples_async(
        self, samples: Iterable[Sample], *, official: bool = False, wait: float | None = None
    ) -> list[SampleResult]:
        """Like `grade_samples`, asynchronously; if the caller is cancelled, samples that have not begun are dropped."""
        async with contextlib.aclosing(self.as_completed_async(samples, official=official, wait=wait)) as results:
            return _in_order([pair async for pair in results])

    def as_completed_async(
        self, samples: Iterable[Sample], *, official: bool = False, wait: float | None = None
    ) -> AsyncGenerator[tuple[int, SampleResult], None]:
        """Like `as_completed`, asynchronously."""
        seconds, exchange = self._exchange(samples, official=official, wait=wait)
        return self._completed_async(exchange, seconds)

    async def _completed_async(
        self, exchange: Exchange, seconds: float
    ) -> AsyncGenerator[tuple[int, SampleResult], None]:
        """Like `_completed`, asynchronously."""
        for pair in exchange.refused_results():
            yield pair
        deadline = time.monotonic() + seconds
        problem = ""
        while not exchange.is_complete and (remaining := deadline - time.monotonic()) > 0:
            try:
                async with self._slot(remaining):
                    remaining = max(MIN_SECONDS, deadline - time.monotonic())
                    request = encode_request("POST", PATH, exchange.request_body(remaining))
                    connection = await asyncio.to_thread(self._connect, remaining)
                    answer = send_request_async(connection, request, remaining + MARGIN_SECONDS)
                    async with contextlib.aclosing(answer) as lines:
                        async for line in lines:
                            yield exchange.receive_line(line)
                problem = CLOSED
            except OSError as error:
                problem = str(error)
            if not exchange.is_complete:
                await asyncio.sleep(min(RECONNECT_SECONDS, max(0.0, deadline - time.monotonic())))
        for pair in exchange.give_up(_timeout_detail(seconds, problem)):
            yield pair

    @contextlib.asynccontextmanager
    async def _slot(self, seconds: float) -> AsyncIterator[None]:
        """Hold one of the `MAX_ASYNC_CALLS` slots of this event loop; raises TimeoutError if none is free in time."""
        slots = self._slots.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(MAX_ASYNC_CALLS))
        await asyncio.wait_for(slots.acquire(), seconds)
        try:
            yield
        finally:
            slots.release()

    def _exchange(self, samples: Iterable[Sample], *, official: bool, wait: float | None) -> tuple[float, Exchange]:
        """Return a call's maximum duration in seconds, and its exchange."""
        seconds = self._wait if wait is None else _seconds(wait)
        each = self.reward == "tests_right"
        return seconds, Exchange(samples, task_rows=self._rows, reward=self.reward, official=official, each=each)

    def state(self) -> PoolState:
        """Return the state of the pool's process; raises a GradeError if there is no process and none can start."""
        problem = ""
        for _ in range(TRIES):
            connection = self._connect(START_SECONDS)
            try:
                answer = b"".join(send_request(connection, encode_request("GET", "/state"), STATE_SECONDS))
                return msgspec.json.decode(answer, type=PoolState)
            except msgspec.DecodeError:
                problem = CLOSED  # in the middle of the answer
            except OSError as error:
                problem = str(error)
        raise InfrastructureError(f"The pool's process does not report its state: {problem}")

    # --- connections ---

    def _connect(self, seconds: float) -> socket.socket:
        """Return a new connection for one request.

        The first one to a process is kept, so that the process stays, and another one is returned.
        """
        seconds = max(seconds, MARGIN_SECONDS)
        if self._is_closed:
            raise UsageError("This Pool is closed; create a new one.")
        connection = connect(self._settings, seconds)
        is_kept = self._keep_if_absent(connection)
        return connect(self._settings, seconds) if is_kept else connection

    def _keep_if_absent(self, connection: socket.socket) -> bool:
        """Keep a connection if none is kept, or the process behind that one has ended; return whether."""
        with self._lock:
            if self._is_closed or self._is_present():
                return False
            if self._kept_connection is not None:
                self._kept_connection.close()
            self._kept_connection = connection
            return True

    def _is_present(self) -> bool:
        """Whether the kept connection is still open: the process sends nothing over it, but ends it."""
        return self._kept_connection is not None and not channel.wait_ready(0, readable=[self._kept_connection])

    def _reset_after_fork(self) -> None:
        """Reset after a fork: the kept connection is the parent's, and threads that may hold the lock are missing."""
        inherited = self._kept_connection
        self._reset()
        if inherited is not None:
            inherited.close()


_pools: weakref.WeakSet[Pool] = weakref.WeakSet()


def _reset_all_after_fork() -> None:
    for pool in list(_pools):
        pool._reset_after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_all_after_fork)


def _unpickle(arguments: dict[str, Any], rows: dict[str, bytes]) -> Pool:
    pool = Pool(**arguments)
    pool._rows.update(rows)
    return pool


def _in_order(results: Iterable[tuple[int, SampleResult]]) -> list[SampleResult]:
    return [result for _, result in sorted(results, key=lambda pair: pair[0])]


def _timeout_detail(seconds: float, problem: str) -> str:
    return f"not scored within {seconds:g} seconds" + (f" ({problem})" if problem else "")


def _seconds(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
        raise UsageError(f"wait: expected a number of seconds above 0, not {value!r}")
    return float(value)
