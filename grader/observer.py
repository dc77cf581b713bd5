"""Events of the library for an observer. The command renders them; the library never prints."""

from __future__ import annotations

from typing import Protocol


class Listener(Protocol):
    """Receives messages. All methods are called from one thread only."""

    def message(self, text: str) -> None:
        """Show one line to the user."""

    def warning(self, text: str) -> None:
        """Show one line to the user, even if only errors are wanted."""


class Observer(Listener, Protocol):
    """Receives the events of a run."""

    def phase(self, name: str, total: int | None) -> None:
        """Begin a phase (`grading`, `image`, `judge`, ...) of `total` steps (None: unknown)."""

    def advance(self, steps: int = 1, *, passed: int = 0) -> None:
        """Report that `steps` steps of the phase are done, `passed` of them with credit."""


class Silent:
    """An observer that ignores everything."""

    def phase(self, name: str, total: int | None) -> None:
        """Ignore."""

    def advance(self, steps: int = 1, *, passed: int = 0) -> None:
        """Ignore."""

    def message(self, text: str) -> None:
        """Ignore."""

    def warning(self, text: str) -> None:
        """Ignore."""
