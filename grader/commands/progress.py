"""Progress on standard error, of a run and of `grade infer`: a bar on a terminal, plain lines in a log."""

from __future__ import annotations

import sys
import time
from typing import Any, Self

from grader.commands.console import say

LINE_SECONDS = 10.0
"""Minimum time between two progress lines in a log."""
ESTIMATED_FROM = 0.05
"""Share of the steps that must be done before the time left is estimated."""


class Lines:
    """Messages for a log, and its progress: a line every few seconds, and one at the end of a phase."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._last = ""
        self.phase("", None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def message(self, text: str) -> None:
        """Write one line, unless `--quiet` was given."""
        if not self._quiet:
            say(text)

    def warning(self, text: str) -> None:
        """Write one line, also with `--quiet`."""
        say(text)

    def phase(self, name: str, total: int | None) -> None:
        """Begin a phase of `total` steps (None: unknown)."""
        self._name, self._total = name, total
        self._done = self._passed = 0
        self._started = self._last_line_at = time.monotonic()

    def advance(self, steps: int = 1, *, passed: int = 0) -> None:
        """Count the steps; write a line at the end of the phase, or if the last one is old enough."""
        if not steps:
            return
        self._done += steps
        self._passed += passed
        if self._is_due() or self._done == self._total:
            total = "" if self._total is None else f"/{self._total}"
            rate = _rate(self._passed, self._done)
            passing = f", {rate}" if rate else ""
            duration = self._duration(time.monotonic() - self._started)
            self._write(f"{self._name}: {self._done}{total}{passing}{duration}")

    def _is_due(self) -> bool:
        return time.monotonic() - self._last_line_at >= LINE_SECONDS

    def _write(self, text: str) -> None:
        """Write a line about the progress, unless it says the same as the last one."""
        self._last_line_at = time.monotonic()
        if text != self._last:
            self._last = text
            self.message(text)

    def _duration(self, seconds: float) -> str:
        """Return the time that the phase took, or an estimate of the time left."""
        if self._done == self._total:
            return f" in {seconds:.1f} s"
        # Results come in groups: the time of the first one says nothing about the others.
        if self._total is None or self._done < ESTIMATED_FROM * self._total:
            return ""
        return f", {seconds / self._done * (self._total - self._done):.0f} s left"


class Bar:
    """Messages above a progress bar on a terminal, which is removed at the end."""

    def __init__(self, *columns: Any) -> None:
        from rich.console import Console
        from rich.progress import Progress

        self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task: Any = None
        self._done = self._passed = 0

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def message(self, text: str) -> None:
        """Write one line above the bar."""
        self._progress.console.print(text, markup=False, highlight=False)

    warning = message

    def phase(self, name: str, total: int | None) -> None:
        """Begin a phase of `total` steps (None: unknown)."""
        if self._task is not None:
            self._progress.remove_task(self._task)
        self._done = self._passed = 0
        self._task = self._progress.add_task(name, total=total, rate="")

    def advance(self, steps: int = 1, *, passed: int = 0) -> None:
        """Move the bar."""
        self._done += steps
        self._passed += passed
        self._progress.update(self._task, advance=steps, rate=_rate(self._passed, self._done))


def _rate(passed: int, done: int) -> str:
    """Return the share that passed; empty if none did, as in a phase whose steps cannot pass."""
    return f"{100 * passed / done:.0f} % pass" if passed else ""


def progress_reporter(*, quiet: bool) -> Bar | Lines:
    """Return a bar for the phases of a run if standard error is a terminal, else lines."""
    if quiet or not sys.stderr.isatty():
        return Lines(quiet=quiet)
    from rich.progress import BarColumn, MofNCompleteColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = "{task.description}", BarColumn(), MofNCompleteColumn(), "{task.fields[rate]}"
    return Bar(*columns, TimeElapsedColumn(), TimeRemainingColumn())
