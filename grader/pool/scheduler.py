"""The scheduler: threads score waiting samples, a few at a time, and no client waits longer than it asked to.

Programs with loops have a lane of their own, which is a queue with its threads (see `may_never_end`).
"""

from __future__ import annotations

import collections
import contextlib
import copy
import os
import sys
import threading
import time
import traceback
from typing import TYPE_CHECKING

import msgspec

from grader.errors import GradeError, InfrastructureError
from grader.pool.messages import INFRASTRUCTURE, PoolState, unscored_result
from grader.sandbox.roles import may_never_end

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from grader.pool.samples import Samples
    from grader.results import SampleResult
    from grader.scorers.sample_scorer import Lane, ScoreRequest

MAX_ATTEMPTS = 3
"""Maximum number of attempts for a sample if infrastructure fails."""
GIVE_UP_SECONDS = 60.0
"""How long to wait for an engine to come back. After that, its samples are unscored."""
MIN_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 0.5, 30.0
"""After a round without a sandbox, the pause is as long as the outage so far, within these limits."""


class QueuedSample:
    """One sample that waits for its result."""

    __slots__ = ("_on_result", "attempts", "deadline", "is_abandoned", "request")

    def __init__(self, request: ScoreRequest, deadline: float, on_result: Callable[[SampleResult], None]) -> None:
        """`deadline` is a time of `time.monotonic`; `on_result` is called at most once, from another thread."""
        self.request, self.deadline, self._on_result = request, deadline, on_result
        self.attempts = 0
        self.is_abandoned = False
        """Whether its client has stopped waiting."""

    def deliver(self, result: SampleResult) -> None:
        """Deliver the result, unless the client has stopped waiting."""
        if not self.is_abandoned:
            self._on_result(result)


class Scheduler:
    """Threads that score waiting samples, round after round."""

    def __init__(self, samples: Samples) -> None:
        self._samples = samples
        self._queues = {lane: collections.deque[collections.deque[QueuedSample]]() for lane in samples.lanes}
        """Lane -> the samples that wait, a queue for each client's request (see `_take_round`)."""
        self._changed = threading.Condition()
        self._stopping = False
        self._failing_since = 0.0
        """Time since which no round has found a sandbox; 0.0: the last one did."""
        self._state = PoolState(pid=os.getpid(), benchmark=samples.benchmark)
        self._threads = [
            threading.Thread(target=self._loop, args=(lane,), name=lane, daemon=True)
            for lane, size in samples.lanes.items()
            for _ in range(size.threads)
        ]

    def start(self) -> None:
        """Start the threads."""
        for thread in self._threads:
            thread.start()

    def stop(self, abort: Callable[[], None] = lambda: None) -> None:
        """End after the current rounds, which `abort` makes fail; waiting samples are not scored."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        abort()
        for thread in self._threads:
            thread.join()

    def state(self) -> PoolState:
        """Return the counts since the start."""
        with self._changed:
            queued = {str(lane): sum(map(len, queue)) for lane, queue in self._queues.items()}
            # A copy: these counts grow while somebody reads them.
            return msgspec.structs.replace(copy.deepcopy(self._state), queued=queued)

    @property
    def problem(self) -> str:
        """Why the last round failed; empty if it did not."""
        return self._state.problem

    def submit(self, items: Iterable[QueuedSample]) -> None:
        """Add the samples of one request to the queue."""
        lanes: dict[Lane, list[QueuedSample]] = {}
        for item in items:
            lane: Lane = "loops" if "loops" in self._queues and may_never_end(item.request.text) else "usual"
            lanes.setdefault(lane, []).append(item)
        with self._changed:
            for lane, lane_items in lanes.items():
                self._state.waiting += len(lane_items)
                self._enqueue(lane, lane_items)

    def _enqueue(self, lane: Lane, items: Iterable[QueuedSample], *, at_front: bool = False) -> None:
        """Add samples of one request to a lane. Called with the lock held."""
        samples_of_request = collections.deque(items)
        if samples_of_request:
            (self._queues[lane].appendleft if at_front else self._queues[lane].append)(samples_of_request)
            self._changed.notify_all()

    def _loop(self, lane: Lane) -> None:
        while (items := self._next(lane)) is not None:
            if items:
                self._round(lane, items)

    def _next(self, lane: Lane) -> list[QueuedSample] | None:
        """Wait, and return a round's samples; None: it is time to end. Late ones are dropped; their clients know."""
        queue = self._queues[lane]
        with self._changed:
            self._changed.wait_for(lambda: queue or self._stopping)
            if self._stopping:
                return None
            candidates, now = _take_round(queue, self._samples.lanes[lane].samples), time.monotonic()
            items = [item for item in candidates if not item.is_abandoned and item.deadline > now]
            self._state.expired += len(candidates) - len(items)
            self._state.waiting -= len(candidates) - len(items)
            return items

    def _round(self, lane: Lane, items: list[QueuedSample]) -> None:
        try:
            results = self._score(items)
        except InfrastructureError as error:
            self._fail(lane, items, str(error))
        else:
            self._deliver(lane, items, results)

    def _score(self, items: list[QueuedSample]) -> Sequence[SampleResult]:
        """Score samples; if this fails, each half apart, so that none spoils others. Raises InfrastructureError."""
        try:
            return self._samples.score([item.request for item in items])
        except InfrastructureError:
            raise
        except OSError as error:
            # For example, the disk is full: it may have space later.
            raise InfrastructureError(f"{type(error).__name__}: {error}") from error
        except Exception as error:
            if len(items) > 1:
                middle = len(items) // 2
                return [*self._score(items[:middle]), *self._score(items[middle:])]
            if not isinstance(error, GradeError):
                with contextlib.suppress(OSError):  # the log's disk may be full
                    traceback.print_exc(file=sys.stderr)
            return [
                unscored_result(items[0].request, f"it could not be scored ({type(error).__name__}: {error})", "task")
            ]

    def _deliver(self, lane: Lane, items: list[QueuedSample], results: Sequence[SampleResult]) -> None:
        """Deliver results. Samples that infrastructure failed on are scored again, a few times."""
        with self._changed:
            self._failing_since, self._state.problem = 0.0, ""
            repeated = []
            for item, result in zip(items, results, strict=True):
                item.attempts += 1
                can_succeed = result.careful.rule == INFRASTRUCTURE and item.attempts < MAX_ATTEMPTS
                if can_succeed and not item.is_abandoned:
                    repeated.append(item)
                else:
                    self._finish(item, result)
            self._repeat(lane, repeated)

    def _finish(self, item: QueuedSample, result: SampleResult) -> None:
        self._state.count_result(result)
        item.deliver(result)

    def _fail(self, lane: Lane, items: list[QueuedSample], why: str) -> None:
        """Handle a failed round: repeat its samples, wait for the sandbox to come back, and give up after some time."""
        with self._changed:
            self._state.failures += 1
            self._state.problem = why
            self._failing_since = self._failing_since or time.monotonic()
            failing_seconds = time.monotonic() - self._failing_since
            if failing_seconds < GIVE_UP_SECONDS:
                self._repeat(lane, items)
            else:
                for item in items:
                    self._finish(item, unscored_result(item.request, why))
            pause = min(MAX_PAUSE_SECONDS, max(MIN_PAUSE_SECONDS, failing_seconds))
            self._changed.wait_for(lambda: self._stopping, pause)

    def _repeat(self, lane: Lane, items: list[QueuedSample]) -> None:
        self._state.repeated += len(items)
        self._enqueue(lane, items, at_front=True)


def _take_round(queue: collections.deque[collections.deque[QueuedSample]], limit: int) -> list[QueuedSample]:
    """Take a sample of each request in turn, so that a small request never waits for a large one."""
    samples: list[QueuedSample] = []
    while queue and len(samples) < limit:
        waiting = queue.popleft()
        samples.append(waiting.popleft())
        if waiting:
            queue.append(waiting)
    return samples
