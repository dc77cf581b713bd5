"""Record calls and judge answers. The tests are compiled once per task, and run in a fork for each set of answers.

No candidate runs here, only its data is used. An answer can still be a bomb, so each fork has its own limits (watch.py)
and only the supervisor ends it.
"""

import contextlib
import json
import os
import re
import signal
import socket

import confine
import crossing
import executing
import lending
import patience
import recording
import replies
import rewriting
import streams
import vacuous
import wire
from instances import MalformedError
from replay import Replay
from standing_in import Proxy

# No `from __future__ import annotations` here: `compile` and `exec` would pass it on to the signature.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn


def judge(spec: "dict[str, Any]", request_fd: int, result_fd: int) -> None:
    """Serve requests until the channel closes: record a task's calls, or judge answers to them.

    This process compiles tests and runs them only in forks, so it can serve one task after another. `spec` is empty.
    """
    channel = socket.socket(fileno=request_fd)
    prepared: _Tests | recording.Recording | None = None
    _tell(result_fd, {"ready": True})
    while True:
        try:
            request = wire.receive(channel.recv)
        except (wire.ClosedError, OSError):
            return
        if "task" in request:
            prepared = (recording.Recording if "record" in request else _Tests)(request["task"])
        pid = confine.fork()
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
    prepared: "_Tests | recording.Recording | None",
    request: "dict[str, Any]",
    result_fd: int,
    channel: socket.socket,
) -> "NoReturn":
    try:
        channel.close()
        confine.prctl(confine.PR_SET_PDEATHSIG, signal.SIGKILL)
        confine.limit_cpu(request["cpu"])
        folder = _folder(os.getpid())
        os.mkdir(folder)
        os.chdir(folder)
        if isinstance(prepared, recording.Recording):
            kind = request["record"]
            found = prepared.agreed() if kind == "both" else prepared.recorded(truthy=kind == "truthy")
            _tell(result_fd, {"recorded": found})
        elif prepared is not None:
            reason, kind = prepared.verdict(request["hello"], request["replies"])
            _tell(result_fd, {"confirmed": not reason, "reason": streams.clip(reason), "kind": kind})
    finally:
        os._exit(0)


class _Tests:
    """A task's compiled tests."""

    def __init__(self, spec: "dict[str, Any]") -> None:
        self._spec = spec
        self._broken = replies.Broken()
        self._signature = compile(spec["signature"], "<signature>", "exec")
        self._tests = patience.compile_strict(spec["test"], rewriting.rewrite)
        self._calls = [json.loads(call) for call in spec["calls"]]

    def verdict(self, hello: str | None, answers: list[str]) -> tuple[str, str]:
        """Return ("", "") if every test passes, else (reason, kind). Call it in a fork."""
        streams.swallow()
        # This changes modules, but only in this fork.
        text = self._spec["signature"] + self._spec["test"]
        self._guard = vacuous.refuse_empty_comparisons(self._broken.note, text, self._spec["test"])
        if hello is None:
            return "the candidate's process ended while its code was loading", "ended"
        why = "", ""
        try:
            message = self._guard.load(hello)
            if "failed" in message:
                return f"the candidate's code does not load: {streams.clip(str(message['failed']))}", "load"
            if not self._run(replies.hello_of(message), answers).used:
                why = "the tests pass without a call", "unconfirmed"
        except BaseException as error:
            why = reason_of(error, self._spec["test"])
        return why if self._broken.error is None else reason_of(self._broken.error, "")

    def _run(self, hello: "dict[str, Any]", answers: list[str]) -> Replay:
        recording.begin_randomness()
        namespace: dict[str, Any] = {}
        exec(self._signature, namespace)
        classes, stubs = lending.classes_and_stubs(self._spec, namespace)
        replay = Replay(self._calls, answers, classes, self._broken, self._guard)
        written = {name: stub for name, stub in stubs.items() if name in hello["functions"]}
        lent = lending.stand_ins(written, replay.called, replay)
        replay.understood.tested |= lent
        decoder = replay.understood.decode(hello["n"])
        makers, proxy = replay.understood.makers, lambda name: Proxy(name, None, replay.called)
        replay.used += lending.lend(lent, self._spec["names"], hello, decoder, makers, proxy)
        replay.names |= lent
        namespace |= lent
        self._guard.bind(namespace)
        executing.refuse_foreign_code(
            self._broken.note, self._spec, self._tests, namespace, classes, self._guard.computed
        )
        exec(self._tests, namespace)
        self._guard.items.finish()
        return replay


def reason_of(error: BaseException, tests: str) -> tuple[str, str]:
    """Return (reason, kind): why the tests do not confirm a candidate. An address would differ from run to run."""
    reason, kind = _reason_of(error, tests)
    return _ADDRESS.sub("0x...", reason), kind


_ADDRESS = re.compile(r"\b0x[0-9a-f]{8,}\b")


def _reason_of(error: BaseException, tests: str) -> tuple[str, str]:
    if isinstance(error, crossing.UnconfirmedError):
        return str(error), "unconfirmed"
    if isinstance(error, crossing.EndlessError):
        return f"the tests ask for {error}", "unconfirmed"
    if isinstance(error, MalformedError):
        return f"the candidate sent a malformed value ({error})", "malformed"
    if isinstance(error, AssertionError):
        said = str(error) or _line_of(error, tests)
        return f"a test fails: {said}" if said else "a test fails", "assertion"
    return f"{type(error).__name__}: {error}", "error"


def _line_of(error: BaseException, tests: str) -> str:
    """Return the last line of the tests through which an exception passed."""
    number, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<tests>":
            number = trace.tb_lineno
        trace = trace.tb_next
    lines = tests.split("\n")
    return lines[number - 1].strip() if 0 < number <= len(lines) else ""
