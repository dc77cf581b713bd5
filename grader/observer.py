"""What the library tells whoever is watching; the command renders it, the library never prints."""

from __future__ import annotations

from typing import Protocol


class Observer(Protocol):
    """Receives the events of a run. Every method may be called from one thread only."""

    def phase(self, name: str, total: int | None) -> None:
        """Begin a phase (`grading`, `image`, `judge`, ...) of `total` steps (None: unknown)."""

    def advance(self, steps: int = 1, *, passed: int = 0) -> None:
        """`steps` steps of the phase are done, `passed` of them with credit."""

    def message(self, text: str) -> None:
        """Say one line that a person should see."""

    def warning(self, text: str) -> None:
        """Say one line that a person should see even where only errors are wanted."""


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
