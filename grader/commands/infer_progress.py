"""Progress of `grade infer` on standard error: a bar on a terminal, a line every few seconds in a log."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from grader.commands.terminal import LINE_SECONDS, LiveBar, PlainLines, has_bar

if TYPE_CHECKING:
    from grader.inference.events import Progress


class Lines(PlainLines):
    """Progress lines for a log."""

    def __init__(self, *, quiet: bool) -> None:
        super().__init__(quiet=quiet)
        self._written = time.monotonic()

    def progress(self, progress: Progress) -> None:
        """Write a line, if the last one is old enough."""
        if time.monotonic() - self._written >= LINE_SECONDS:
            self._written = time.monotonic()
            self.message(described(progress))


class Bar(LiveBar):
    """A progress bar for a terminal."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn
        from rich.table import Column

        # A line that is too long is cut at its end, so that the counts stay visible.
        text = TextColumn("{task.fields[detail]}", table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1))
        columns: list[Any] = [BarColumn(bar_width=12, table_column=Column(min_width=12)), text]
        super().__init__(Progress(*columns, console=Console(stderr=True), transient=True, expand=True))
        self._task = self._progress.add_task("requests", total=None, detail="")

    def progress(self, progress: Progress) -> None:
        """Move the bar."""
        done = progress.before + progress.done
        self._progress.update(self._task, total=progress.total, completed=done, detail=described(progress))


def watcher(*, quiet: bool) -> Bar | Lines:
    """Return a bar if standard error is a terminal, else lines."""
    return Bar() if has_bar(quiet=quiet) else Lines(quiet=quiet)


def described(progress: Progress) -> str:
    """Return one line that describes the progress of a run."""
    return f"requests: {progress.before + progress.done}/{progress.total}, {_detail(progress)}"


def _detail(progress: Progress) -> str:
    parts = []
    left = progress.seconds_left
    if left is not None:
        parts.append(f"{duration(left)} left")
    if progress.failed:
        parts.append(f"{progress.failed} failed")
    parts.append(f"{progress.in_flight} in flight")
    if progress.waiting:
        parts.append(f"{progress.waiting} waiting to be sent again")
    parts.append(f"{progress.usage.total:,} tokens")
    if progress.usage.completion_tokens:
        parts.append(f"{progress.tokens_a_second:,.0f} written a second")
    return ", ".join(parts)


def duration(seconds: float) -> str:
    """Return a duration as text, in seconds, minutes or hours."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
