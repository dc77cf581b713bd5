"""Keep a supervisor, its zygotes and its programs on one processor, if there is one for each supervisor.

These processes take turns: one works while the others wait for it. If each wakes the next one on another processor,
both processors pause at every turn. With as many supervisors as processors, no processor is left without work. In all
other cases the kernel chooses, because it knows what else runs on the machine.
"""

from __future__ import annotations

import contextlib
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class Placement:
    """The processor of one supervisor. `worker`: its number, from 0; `workers`: the number of supervisors."""

    def __init__(self, worker: int, workers: int) -> None:
        self._allowed = sorted(os.sched_getaffinity(0))
        self._own = {self._allowed[worker]} if len(self._allowed) == workers > 1 else None
        self._is_kept = False

    def keep(self, pids: Iterable[int]) -> None:
        """Keep this process, the processes `pids`, and all that they fork from now on, on one processor."""
        if self._own is not None and not self._is_kept:
            self._is_kept = True
            _place(pids, self._own)

    def release(self, pids: Iterable[int]) -> None:
        """Let the kernel choose again for these processes, and for all that they fork from now on."""
        if self._is_kept:
            self._is_kept = False
            _place(pids, self._allowed)


def _place(pids: Iterable[int], processors: Iterable[int]) -> None:
    for pid in (os.getpid(), *pids):
        # If the system does not allow it, everything works as before, only slower.
        with contextlib.suppress(OSError):
            os.sched_setaffinity(pid, processors)
