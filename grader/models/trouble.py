"""Messages about a failing server: the problem, at intervals, and its end."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.models.client import ClientStatus


class TroubleReporter:
    """A reporter of failures that last longer than `grace` seconds, at most once in `every` seconds."""

    def __init__(self, who: str, say: Callable[[str], None], *, grace: float = 1.0, every: float = 15.0) -> None:
        self._who = who
        self._say = say
        self._grace = grace
        self._every = every
        self._since: float | None = None
        """Time when replies were first seen to fail; None: they do not fail."""
        self._said_at: float | None = None
        self._is_said = False
        """Whether the current failure was reported."""

    def look(self, status: ClientStatus) -> None:
        """Report a status, if it needs a message."""
        now = time.monotonic()
        if not status.trouble:
            if self._is_said:
                self._say(f"{self._who} replies again ({_detail(status)}).")
            self._since, self._is_said = None, False
            return
        self._since = now if self._since is None else self._since
        lasts = now - self._since >= self._grace
        if lasts and (self._said_at is None or now - self._said_at >= self._every):
            self._said_at, self._is_said = now, True
            self._say(f"{self._who}: {status.trouble.rstrip('. ')}. Trying again ({_detail(status)}).")


def _detail(status: ClientStatus) -> str:
    pace = status.pace
    parts = [f"{status.waiting} waiting", f"at most {pace.limit} of {pace.most} requests at a time"]
    if pace.held_seconds >= 1:
        parts.append(f"the server asks to wait {pace.held_seconds:.0f} s")
    return ", ".join(parts)
