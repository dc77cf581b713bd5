"""The processes of a grading without a sandbox around them: record, answer, judge, and both sides alive."""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import functools
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import inside

from grader.scorers.execution.assembly import read_signature

wire = inside.load("wire")
dialogue = inside.load("dialogue")
zygote = inside.load("zygote")

SIGNATURE = "def solution(a):\n    pass\n"
CONFIRMED = {"confirmed": True, "reason": "", "kind": ""}


SERVER = """
import sys
sys.path.insert(0, sys.argv[1])
import gc, json, os, socket
import confine, zygote
# Loaded before the forks, as in the sandbox.
zygote._load(zygote.PRELOAD + (zygote.NUMERIC if sys.argv[3] == "numeric" else ()))

requests = socket.socket(fileno=int(sys.argv[2]))
gc.collect()
gc.freeze()
while True:
    folder, fds, _, _ = socket.recv_fds(requests, 1 << 12, 8)
    if not folder:
        os._exit(0)
    spec, output, *fds = fds
    pid = confine.fork()
    if pid == 0:
        try:
            os.dup2(output, 1)
            os.dup2(output, 2)
            with open(spec) as file:
                kind, spec = json.load(file)
            confine.close_all_but(fds)
            os.chdir(folder)
            zygote.KINDS[kind](spec, *fds)
        finally:
            os._exit(0)
    for fd in (spec, output, *fds):
        os.close(fd)
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
"""


@functools.cache
def _server(*, numeric: bool) -> socket.socket:
    """Start a process that has what the sandbox has loaded; to fork it costs a fraction of a fork of pytest.

    Without NumPy, a fork costs half as much.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, "-I", "-c", SERVER, inside.FOLDER, str(theirs.fileno()), "numeric" if numeric else ""]
    server = subprocess.Popen(
        command,
        pass_fds=[theirs.fileno()],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )
    theirs.close()

    def stop() -> None:
        ours.close()
        server.wait()

    atexit.register(stop)
    return ours


@dataclasses.dataclass
class Process:
    """A fork of the server that has become one of the sandbox's processes."""

    output: int
    folder: str


def start(kind: str, spec: dict[str, Any], *fds: int, numeric: bool | None = None) -> Process:
    """Start one kind of process as in the sandbox. `numeric`: with NumPy; None: if its task or program names NumPy."""
    read_end, write_end = os.pipe()
    folder = tempfile.mkdtemp()
    with tempfile.TemporaryFile("w+") as file:
        json.dump([kind, spec], file)
        file.seek(0)
        server = _server(numeric=zygote.needs_numpy(spec) if numeric is None else numeric)
        socket.send_fds(server, [folder.encode()], [file.fileno(), write_end, *fds])
    os.close(write_end)
    return Process(output=read_end, folder=folder)


def finish(process: Process) -> bytes:
    """Wait until a process has closed its output; return what it printed."""
    with os.fdopen(process.output, "rb") as file:
        printed = file.read()
    shutil.rmtree(process.folder, ignore_errors=True)
    return printed


def result_of(read_end: int) -> dict[str, Any] | None:
    """Return the first message of a pipe."""
    with os.fdopen(read_end, "rb") as file:
        try:
            return dict(wire.receive(file.read))
        except wire.ClosedError:
            return None


def task(test: str, signature: str = SIGNATURE) -> dict[str, Any]:
    """Return what a job says of a task."""
    declared = read_signature(signature)
    return {
        "signature": declared.source,
        "classes": list(declared.classes),
        "stubs": list(declared.written),
        "test": test,
    }


class Judge:
    """The process that records and judges, of one task after the other, as in the sandbox."""

    def __init__(self, *, numeric: bool) -> None:
        self._socket, theirs = socket.socketpair()
        read_end, write_end = os.pipe()
        self._process = start("judge", {}, theirs.fileno(), write_end, numeric=numeric)
        theirs.close()
        os.close(write_end)
        self._file = os.fdopen(read_end, "rb")
        # Its output helps to find the cause of a failure. It must not fill the pipe.
        os.set_blocking(self._process.output, False)
        assert wire.receive(self._file.read) == {"ready": True}

    def ask(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        """Have tests run once, in a fork; return all that is said."""
        wire.send(self._socket.send, request)
        messages = [wire.receive(self._file.read)]
        while "ended" not in messages[-1]:
            messages.append(wire.receive(self._file.read))
        return messages

    def printed(self) -> bytes:
        """Return what has been printed since the last time."""
        with contextlib.suppress(BlockingIOError):
            return os.read(self._process.output, 1 << 16)
        return b""

    def end(self) -> bytes:
        """Let it end, and remove its folder; return what it printed."""
        self._socket.close()
        self._file.close()
        os.set_blocking(self._process.output, True)
        return finish(self._process)


_judges: dict[bool, Judge] = {}


@atexit.register
def _end_judges() -> None:
    while _judges:
        _judges.popitem()[1].end()


def _asked(request: dict[str, Any]) -> tuple[list[dict[str, Any]], bytes]:
    """Have tests run once; return all that is said, and what is printed."""
    numeric = zygote.needs_numpy(request["task"] | request)
    judge = _judges.pop(numeric, None) or Judge(numeric=numeric)
    try:
        messages = judge.ask(request)
    except wire.ClosedError:
        return [], judge.end()
    if messages[-1]["left"]:
        return messages, judge.end()
    _judges[numeric] = judge
    return messages, judge.printed()


def record(spec: dict[str, Any]) -> dict[str, Any]:
    """Return both recordings of a task's calls."""
    return dict(json.loads(_recorded(json.dumps(spec))))


@functools.cache
def _recorded(spec: str) -> str:
    """Record a task's calls once for all candidates, as a grading does."""
    found = {}
    for name in ("truthy", "falsy"):
        messages, printed = _asked({"task": json.loads(spec), "record": name, "cpu": 10})
        said = next((message["recorded"] for message in messages if "recorded" in message), None)
        assert said is not None, (messages, printed)
        found[name] = said
    return json.dumps(found)


def calls_of(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a task's calls, which both recordings must agree on."""
    found = record(spec)
    assert "refused" not in found["truthy"], found
    strip = lambda calls: [{**json.loads(call), "d": None} for call in calls]  # noqa: E731
    assert strip(found["truthy"]["calls"]) == strip(found["falsy"]["calls"]), found
    return dict(found["truthy"])


def answers(source: str, spec: dict[str, Any], recorded: dict[str, Any]) -> dict[str, Any]:
    """Return a candidate's answers: {"hello": text or None, "replies": [texts]}."""
    ours, theirs = socket.socketpair()
    shared = {name: spec[name] for name in ("signature", "classes", "stubs")}
    wanted = {name: recorded[name] for name in ("names", "reads")}
    process = start("candidate", shared | wanted | {"source": source}, theirs.fileno())
    theirs.close()
    said = dialogue.LockStep(ours.fileno(), recorded["calls"])
    with ours:
        while True:
            part = b""
            with contextlib.suppress(ConnectionResetError):
                part = ours.recv(1 << 16)
            if not part or said.feed(part):
                break
            with contextlib.suppress(OSError):
                while said.pending:
                    said.send()
    finish(process)
    return said.result or {"hello": None, "replies": []}


def judged(spec: dict[str, Any], recorded: dict[str, Any], given: dict[str, Any]) -> dict[str, Any] | None:
    """Return what the tests make of answers."""
    messages, printed = _asked(
        given | {"task": spec | {name: recorded[name] for name in ("names", "calls")}, "cpu": 10}
    )
    found = next((message for message in messages if "confirmed" in message), None)
    assert found is not None, (messages, printed)
    return found


def replayed(source: str, test: str, signature: str = SIGNATURE) -> dict[str, Any]:
    """Record, answer, judge."""
    spec = task(test, signature)
    recorded = calls_of(spec)
    found = judged(spec, recorded, answers(source, spec, recorded))
    assert found is not None
    return found


Way = Callable[..., dict[str, Any] | None]
"""One of the ways to grade a candidate: (source, tests, signature) -> what the tests say."""


def interactive(source: str, test: str, signature: str = SIGNATURE) -> dict[str, Any] | None:
    """Run a candidate and its tests side by side; return the last that is said."""
    spec = task(test, signature)
    wanted = record(spec)["truthy"]
    ours, theirs = socket.socketpair()
    read_end, write_end = os.pipe()
    shared = {name: spec[name] for name in ("signature", "classes", "stubs")}
    shared |= {name: wanted[name] for name in ("names", "reads")}
    first = start("candidate", shared | {"source": source}, theirs.fileno())
    theirs.close()
    second = start("tests", spec, ours.fileno(), write_end)
    ours.close()
    os.close(write_end)
    said = dialogue.OneResult(read_end, {"confirmed": bool, "reason": str, "kind": str, "so_far": bool})
    while (part := os.read(read_end, 1 << 16)) and not said.feed(part):
        pass
    os.close(read_end)
    for process in (second, first):
        finish(process)
    return said.result
