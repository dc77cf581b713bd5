"""The number of events per second, averaged over the last seconds in which there were some."""

from __future__ import annotations

import time

SECONDS = 10.0
"""About the time that is averaged over."""


class Rate:
    """Events per second. Time without any event does not count: a queue is empty then."""

    def __init__(self) -> None:
        self.value = 0.0
        self._noted = time.monotonic()

    def note(self, count: int = 1, *, idle: bool = False) -> None:
        """Note events since the last call. `idle`: there was nothing to do before, so only the time is noted."""
        now = time.monotonic()
        passed = now - self._noted
        self._noted = now
        if idle:
            return
        share = min(1.0, max(passed, 1e-3) / SECONDS)
        self.value += share * (count / max(passed, 1e-3) - self.value)
