"""The linter in its own process: warm, and replaced when a source breaks it."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import time

from grade_sandbox.confine import isolation, process
from grade_sandbox.lint import linter as _linter
from grade_sandbox.supervise import watch
from grade_sandbox.values import wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

LINT_CPU_SECONDS = 10.0
LINT_WALL_SECONDS = 60.0
LINTS_BEFORE_COLLECTION = 64
# Maximum memory that a linter may keep after a program, because it shares the container's memory with later programs.
LINT_KEPT_BYTES = 192 << 20


def _serve_lint(connection: socket.socket, folder: str) -> NoReturn:
    """Run the linter's process; never returns."""
    import gc

    # Looking for garbage in all that pylint loads would take a fifth of the start; see also Linter.collect.
    gc.disable()
    try:
        linter = _linter.Linter(folder)
        linter.warm()
        wire.send(connection.send, {"ready": True})
        count = 0
        while True:
            source = wire.receive(connection.recv)["source"]
            try:
                reply: dict[str, Any] = {"messages": linter.messages(source)}
            except (Exception, RecursionError) as error:
                reply = {"broken": f"{type(error).__name__}: {str(error)[:500]}"}
            reply["stained"] = linter.stained
            wire.send(connection.send, reply)
            count += 1
            if count % LINTS_BEFORE_COLLECTION == 0:
                linter.collect()
    except (wire.ClosedError, OSError):
        pass
    finally:
        os._exit(0)


class LintProcess:
    """A linter in its own process, started at the first request at the latest; replaced if it is stuck or broken."""

    def __init__(self, isolation: isolation.Uids | isolation.Namespaces) -> None:
        self.isolation = isolation
        self.pid: int | None = None

    def start(self) -> None:
        """Fork the process; it reports when it is ready."""
        ours, theirs = socket.socketpair()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                ours.close()
                process.close_all_but({theirs.fileno()})
                folder = self._become()
                process.restrict(memory_bytes=512 << 20, address_space=True)
                os.chdir(folder)
                _serve_lint(theirs, folder)
            finally:
                os._exit(1)
        theirs.close()
        self.socket = ours
        self.fresh = True

    def _become(self) -> str:
        if isinstance(self.isolation, isolation.Uids):
            uid = self.isolation.first_uid + isolation.LINTER_SLOT
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
        process.prctl(process.PR_SET_PDEATHSIG, signal.SIGKILL)
        process.undumpable()
        folder = f"{isolation.SCRATCH}/{isolation.LINT_FOLDER}"
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder, 0o700)
        os.environ.update(HOME=folder, PYLINTHOME=folder)
        return folder

    def stop(self) -> None:
        """Kill and reap it."""
        if self.pid is None:
            return
        self.socket.close()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)
        self.pid = None

    def lint(self, source: str) -> dict[str, Any]:
        """Return {"messages": [...]} or {"broken": why}."""
        if self.pid is None:
            self.start()
        for _ in range(2):
            # Whatever ended the first linter: if the next one ends in the same way, the source is the cause.
            try:
                if self.fresh:
                    wire.receive(self.socket.recv)
                    self.fresh = False
                return self._ask(source)
            except (wire.ClosedError, OSError):
                self.stop()
                self.start()
        return {"broken": "the linter crashed on this source"}

    def _ask(self, source: str) -> dict[str, Any]:
        assert self.pid is not None
        wire.send(self.socket.send, {"source": source})
        used = watch.cpu_seconds([self.pid])
        deadline = time.monotonic() + LINT_WALL_SECONDS
        while not select.select([self.socket], [], [], 0.2)[0]:
            if watch.cpu_seconds([self.pid]) - used > LINT_CPU_SECONDS or time.monotonic() > deadline:
                self.stop()
                self.start()
                return {"broken": f"the linter did not finish within {LINT_CPU_SECONDS:.0f} s of CPU time"}
        reply: dict[str, Any] = wire.receive(self.socket.recv)
        if reply.pop("stained") or watch.own_anonymous_bytes(self.pid) > LINT_KEPT_BYTES:
            self.stop()
            self.start()
        return reply
