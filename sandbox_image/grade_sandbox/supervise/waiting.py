"""How long the machine kept a program waiting: it was ready but did not run, or in an uninterruptible wait.

The kernel updates a thread's run delay only when the thread runs again, so an increase may have begun many checks ago.
A container that has used up its processor time for the moment makes all its threads wait in the same way.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

READY, UNINTERRUPTIBLE = "R", "D"


class Thread:
    """The kernel's data of a thread.

    `ran`: seconds of running; `delay`: seconds of completed waits while ready; `slept`: how often it gave up the
    processor voluntarily; `state`: one letter.
    """

    __slots__ = ("delay", "ran", "slept", "state")

    def __init__(self, ran: float, delay: float, slept: int, state: str) -> None:
        self.ran, self.delay, self.slept, self.state = ran, delay, slept, state


class _Since:
    """A point in time: the time, the total running time of all threads, and the waiting time counted so far."""

    __slots__ = ("counted", "ran", "time")

    def __init__(self, time: float, ran: float, counted: float) -> None:
        self.time, self.ran, self.counted = time, ran, counted


class Waiting:
    """Adds up the time in which some thread was kept waiting while none ran, from check to check.

    A thread that waits for another thread is asleep during that thread's wait, and no moment is counted twice.
    """

    def __init__(self, before: Mapping[int, Thread]) -> None:
        """`before`: the data at the start of the threads that existed then."""
        self.seconds = 0.0
        self._last = _Since(0.0, 0.0, 0.0)
        self._before = dict(before)
        self._since: dict[int, _Since] = {}
        """Thread -> a point in time before all of its waiting that is not counted yet."""

    def note(self, now: float, threads: Mapping[int, Thread]) -> None:
        """Process the data of every thread, `now` seconds after the start."""
        before = {number: self._before.get(number) or Thread(0.0, 0.0, -1, "") for number in threads}
        ran = self._last.ran + sum(thread.ran - before[number].ran for number, thread in threads.items())
        for number, thread in threads.items():
            since = self._since.setdefault(number, self._last)
            kept = max(thread.delay - before[number].delay, self._kept_now(now, before[number], thread))
            room = now - since.time - (ran - since.ran) - (self.seconds - since.counted)
            self.seconds += max(0.0, min(kept, room))
            if thread.ran > before[number].ran:
                self._since[number] = self._last
        self._before |= threads
        self._last = _Since(now, ran, self.seconds)

    def _kept_now(self, now: float, before: Thread, thread: Thread) -> float:
        """Return how long a thread waited since the last check without sleeping, or for a page or a disk."""
        never_slept = before.state == thread.state == READY and before.slept == thread.slept
        if never_slept or thread.state == UNINTERRUPTIBLE:
            return now - self._last.time - (thread.ran - before.ran)
        return 0.0
