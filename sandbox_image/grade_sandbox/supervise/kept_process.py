"""The supervisor's side of processes that are kept for several jobs, because a new one for each would take longer."""

from __future__ import annotations

import contextlib
import os
import select
import socket

from grade_sandbox.supervise import watch
from grade_sandbox.values import wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from grade_sandbox.jobs import Request, Task
    from grade_sandbox.supervise.dialogue import Judgement
    from grade_sandbox.supervise.zygote import Zygotes

START_SECONDS = END_SECONDS = 20.0


class KeptProcess:
    """At most one process of a `kind`. `nested`: it has its own process namespace."""

    def __init__(self, zygotes: Zygotes, kind: str, slot: int, *, nested: bool) -> None:
        self._zygotes, self._kind, self.slot, self._nested = zygotes, kind, slot, nested
        self._numeric = False
        self.socket: socket.socket | None = None
        self.pid: int | None = None
        self.pids: tuple[int, ...] = ()
        self.result_fd: int | None = None

    def prepare(self, end: Callable[[], object], *, numeric: bool) -> None:
        """Ensure a running process, with NumPy only if `numeric`; `end()` ends a process of the other kind."""
        if self.pid is None or numeric != self._numeric:
            end()
            self._start(numeric=numeric)

    def _start(self, *, numeric: bool) -> None:
        ours, theirs = socket.socketpair()
        read_end, write_end = os.pipe()
        with theirs:
            try:
                fds = [theirs.fileno(), write_end]
                pid = self._zygotes.start(self._kind, self.slot, {}, fds, 3600, numeric=numeric)
            finally:
                os.close(write_end)
        self.socket, self.result_fd, self.pid = ours, read_end, pid
        self._numeric = numeric
        self.pids = (pid,)
        # Before its ready message, it has no forks.
        if not select.select([read_end], [], [], START_SECONDS)[0]:
            raise TimeoutError(f"the {self._kind} process does not start")
        wire.receive(lambda count: os.read(read_end, count))
        if self._nested:
            self.pids = (pid, *(other for other in watch.processes({pid}) if watch.parent(other) == pid))

    def give_up(self) -> int | None:
        """Forget the process; return its pid, so that the caller can end it, or None."""
        pid, self.pid, self.pids = self.pid, None, ()
        if pid is not None:
            assert self.socket is not None
            assert self.result_fd is not None
            self.socket.close()
            with contextlib.suppress(OSError):
                os.close(self.result_fd)
        return pid


class JudgeProcess(KeptProcess):
    """The process that records and judges. It compiles tests, and forks to run them."""

    def __init__(self, zygotes: Zygotes, slot: int, *, nested: bool) -> None:
        super().__init__(zygotes, "judge", slot, nested=nested)
        self._task: Task | None = None

    def ask(self, request: Request) -> None:
        """Run a task's tests once; the task is sent only if it differs from the last one."""
        if request["task"] == self._task:
            request = {**request, "task": None}
        else:
            self._task = request["task"]
        assert self.socket is not None
        wire.send(self.socket.send, request)

    def wait_for_end(self, said: Judgement) -> dict[str, Any]:
        """Return how the fork ended; raises TimeoutError or wire.ClosedError if the process itself has ended."""
        assert self.result_fd is not None
        while said.ended is None:
            if not select.select([self.result_fd], [], [], END_SECONDS)[0]:
                raise TimeoutError("the process that judges does not answer")
            part = os.read(self.result_fd, 1 << 16)
            if not part:
                raise wire.ClosedError("the process that judges is gone")
            said.feed(part)
        return said.ended

    def give_up(self) -> int | None:
        self._task = None
        return super().give_up()
