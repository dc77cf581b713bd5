"""Rounds: waiting samples are scored together, and no client waits longer than it asked to."""

from __future__ import annotations

import collections
import sys
import threading
import time
import traceback
from typing import TYPE_CHECKING, Protocol

from grader.errors import GradeError, InfrastructureError
from grader.pool.messages import unscored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from grader.results import SampleResult
    from grader.scorers.asked import Asked

ROUND_SECONDS = 5.0
"""Target duration of a round, because new samples wait until the current round ends."""
FEWEST, MOST = 64, 8192
"""Minimum and maximum size limit of a round, in samples."""
MAX_ATTEMPTS = 3
"""Maximum number of attempts for a sample if infrastructure fails."""
GIVE_UP_SECONDS = 60.0
"""How long to wait for an engine to come back. After that, its samples are unscored."""
BACKOFF_SECONDS = (0.5, 2.0, 8.0, 30.0)
"""The pauses after consecutive rounds without a sandbox; the last one repeats."""


class Scores(Protocol):
    """A scorer of samples."""

    def score(self, asked: Sequence[Asked]) -> list[SampleResult]:
        """Return one result per sample; raises a GradeError."""


class Waiting:
    """One sample that waits for its result."""

    __slots__ = ("_give", "asked", "attempts", "deadline", "gone")

    def __init__(self, asked: Asked, deadline: float, give: Callable[[SampleResult], None]) -> None:
        """`deadline` is a time of `time.monotonic`; `give` is called at most once, from another thread."""
        self.asked, self.deadline, self._give = asked, deadline, give
        self.attempts = 0
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

    def note(self, result: SampleResult) -> None:
        """Count a result."""
        self.outcomes[result.careful.outcome.value] += 1
        self.flagged.update(result.flags if isinstance(result.flags, list) else ())


class Rounds:
    """A thread that scores waiting samples, round after round."""

    def __init__(self, samples: Scores) -> None:
        self._samples = samples
        self._queue = collections.deque[Waiting]()
        self._changed = threading.Condition()
        self._stopping = False
        self._size = FEWEST
        self._in_round = 0
        self._failed_in_a_row, self._failing_since = 0, 0.0
        self.counts = Counts()
        self._thread = threading.Thread(target=self._loop, name="rounds", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """End after the current round; waiting samples are not scored."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread.ident is not None:
            self._thread.join()

    def submit(self, items: Iterable[Waiting]) -> None:
        """Add samples to the queue."""
        with self._changed:
            self._queue.extend(items)
            self._changed.notify_all()

    @property
    def waiting(self) -> int:
        """Number of samples that wait for a round or are in one."""
        return len(self._queue) + self._in_round

    def _loop(self) -> None:
        while (items := self._next()) is not None:
            if items:
                self._round(items)

    def _next(self) -> list[Waiting] | None:
        """Wait for samples and return up to the size limit of a round; None if it is time to end."""
        with self._changed:
            while not self._queue and not self._stopping:
                self._changed.wait()
            if self._stopping:
                return None
            taken = [self._queue.popleft() for _ in range(min(self._size, len(self._queue)))]
            now = time.monotonic()
            items = [item for item in taken if not item.gone and item.deadline > now]
            self.counts.expired += len(taken) - len(items)
            self._in_round = len(items)
            return items

    def _round(self, items: list[Waiting]) -> None:
        began = time.monotonic()
        try:
            results = self._score(items)
        except InfrastructureError as error:
            self._fail(items, str(error))
        else:
            self._failed_in_a_row, self.counts.problem = 0, ""
            self._hand_over(items, results)
        took = time.monotonic() - began
        self.counts.rounds += 1
        self.counts.busy_seconds += took
        self._in_round = 0
        # As many as fit into the target time. The lower limit keeps one slow program from making rounds small for good.
        self._size = int(min(MOST, max(FEWEST, len(items) * ROUND_SECONDS / max(took, 0.01))))

    def _score(self, items: list[Waiting]) -> list[SampleResult]:
        """Score samples. If one makes scoring fail, the others still get results. Raises InfrastructureError."""
        try:
            return self._samples.score([item.asked for item in items])
        except InfrastructureError:
            raise
        except Exception as error:
            if len(items) > 1:
                middle = len(items) // 2
                return self._score(items[:middle]) + self._score(items[middle:])
            if not isinstance(error, GradeError):
                traceback.print_exc(file=sys.stderr)
            return [unscored(items[0].asked, f"it could not be scored ({type(error).__name__}: {error})")]

    def _hand_over(self, items: list[Waiting], results: list[SampleResult]) -> None:
        again = []
        for item, result in zip(items, results, strict=True):
            item.attempts += 1
            if result.careful.rule == "infrastructure" and item.attempts < MAX_ATTEMPTS and not item.gone:
                again.append(item)
            else:
                self.counts.note(result)
                item.give(result)
        self._repeat(again)

    def _fail(self, items: list[Waiting], why: str) -> None:
        """Handle a failed round: repeat its samples, wait for the sandbox to come back, and give up after some time."""
        self.counts.failures += 1
        self.counts.problem = why
        pause = BACKOFF_SECONDS[min(self._failed_in_a_row, len(BACKOFF_SECONDS) - 1)]
        self._failing_since = self._failing_since if self._failed_in_a_row else time.monotonic()
        self._failed_in_a_row += 1
        if time.monotonic() - self._failing_since < GIVE_UP_SECONDS:
            self._repeat(items)
        else:
            for item in items:
                item.give(unscored(item.asked, why))
        with self._changed:
            self._changed.wait_for(lambda: self._stopping, pause)

    def _repeat(self, items: list[Waiting]) -> None:
        self.counts.repeated += len(items)
        with self._changed:
            self._queue.extendleft(reversed(items))
