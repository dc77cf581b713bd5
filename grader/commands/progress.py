"""Progress of a run on standard error: a bar with time left and pass rate on a terminal, plain lines in a log."""

from __future__ import annotations

import time
from typing import Any

from grader.commands.terminal import LINE_SECONDS, LiveBar, PlainLines, has_bar

ESTIMATED_FROM = 0.05
"""Share of the steps that must be done before the time left is estimated."""


class Lines(PlainLines):
    """Progress lines for a log: one every few seconds, and one at the end of a phase."""

    def __init__(self, *, quiet: bool) -> None:
        super().__init__(quiet=quiet)
        self._name, self._total = "", 0
        self._done = self._passed = 0
        self._started = self._written = time.monotonic()

    def phase(self, name: str, total: int | None) -> None:
        """Begin a phase."""
        self._name, self._total = name, total or 0
        self._done = self._passed = 0
        self._started = self._written = time.monotonic()

    def advance(self, steps: int = 1, *, passed: int = 0) -> None:
        """Count the steps; write a line, if the last one is old enough."""
        self._done += steps
        self._passed += passed
        now = time.monotonic()
        if now - self._written >= LINE_SECONDS or self._done == self._total:
            self._written = now
            rate = f", {100 * self._passed / self._done:.0f} % pass" if self._passed else ""
            self.message(f"{self._name}: {self._done}/{self._total}{rate}{self._ending(now - self._started)}")

    def _ending(self, seconds: float) -> str:
        """Return the time that the phase took, or an estimate of the time left."""
        if self._done == self._total:
            return f" in {seconds:.1f} s"
        # Results come in groups: the time of the first one says nothing about the others.
        if self._done < ESTIMATED_FROM * self._total:
            return ""
        return f", {seconds / self._done * (self._total - self._done):.0f} s left"


class Bar(LiveBar):
    """A progress bar for a terminal."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        columns: list[Any] = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()]
        columns += [TextColumn("{task.fields[rate]}"), TimeElapsedColumn(), TimeRemainingColumn()]
        super().__init__(Progress(*columns, console=Console(stderr=True), transient=True))
        self._task: Any = None
        self._passed = self._done = 0

    def phase(self, name: str, total: int | None) -> None:
        """Begin a phase."""
        if self._task is not None:
            self._progress.remove_task(self._task)
        self._passed = self._done = 0
        self._task = self._progress.add_task(name, total=total, rate="")

    def advance(self, steps: int = 1, *, passed: int = 0) -> None:
        """Move the bar."""
        self._done += steps
        self._passed += passed
        rate = f"{100 * self._passed / self._done:.0f} % pass" if self._passed else ""
        self._progress.update(self._task, advance=steps, rate=rate)


def watcher(*, quiet: bool) -> Bar | Lines:
    """Return a bar if standard error is a terminal, else lines."""
    return Bar() if has_bar(quiet=quiet) else Lines(quiet=quiet)
