"""The supervisor's side of processes that are kept for several jobs, because a new one for each would take longer."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import time

from grade_sandbox import wire
from grade_sandbox.confine.isolation import LINTER_SLOT
from grade_sandbox.supervise import watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from grade_sandbox.jobs import Compare, JudgedTask, Request, Task
    from grade_sandbox.supervise.dialogue import Results
    from grade_sandbox.supervise.zygote import Zygotes

    EndProcess = Callable[[int, int], object]
    """Ends a process: takes its pid and its slot."""

START_SECONDS, END_SECONDS = 60.0, 20.0
LINT_CPU_SECONDS, LINT_WALL_SECONDS = 10.0, 60.0
LIFETIME_CPU_SECONDS = 3600
"""CPU time after which the kernel ends a kept process; its forks have lower limits."""
LINT_KEPT_BYTES = 192 << 20
"""Memory that a linter may keep after a program, because it shares the container's memory with later programs."""


class KeptProcess:
    """A process of a `kind` (zygote.KINDS), if it is needed. `has_namespace`: `pids` has its namespace's first, too."""

    socket: socket.socket
    result_fd: int

    def __init__(self, zygotes: Zygotes, kind: str, slot: int, end_process: EndProcess, *, has_namespace: bool) -> None:
        self._zygotes, self._kind, self._slot, self._end_process = zygotes, kind, slot, end_process
        self._has_namespace = has_namespace
        self._with_numpy = self._is_ready = False
        self.pid: int | None = None
        self.pids: tuple[int, ...] = ()

    def prepare(self, *, with_numpy: bool = False) -> int:
        """Ensure a process that is ready, with NumPy only if `with_numpy`; return its pid."""
        if self.pid is None or with_numpy != self._with_numpy:
            self.stop()
            self.start(with_numpy=with_numpy)
        assert self.pid is not None
        if not self._is_ready:
            self._wait_until_ready(self.pid)
        return self.pid

    def start(self, *, with_numpy: bool = False) -> None:
        """Fork the process, and do not wait until it has loaded what it needs."""
        ours, theirs = socket.socketpair()
        read_end, write_end = os.pipe()
        with theirs:
            try:
                fds = [theirs.fileno(), write_end]
                pid = self._zygotes.start(self._kind, self._slot, {}, fds, LIFETIME_CPU_SECONDS, with_numpy=with_numpy)
            finally:
                os.close(write_end)
        self.socket, self.result_fd, self.pid = ours, read_end, pid
        self._with_numpy, self._is_ready = with_numpy, False
        self.pids = (pid,)

    def _wait_until_ready(self, pid: int) -> None:
        """Wait for its first message, and find its processes; raises TimeoutError."""
        if not select.select([self.result_fd], [], [], START_SECONDS)[0]:
            raise TimeoutError(f"the {self._kind} process does not start")
        wire.receive(lambda count: os.read(self.result_fd, count))
        self._is_ready = True
        # In a namespace, `pid` is the first process, and its only child does the work. Later it may get orphans, too.
        if self._has_namespace:
            self.pids = (pid, *(other for other in watch.processes({pid}) if watch.parent(other) == pid))

    def stop(self) -> None:
        """End the process, if it runs."""
        pid, self.pid, self.pids = self.pid, None, ()
        if pid is None:
            return
        self.socket.close()
        with contextlib.suppress(OSError):
            os.close(self.result_fd)
        self._end_process(pid, self._slot)


class JudgeProcess(KeptProcess):
    """The process that records and judges. It compiles tests, and forks to run them."""

    _task: Task | JudgedTask | Compare | None = None
    """The task that the process has."""

    def ask(self, request: Request) -> None:
        """Run a task's tests once; the task is sent only if it differs from the last one."""
        if request["task"] == self._task:
            request = {**request, "task": None}
        else:
            self._task = request["task"]
        wire.send_parcel(self.socket.send, request)

    def wait_for_end(self, results: Results) -> dict[str, Any]:
        """Return how the fork ended; raises TimeoutError or wire.ClosedError if the process itself has ended."""
        while results.end_message is None:
            if not select.select([self.result_fd], [], [], END_SECONDS)[0]:
                raise TimeoutError("the process that judges does not answer")
            part = os.read(self.result_fd, 1 << 16)
            if not part:
                raise wire.ClosedError("the process that judges is gone")
            results.feed(part)
        return results.end_message

    def stop(self) -> None:
        self._task = None
        super().stop()


class LintProcess(KeptProcess):
    """The process of the linter; replaced if it is stuck or broken."""

    def __init__(self, zygotes: Zygotes, end: EndProcess, *, has_namespace: bool) -> None:
        super().__init__(zygotes, "linter", LINTER_SLOT, end, has_namespace=has_namespace)

    def lint(self, source: str) -> dict[str, Any]:
        """Return {"messages": [...]} or {"broken": why}."""
        for _ in range(2):
            # Whatever ended the first linter: if the next one ends in the same way, the source is the cause.
            try:
                self.prepare()
                return self._lint_once(source)
            except (wire.ClosedError, OSError):
                self.stop()
        return {"broken": "the linter crashed on this source"}

    def _lint_once(self, source: str) -> dict[str, Any]:
        """Return the linter's reply; raises wire.ClosedError or OSError if the process has ended.

        The process is ended if it hangs, if it has grown, or if the source has changed what pylint knows of libraries.
        """
        wire.send(self.socket.send, {"source": source})
        start = watch.cpu_seconds(self.pids)
        deadline = time.monotonic() + LINT_WALL_SECONDS
        while not select.select([self.socket], [], [], 0.2)[0]:
            if watch.cpu_seconds(self.pids) - start > LINT_CPU_SECONDS or time.monotonic() > deadline:
                self.stop()
                return {"broken": f"the linter did not finish within {LINT_CPU_SECONDS:.0f} s of CPU time"}
        reply: dict[str, Any] = wire.receive(self.socket.recv)
        if reply.pop("must_be_replaced") or watch.memory_bytes(self.pids, baseline=0) > LINT_KEPT_BYTES:
            self.stop()
        return reply
