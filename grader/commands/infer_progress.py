"""How far `grade infer` is, on standard error: one line on a terminal, a line now and then in a log."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any, Self

from grader.commands.console import say

if TYPE_CHECKING:
    from types import TracebackType

    from grader.inference.events import Progress

LINE_SECONDS = 10.0


class Lines:
    """For logs."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._said = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def progress(self, progress: Progress) -> None:
        """Say a line when it is time."""
        if time.monotonic() - self._said >= LINE_SECONDS:
            self._said = time.monotonic()
            self.message(described(progress))

    def message(self, text: str) -> None:
        """Say one line."""
        if not self._quiet:
            say(text)

    def warning(self, text: str) -> None:
        """Say one line, `--quiet` or not."""
        say(text)


class Bar:
    """For terminals."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        columns: list[Any] = [TextColumn("requests"), BarColumn(bar_width=24), MofNCompleteColumn()]
        columns.append(TextColumn("{task.fields[detail]}"))
        self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._progress.add_task("requests", total=None, detail="")

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def progress(self, progress: Progress) -> None:
        """Move the bar."""
        done = progress.before + progress.done
        self._progress.update(self._task, total=progress.total, completed=done, detail=_detail(progress))

    def message(self, text: str) -> None:
        """Say one line above the bar."""
        self._progress.console.print(text, markup=False, highlight=False)

    def warning(self, text: str) -> None:
        """Say one line above the bar."""
        self.message(text)


def watcher(*, quiet: bool) -> Bar | Lines:
    """Return what suits standard error."""
    if sys.stderr.isatty() and not quiet:
        return Bar()
    return Lines(quiet=quiet)


def described(progress: Progress) -> str:
    """Return a line on how far a run is."""
    return f"requests: {progress.before + progress.done}/{progress.total}, {_detail(progress)}"


def _detail(progress: Progress) -> str:
    parts = [f"{progress.in_flight} in flight"]
    if progress.failed:
        parts.insert(0, f"{progress.failed} failed")
    if progress.waiting:
        parts.append(f"{progress.waiting} waiting to be sent again")
    parts.append(f"{progress.usage.total:,} tokens")
    if progress.usage.completion_tokens:
        parts.append(f"{progress.tokens_a_second:,.0f} written a second")
    left = progress.seconds_left
    if left is not None:
        parts.append(f"{duration(left)} left")
    return ", ".join(parts)


def duration(seconds: float) -> str:
    """Return a time in the unit that suits it."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
