"""The events of a run, which the command shows."""

from __future__ import annotations

from typing import Protocol

import msgspec

from grader import observer
from grader.models.replies import Usage
from grader.observer import Listener


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """The progress of a run, in requests."""

    total: int
    """Number of requests of the whole run, including those of earlier runs."""
    before: int
    """Answered in earlier runs."""
    done: int = 0
    """Answered in this run."""
    failed: int = 0
    """Failed permanently in this run."""
    in_flight: int = 0
    waiting: int = 0
    """Failed, and waiting to be sent again."""
    usage: Usage = Usage()
    """Tokens of this run."""
    seconds: float = 0.0
    """Time since the run began."""

    @property
    def tokens_a_second(self) -> float:
        """Tokens that the model wrote per second."""
        return self.usage.completion_tokens / self.seconds if self.seconds else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Estimated time until the end; None before the first reply."""
        finished = self.done + self.failed
        return self.seconds / finished * (self.total - self.before - finished) if finished else None


class Watcher(Listener, Protocol):
    """A receiver of a run's events, all from one thread."""

    def progress(self, progress: Progress) -> None:
        """Show the progress of the run; called about twice per second."""


class Silent(observer.Silent):
    """A watcher that ignores everything."""

    def progress(self, progress: Progress) -> None:
        """Ignore."""
