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
                self._say(f"{self._who} replies again. {_load(status)}")
            self._since, self._is_said = None, False
            return
        self._since = now if self._since is None else self._since
        lasts = now - self._since >= self._grace
        if lasts and (self._said_at is None or now - self._said_at >= self._every):
            self._said_at, self._is_said = now, True
            self._say(f"{self._who}: {status.trouble.rstrip('. ')}. Trying again: {_load(status)}{_limits(status)}")


def _load(status: ClientStatus) -> str:
    waiting = "1 request waits" if status.waiting == 1 else f"{status.waiting} requests wait"
    sent = "1 is sent" if status.pace.limit == 1 else f"{status.pace.limit} are sent"
    return f"{waiting}. At most {sent} at once."


def _limits(status: ClientStatus) -> str:
    """Say how long the server asks to wait, and when a request is given up."""
    held, most = status.pace.held_seconds, status.gives_up_after
    told = f" The server asks to wait {held:.0f} s." if held >= 1 else ""
    return told + (f" A request is given up after {most / 60:.0f} minutes at most." if most >= 120 else "")
