"""Says what keeps a server's replies away, now and then, and that they come again."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.models.client import ClientStatus


class TroubleReporter:
    """Turns looks at a client into messages: the first at once, then one each `every` seconds while it lasts."""

    def __init__(self, who: str, say: Callable[[str], None], *, every: float = 15.0) -> None:
        self._who = who
        self._say = say
        self._every = every
        self._said_at = 0.0
        self._troubled = False

    def look(self, status: ClientStatus) -> None:
        """Say what a status is worth saying."""
        now = time.monotonic()
        if status.trouble:
            if not self._troubled or now - self._said_at >= self._every:
                self._said_at = now
                self._say(f"{self._who}: {status.trouble}. Trying again ({_detail(status)}).")
            self._troubled = True
        elif self._troubled and now - self._said_at >= 1.0:
            self._troubled = False
            self._say(f"{self._who} replies again ({_detail(status)}).")


def _detail(status: ClientStatus) -> str:
    pace = status.pace
    parts = [f"{status.waiting} waiting", f"at most {pace.limit} of {pace.most} requests at a time"]
    if pace.held_seconds >= 1:
        parts.append(f"the server asks to wait {pace.held_seconds:.0f} s")
    return ", ".join(parts)
