"""Rounds: threads score waiting samples, a few at a time, and no client waits longer than it asked to.

A round in the lane `quick` gives every program a short time. Those that need more are scored again, from the beginning,
in the lane `slow`, each in a round of its own, so quick programs never wait for them.
"""

from __future__ import annotations

import collections
import contextlib
import sys
import threading
import time
import traceback
from typing import TYPE_CHECKING, Protocol

from grader.errors import GradeError, InfrastructureError
from grader.pool.messages import unscored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from grader.results import SampleResult
    from grader.scorers.asking import Asked, Lane

SECONDS = 10.0
"""About the time that is averaged over."""


class Rate:
    """Events per second. Time without any event does not count: a queue is empty then."""

    def __init__(self) -> None:
        self.value = 0.0
        self._noted = time.monotonic()

    def note(self, count: int = 1, *, idle: bool = False) -> None:
        """Note events since the last call. `idle`: there was nothing to do before, so only the time is noted."""
        now = time.monotonic()
        passed = now - self._noted
        self._noted = now
        if idle:
            return
        share = min(1.0, max(passed, 1e-3) / SECONDS)
        self.value += share * (count / max(passed, 1e-3) - self.value)


ROUND_SECONDS = 5.0
"""Target duration of a round in the lane `whole`, because new samples wait until the current round ends."""
FEWEST, MOST = 64, 1024
"""Minimum and maximum size of such a round, in samples."""
MOST_OF: dict[Lane, int] = {"whole": MOST, "quick": 4, "slow": 1}
"""Maximum size of a round by its lane."""
MAX_ATTEMPTS = 3
"""Maximum number of attempts for a sample if infrastructure fails."""
GIVE_UP_SECONDS = 60.0
"""How long to wait for an engine to come back. After that, its samples are unscored."""
BACKOFF_SECONDS = 0.5, 30.0
"""The shortest and the longest pause after a round without a sandbox: about as long as there has been none."""


class Scores(Protocol):
    """A scorer of samples, for any number of threads."""

    @property
    def threads(self) -> Mapping[Lane, int]:
        """Lane -> number of threads that may score in it. Samples begin in the first lane."""

    def score(self, asked: Sequence[Asked], lane: Lane) -> Sequence[SampleResult | None]:
        """Return one result per sample; None: it has to be scored in the lane `slow`. Raises a GradeError."""


class Waiting:
    """One sample that waits for its result."""

    __slots__ = ("_give", "asked", "attempts", "deadline", "gone", "since")

    def __init__(self, asked: Asked, deadline: float, give: Callable[[SampleResult], None]) -> None:
        """`deadline` is a time of `time.monotonic`; `give` is called at most once, from another thread."""
        self.asked, self.deadline, self._give = asked, deadline, give
        self.attempts = 0
        self.since = time.monotonic()
        self.gone = False
        """Whether its client has stopped waiting."""

    def give(self, result: SampleResult) -> None:
        """Deliver the result, unless the client has stopped waiting."""
        if not self.gone:
            self._give(result)


class Counts:
    """Counts of a pool since its start."""

    def __init__(self) -> None:
        self.rounds = self.expired = self.repeated = self.failures = 0
        self.busy_seconds = 0.0
        self.problem = ""
        self.outcomes = collections.Counter[str]()
        self.flagged = collections.Counter[str]()
        self.rate = Rate()

    def note(self, result: SampleResult) -> None:
        """Count a result."""
        self.outcomes[result.careful.outcome.value] += 1
        self.flagged.update(result.flags if isinstance(result.flags, list) else ())
        self.rate.note()


def _program(item: Waiting) -> tuple[str, str]:
    return item.asked.row or item.asked.qid, item.asked.text


class _Queue:
    """Samples that wait. Requests take turns, so that a small one never waits for a large one."""

    def __init__(self) -> None:
        self._requests = collections.deque[collections.deque[Waiting]]()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def since(self) -> float:
        """Since when the oldest sample waits."""
        return min(request[0].since for request in self._requests)

    def add(self, items: Iterable[Waiting], *, at_front: bool = False) -> int:
        """Add samples of one request; return their number."""
        request = collections.deque(items)
        if request:
            (self._requests.appendleft if at_front else self._requests.append)(request)
        self._count += len(request)
        return len(request)

    def take(self, most: int) -> list[Waiting]:
        """Take a sample of each request in turn, up to a number."""
        taken: list[Waiting] = []
        while self._requests and len(taken) < most:
            request = self._requests.popleft()
            taken.append(request.popleft())
            if request:
                self._requests.append(request)
        self._count -= len(taken)
        return taken

    def pick(self, is_wanted: Callable[[Waiting], bool]) -> list[Waiting]:
        """Take all samples of a kind."""
        every = [item for request in self._requests for item in request if is_wanted(item)]
        for request in list(self._requests):
            for item in every:
                with contextlib.suppress(ValueError):
                    request.remove(item)
            if not request:
                self._requests.remove(request)
        self._count -= len(every)
        return every


class Rounds:
    """Threads that score waiting samples, round after round."""

    def __init__(self, samples: Scores, *, whole: bool = False) -> None:
        """`whole`: all samples of a round are scored together, as in a run."""
        self._samples = samples
        self._most_threads: Mapping[Lane, int] = {"whole": 1} if whole else samples.threads
        self._queues: dict[Lane, _Queue] = {lane: _Queue() for lane in self._most_threads}
        self._first: Lane = next(iter(self._queues))
        self._changed = threading.Condition()
        self._stopping = False
        self._size = FEWEST
        self._open = 0
        """Number of samples without a result."""
        self._failing_since = 0.0
        """When the last sandbox was found to be missing; 0.0: there is one."""
        self.counts = Counts()
        self._threads: list[threading.Thread] = []
        self._started = collections.Counter[str]()

    def start(self) -> None:
        """Start the threads of the first lane. Those of the other lanes start when a sample may need them."""
        with self._changed:
            for _ in range(self._most_threads[self._first]):
                self._start(self._first)

    def _start(self, lane: Lane) -> None:
        """Start one more thread of a lane, unless it has all of them."""
        if self._started[lane] < self._most_threads[lane]:
            self._started[lane] += 1
            self._threads.append(threading.Thread(target=self._loop, args=(lane,), name=lane, daemon=True))
            self._threads[-1].start()

    def stop(self, abort: Callable[[], None] = lambda: None) -> None:
        """End after the current rounds, which `abort` makes fail; waiting samples are not scored."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        abort()
        for thread in self._threads:
            thread.join()

    def submit(self, items: Iterable[Waiting]) -> None:
        """Add the samples of one request to the queue."""
        # Most programs that never end have a `while` loop.
        items = sorted(items, key=lambda item: "while" in item.asked.text)
        with self._changed:
            if not self._open:
                self.counts.rate.note(idle=True)
            self._open += self._queues[self._first].add(items)
            self._changed.notify_all()

    @property
    def waiting(self) -> int:
        """Number of samples that wait for a round or are in one."""
        return self._open

    def queued(self) -> tuple[dict[str, int], float]:
        """Return the number of samples that wait in each lane, and how long the oldest of them has waited."""
        with self._changed:
            first = min((queue.since for queue in self._queues.values() if queue), default=None)
            lanes = {str(lane): len(queue) for lane, queue in self._queues.items()}
        return lanes, 0.0 if first is None else time.monotonic() - first

    def _loop(self, lane: Lane) -> None:
        while (items := self._next(lane)) is not None:
            if items:
                self._round(lane, items)

    def _next(self, lane: Lane) -> list[Waiting] | None:
        """Wait for samples and return up to the size limit of a round; None if it is time to end."""
        queue = self._queues[lane]
        with self._changed:
            while not queue and not self._stopping:
                self._changed.wait()
            if self._stopping:
                return None
            taken = queue.take(self._size if lane == "whole" else MOST_OF[lane])
            if lane != self._first:
                # Equal programs run once.
                taken += queue.pick(lambda item: _program(item) == _program(taken[0]))
            now = time.monotonic()
            items = [item for item in taken if not item.gone and item.deadline > now]
            for item in taken:
                if item.gone or item.deadline <= now:
                    self.counts.expired += 1
                    self._open -= 1
            return items

    def _round(self, lane: Lane, items: list[Waiting]) -> None:
        began = time.monotonic()
        try:
            results = self._score(items, lane)
        except InfrastructureError as error:
            self._fail(lane, items, str(error))
        else:
            self._hand_over(lane, items, results)
        took = time.monotonic() - began
        with self._changed:
            self.counts.rounds += 1
            self.counts.busy_seconds += took
            # As many as fit into the target time. The lower limit keeps one slow program from making rounds small.
            self._size = int(min(MOST, max(FEWEST, len(items) * ROUND_SECONDS / max(took, 0.01))))

    def _score(self, items: list[Waiting], lane: Lane) -> Sequence[SampleResult | None]:
        """Score samples. If one makes scoring fail, the others still get results. Raises InfrastructureError."""
        try:
            return self._samples.score([item.asked for item in items], lane)
        except InfrastructureError:
            raise
        except OSError as error:
            # For example, the disk is full: it may have space later.
            raise InfrastructureError(f"{type(error).__name__}: {error}") from error
        except Exception as error:
            if len(items) > 1:
                middle = len(items) // 2
                return [*self._score(items[:middle], lane), *self._score(items[middle:], lane)]
            if not isinstance(error, GradeError):
                with contextlib.suppress(OSError):  # the log's disk may be full
                    traceback.print_exc(file=sys.stderr)
            return [unscored(items[0].asked, f"it could not be scored ({type(error).__name__}: {error})", "task")]

    def _hand_over(self, lane: Lane, items: list[Waiting], results: Sequence[SampleResult | None]) -> None:
        with self._changed:
            self._failing_since, self.counts.problem = 0.0, ""
            again = []
            for item, result in zip(items, results, strict=True):
                if result is None:
                    if lane == "quick":
                        self._queues["slow"].add([item])
                        self._start("slow")
                        self._changed.notify_all()
                        continue
                    # This is an error of a scorer. Put off once more, the sample would come back for ever.
                    result = unscored(item.asked, "it has no verdict although it had its whole time")  # noqa: PLW2901
                item.attempts += 1
                if result.careful.rule == "infrastructure" and item.attempts < MAX_ATTEMPTS and not item.gone:
                    again.append(item)
                else:
                    self._finish(item, result)
            self._repeat(lane, again)

    def _finish(self, item: Waiting, result: SampleResult) -> None:
        self.counts.note(result)
        self._open -= 1
        item.give(result)

    def _fail(self, lane: Lane, items: list[Waiting], why: str) -> None:
        """Handle a failed round: repeat its samples, wait for the sandbox to come back, and give up after some time."""
        with self._changed:
            self.counts.failures += 1
            self.counts.problem = why
            self._failing_since = self._failing_since or time.monotonic()
            failing = time.monotonic() - self._failing_since
            pause = min(BACKOFF_SECONDS[1], max(BACKOFF_SECONDS[0], failing))
            if failing < GIVE_UP_SECONDS:
                self._repeat(lane, items)
            else:
                for item in items:
                    self._finish(item, unscored(item.asked, why))
            self._changed.wait_for(lambda: self._stopping, pause)

    def _repeat(self, lane: Lane, items: list[Waiting]) -> None:
        self.counts.repeated += len(items)
        self._queues[lane].add(items, at_front=True)
        self._changed.notify_all()
