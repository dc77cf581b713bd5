"""How long a program was kept waiting by the machine: ready to run and not let, or in the middle of what cannot wait.

The kernel adds to a thread's run delay only when the thread runs again: what it adds then may have begun many looks
ago. A container whose processor time is used up for the moment makes all its threads wait in the same way.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

READY, UNINTERRUPTIBLE = "R", "D"


class Thread:
    """What the kernel says of a thread.

    `ran`: seconds; `delay`: seconds ready and not let, as far as they are over; `slept`: how often it gave the
    processor away of its own accord; `state`: one letter.
    """

    __slots__ = ("delay", "ran", "slept", "state")

    def __init__(self, ran: float, delay: float, slept: int, state: str) -> None:
        self.ran, self.delay, self.slept, self.state = ran, delay, slept, state


class _Since:
    """A moment: when it was, how long all threads had run by then, and how much waiting was counted."""

    __slots__ = ("counted", "ran", "time")

    def __init__(self, time: float, ran: float, counted: float) -> None:
        self.time, self.ran, self.counted = time, ran, counted


class Waiting:
    """Adds up the time in which some thread was kept waiting and none ran, from one look to the next.

    A thread that waits for another is asleep while that one is kept waiting, and no moment counts twice.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self._last = _Since(0.0, 0.0, 0.0)
        self._before: dict[int, Thread] = {}
        self._since: dict[int, _Since] = {}
        """Thread -> a moment that lies before all the waiting that it has not told of yet."""

    def note(self, now: float, threads: Mapping[int, Thread]) -> None:
        """Take in a look at every thread, `now` seconds after the start."""
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
        """Return how long since the last look a thread waited that did not sleep, or that waits for a page or disk."""
        never_slept = before.state == thread.state == READY and before.slept == thread.slept
        if never_slept or thread.state == UNINTERRUPTIBLE:
            return now - self._last.time - (thread.ran - before.ran)
        return 0.0
