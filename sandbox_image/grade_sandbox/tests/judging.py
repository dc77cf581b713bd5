"""Record calls and judge answers: by tests, which are compiled once per task, or by comparisons with expected ones.

No candidate runs here, only its data is used. An answer can still be a bomb, so each set of answers is judged in a fork
with its own limits (watch.py), and only the supervisor ends it.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket

from grade_sandbox.confine import process
from grade_sandbox.tests import belief, comparing, recording
from grade_sandbox.tests.replay import Tests
from grade_sandbox.tests.tried import as_they_are
from grade_sandbox.values import wire
from grade_sandbox.values.messages import texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, NoReturn

    from grade_sandbox.jobs import Answers, JudgedTask, Request

    Prepared = Tests | recording.Recording | comparing.Comparison

_KINDS: dict[str, type[Prepared]] = {
    "truthy": recording.Recording,
    "falsy": recording.Recording,
    "compare": comparing.Comparison,
}
"""Work -> what is prepared for it from the task. For all other work, the tests are compiled."""


def judge(spec: dict[str, Any], request_fd: int, result_fd: int) -> None:
    """Serve requests until the channel closes: record a task's calls, or judge answers to them.

    This process compiles tests and runs them only in forks, so it can serve one task after another. `spec` is empty.
    """
    channel = socket.socket(fileno=request_fd)
    prepared: Prepared | None = None
    _tell(result_fd, {"ready": True})
    while True:
        try:
            request: Request = wire.receive_parcel(channel.recv)
        except (wire.ClosedError, OSError):
            return
        if request["task"] is not None:
            task: Any = request["task"]
            prepared = _KINDS.get(request["work"], Tests)(task)
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


def _run(prepared: Prepared | None, request: Request, result_fd: int, channel: socket.socket) -> NoReturn:
    """Do the work of a request; called in a fork."""
    try:
        channel.close()
        process.prctl(process.PR_SET_PDEATHSIG, signal.SIGKILL)
        process.limit_cpu(request["cpu"])
        folder = _folder(os.getpid())
        os.mkdir(folder)
        os.chdir(folder)
        if isinstance(prepared, recording.Recording):
            _tell(result_fd, {"recorded": prepared.recorded(truthy=request["work"] == "truthy")})
        elif isinstance(prepared, comparing.Comparison):
            _tell(result_fd, {"compared": prepared.made()})
        elif prepared is not None and request["answers"] is not None:
            for found in _judged(prepared, request, request["answers"]):
                _tell(result_fd, found)
    finally:
        os._exit(0)


def _judged(tests: Tests, request: Request, answers: Answers) -> Iterator[dict[str, Any]]:
    """Yield whether the tests pass; then whether a pass is believed and which assertions hold, if this is asked."""
    said = texts(answers["said"])
    if not said:
        yield {
            "confirmed": False,
            "reason": "the candidate's process ended while its code was loading",
            "kind": "ended",
        }
        return
    tried, is_same = as_they_are(said), _is_same(tests.spec, answers)
    is_compared = "expected" in tests.spec

    def verdict() -> dict[str, Any]:
        reason, kind = tests.verdict(tried)
        return {"confirmed": not reason, "reason": wire.clip(reason), "kind": kind}

    # What tests leave behind in their process must not reach another replay.
    is_last = (is_same or not is_compared) and not request["each"]
    if (found := verdict() if is_last else belief.branch(verdict, request["cpu"])) is None:
        return
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    tests.seconds = used.ru_utime + used.ru_stime
    yield found
    passed = is_believed = found["confirmed"]
    if is_same:
        yield {"likeness": {"calls": {"n": len(tests.calls), "same": len(tests.calls), "alike": 0}}}
    elif is_compared and (passed or tests.expected):
        likeness = belief.examined(tests, said, texts(answers.get("again", b"")), passed=passed)
        is_believed = passed and not likeness.get("doubt")
        yield {"likeness": likeness}
    if request["each"] and not is_believed:
        yield {"right": tests.right(tried)}


def _is_same(spec: JudgedTask, answers: Answers) -> bool:
    """Whether the answers are the reference's, byte for byte."""
    again = spec["again"]["expected"] if "again" in spec else None
    return answers["said"] in spec.get("expected", ()) and answers.get("again") == again
