"""Record calls and judge answers. The tests are compiled once per task, and run in a fork for each set of answers.

No candidate runs here, only its data is used. An answer can still be a bomb, so each fork has its own limits (watch.py)
and only the supervisor ends it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket

from grade_sandbox.confine import process
from grade_sandbox.tests import belief, official_outcome, recording
from grade_sandbox.tests.replay import Tests
from grade_sandbox.values import streams, wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn


def judge(spec: dict[str, Any], request_fd: int, result_fd: int) -> None:
    """Serve requests until the channel closes: record a task's calls, or judge answers to them.

    This process compiles tests and runs them only in forks, so it can serve one task after another. `spec` is empty.
    """
    channel = socket.socket(fileno=request_fd)
    prepared: Tests | recording.Recording | None = None
    _tell(result_fd, {"ready": True})
    while True:
        try:
            request = wire.receive(channel.recv)
        except (wire.ClosedError, OSError):
            return
        if "task" in request:
            prepared = (recording.Recording if "record" in request else Tests)(request["task"])
        pid = process.fork()
        if pid == 0:
            _run(prepared, request, result_fd, channel)
        _, status, usage = os.wait4(pid, 0)
        # If the folder is not empty, the supervisor removes it, together with this process.
        with contextlib.suppress(OSError):
            os.rmdir(_folder(pid))
        used = usage.ru_utime + usage.ru_stime
        left = os.path.lexists(_folder(pid))
        _tell(result_fd, {"ended": os.waitstatus_to_exitcode(status), "cpu": used, "left": left})


def _tell(result_fd: int, message: object) -> None:
    wire.send(lambda data: os.write(result_fd, data), message)


def _folder(pid: int) -> str:
    return f"{os.getcwd()}/{pid}"


def _run(
    prepared: Tests | recording.Recording | None,
    request: dict[str, Any],
    result_fd: int,
    channel: socket.socket,
) -> NoReturn:
    try:
        channel.close()
        process.prctl(process.PR_SET_PDEATHSIG, signal.SIGKILL)
        process.limit_cpu(request["cpu"])
        folder = _folder(os.getpid())
        os.mkdir(folder)
        os.chdir(folder)
        if isinstance(prepared, recording.Recording):
            kind = request["record"]
            found = prepared.agreed() if kind == "both" else prepared.recorded(truthy=kind == "truthy")
            _tell(result_fd, {"recorded": found})
        elif prepared is not None and "each" in request:
            _tell(result_fd, {"right": prepared.right(request["hello"], request["replies"])})
        elif prepared is not None and "passed" in request:
            messages = [request["hello"], *request["replies"]]
            again = request.get("again")
            _tell(result_fd, belief.examined(prepared, messages, again, passed=request["passed"]))
        elif prepared is not None:
            reason, kind = prepared.verdict(request["hello"], request["replies"])
            verdict = {"confirmed": not reason, "reason": streams.clip(reason), "kind": kind}
            official = official_outcome.found(prepared, request["hello"], request["replies"])
            _tell(result_fd, verdict | ({"official": official} if official is not None else {}))
    finally:
        os._exit(0)
