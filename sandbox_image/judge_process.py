"""The supervisor's end of a process that judges: it has one task's tests, and forks for each set of answers."""

from __future__ import annotations

import contextlib
import os
import select
import socket

import watch
import wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from dialogue import Judgement
    from zygote import Zygote

START_SECONDS = END_SECONDS = 20.0
_TASK = ("signature", "classes", "stubs", "test", "names", "calls")


class JudgeProcess:
    """At most one process, for the task that is being judged. `nested`: it is in a process namespace of its own."""

    def __init__(self, zygote: Zygote, slot: int, *, nested: bool) -> None:
        self._zygote, self._slot, self._nested = zygote, slot, nested
        self._task: dict[str, Any] | None = None
        self._socket: socket.socket | None = None
        self.pid: int | None = None
        self.pids: tuple[int, ...] = ()
        self.result_fd: int | None = None

    def prepare(self, spec: dict[str, Any], end: Callable[[], object]) -> None:
        """Have a process for this task; `end()` ends the one for another."""
        task = {name: spec[name] for name in _TASK}
        if task != self._task:
            end()
            self._start(task)

    def _start(self, task: dict[str, Any]) -> None:
        ours, theirs = socket.socketpair()
        read_end, write_end = os.pipe()
        with theirs:
            try:
                pid = self._zygote.start("judge", self._slot, task, [theirs.fileno(), write_end], 3600)
            finally:
                os.close(write_end)
        self._task, self._socket, self.result_fd, self.pid = task, ours, read_end, pid
        self.pids = (pid,)
        # It says when it is ready: from then on, what is below it are its forks.
        if not select.select([read_end], [], [], START_SECONDS)[0]:
            raise TimeoutError("the process that judges does not start")
        wire.receive(lambda count: os.read(read_end, count))
        if self._nested:
            self.pids = (pid, *(other for other in watch.processes({pid}) if watch.parent(other) == pid))

    def ask(self, spec: dict[str, Any], cpu: float) -> None:
        """Have one set of answers judged."""
        request = {"hello": spec["hello"], "replies": spec["replies"], "cpu": cpu}
        assert self._socket is not None
        wire.send(self._socket.send, request)

    def wait_for_end(self, said: Judgement) -> dict[str, Any]:
        """Return how the fork ended; raises TimeoutError or wire.ClosedError where the process is gone itself."""
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
        """Forget the process; return its pid, for it to be ended, or None."""
        pid, self.pid, self.pids, self._task = self.pid, None, (), None
        if pid is not None:
            assert self._socket is not None
            assert self.result_fd is not None
            self._socket.close()
            with contextlib.suppress(OSError):
                os.close(self.result_fd)
        return pid
