"""What a run tells whoever is watching; the command renders it."""

from __future__ import annotations

from typing import Protocol

import msgspec

from grader.models.replies import Usage


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """A look at a run. Counts are of requests."""

    total: int
    """To be there at the end, those of earlier runs included."""
    before: int
    """There from earlier runs."""
    done: int = 0
    """Answered in this run."""
    failed: int = 0
    """Failed for good in this run."""
    in_flight: int = 0
    waiting: int = 0
    """Failed and about to be sent again."""
    usage: Usage = Usage()
    """Tokens of this run."""
    seconds: float = 0.0
    """Since the run began."""

    @property
    def tokens_a_second(self) -> float:
        """Tokens that the model wrote, a second."""
        return self.usage.completion_tokens / self.seconds if self.seconds else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Estimate of the time until the end; None before the first reply."""
        finished = self.done + self.failed
        return self.seconds / finished * (self.total - self.before - finished) if finished else None


class Watcher(Protocol):
    """Receives the events of a run, all from one thread."""

    def progress(self, progress: Progress) -> None:
        """Show how far the run is; called about twice a second."""

    def message(self, text: str) -> None:
        """Say one line that a person should see."""

    def warning(self, text: str) -> None:
        """Say one line that a person should see even where only errors are wanted."""


class Silent:
    """A watcher that ignores everything."""

    def progress(self, progress: Progress) -> None:
        """Ignore."""

    def message(self, text: str) -> None:
        """Ignore."""

    def warning(self, text: str) -> None:
        """Ignore."""
