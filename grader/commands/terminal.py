"""Base classes of the progress displays on standard error: plain lines, and a bar that is removed at the end."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Self

from grader.commands.console import say

if TYPE_CHECKING:
    from types import TracebackType

    from rich.progress import Progress

LINE_SECONDS = 10.0
"""Minimum time between two progress lines in a log."""


class PlainLines:
    """Messages for a log, one line each."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def message(self, text: str) -> None:
        """Write one line, unless `--quiet` was given."""
        if not self._quiet:
            say(text)

    def warning(self, text: str) -> None:
        """Write one line, also with `--quiet`."""
        say(text)


class LiveBar:
    """Messages above a progress bar, which is removed at the end."""

    def __init__(self, bar: Progress) -> None:
        self._progress = bar

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def message(self, text: str) -> None:
        """Write one line above the bar."""
        self._progress.console.print(text, markup=False, highlight=False)

    def warning(self, text: str) -> None:
        """Write one line above the bar."""
        self.message(text)


def has_bar(*, quiet: bool) -> bool:
    """Return whether standard error is a terminal that a bar can be drawn on."""
    return sys.stderr.isatty() and not quiet
