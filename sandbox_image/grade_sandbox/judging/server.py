"""Record calls and judge answers: by tests, which are compiled once per task, or by comparisons with expected ones.

No program whose verdict is open runs here, only its answers are used. An answer can still be a bomb, so each set of
answers is judged in a fork with its own limits (watch.py), and only the supervisor ends it.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket

from grade_sandbox import values, wire
from grade_sandbox.confine import process
from grade_sandbox.judging import comparing, expecting, recording, replaying
from grade_sandbox.judging.forks import run_in_fork
from grade_sandbox.judging.likeness import CONTROL_SECONDS, Likeness
from grade_sandbox.judging.replaying import Tests

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, NoReturn

    from grade_sandbox.jobs import Request

    Work = Callable[[float], dict[str, Any]]
    Prepared = Tests | Work


def _prepare(work: str, task: Any) -> Prepared:
    """Return the compiled tests of a task that judge answers; for other work, a function that does it."""
    if work == "compare":
        comparison = comparing.Comparison(task)
        return lambda _: {"compared": comparison.compare()}
    if work != "record":
        return Tests(task)
    if task.get("reference") is None:
        return lambda seconds: {"recorded": expecting.derive(task, seconds)}
    tests = recording.Recording(task)
    return lambda seconds: {"recorded": tests.record(seconds)}


def serve(spec: dict[str, Any], request_fd: int, result_fd: int) -> None:
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
            prepared = _prepare(request["work"], request["task"])
        pid = process.fork()
        if pid == 0:
            _work_and_exit(prepared, request, result_fd, channel)
        _, status, usage = os.wait4(pid, 0)
        # If the folder is not empty, the supervisor removes it, together with this process.
        with contextlib.suppress(OSError):
            os.rmdir(_folder(pid))
        cpu = usage.ru_utime + usage.ru_stime
        left_files = os.path.lexists(_folder(pid))
        _tell(result_fd, {"status": os.waitstatus_to_exitcode(status), "cpu": cpu, "left_files": left_files})


def _tell(result_fd: int, message: object) -> None:
    wire.send(lambda data: os.write(result_fd, data), message)


def _folder(pid: int) -> str:
    return f"{os.getcwd()}/{pid}"


def _work_and_exit(prepared: Prepared | None, request: Request, result_fd: int, channel: socket.socket) -> NoReturn:
    """Do a request's work in a fork. `prepared`: tests that judge, or a function (`_prepare`); None: no task so far."""
    try:
        channel.close()
        process.prctl(process.PR_SET_PDEATHSIG, signal.SIGKILL)
        process.limit_cpu(request["cpu"])
        folder = _folder(os.getpid())
        os.mkdir(folder)
        os.chdir(folder)
        if isinstance(prepared, Tests):
            for part in _verdict_parts(prepared, request):
                _tell(result_fd, part)
        elif prepared is not None:
            _tell(result_fd, prepared(request["cpu"]))
    finally:
        os._exit(0)


def _verdict_parts(tests: Tests, request: Request) -> Iterator[dict[str, Any]]:
    """Yield whether the tests pass, then how the answers compare with the expected ones.

    Last, for a program that is not believed, which assertions hold. Each part has its own limit of time, and if one is
    stopped, those before count.
    """
    messages = wire.messages_of(request["transcript"])
    if not messages:
        yield {"confirmed": False, "reason": "the program's process ended while its code was loading", "kind": "ended"}
        return
    if failure := replaying.load_failure(messages[0]):
        yield {"confirmed": False, "reason": f"the program's code does not load: {wire.clip(failure)}", "kind": "load"}
        return
    replies = messages[1:]
    # What tests leave behind in their process must not reach another replay.
    if (verdict := run_in_fork(lambda: tests.verdict(replies), request["cpu"] + CONTROL_SECONDS)) is None:
        return
    reason, kind = verdict
    yield {"confirmed": not reason, "reason": reason, "kind": kind}
    is_believed = not reason
    if "expected" in tests.spec:
        # Another replay may take as long as the first, and CONTROL_SECONDS more.
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = usage.ru_utime + usage.ru_stime + CONTROL_SECONDS
        likeness = _compare_with_reference(tests, replies, passed=is_believed, seconds=seconds)
        is_believed = is_believed and not likeness.get("doubt")
        yield {"likeness": likeness}
    if request["by_assertion"] and not is_believed:
        yield {"right": tests.assertion_results(replies)}


def _compare_with_reference(tests: Tests, replies: list[str], *, passed: bool, seconds: float) -> dict[str, Any]:
    """Return {"calls": counts, "doubt": why a pass is not believed}.

    The counts: `n` of all calls, `same` of answers that equal the reference's, `alike` of others that are accepted.
    `seconds`: CPU time of one more replay. For the reference itself, return only {"has_nothing_to_compare": ...}.
    """
    try:
        expected = [wire.messages_of(run)[1:] for run in tests.spec["expected"]]
        compared = Likeness(tests, expected, replies)
        if tests.spec.get("is_reference"):
            return {"has_nothing_to_compare": compared.has_nothing_to_compare}
        compared.compare()
        doubt = compared.reason_to_doubt(seconds) if passed else ""
    except (values.MalformedError, values.UnsendableError, RecursionError, TypeError, ValueError, LookupError,
            AttributeError, ArithmeticError) as error:  # fmt: skip
        return {"doubt": f"its answers could not be compared ({values.error_text(error)})"}
    alike = len(tests.calls) - compared.equal_count if passed and not doubt else 0
    counts: dict[str, Any] = {"n": len(tests.calls), "same": compared.equal_count, "alike": alike}
    if compared.first_difference:
        counts["first"] = compared.first_difference
    return {"calls": counts, "doubt": doubt}
