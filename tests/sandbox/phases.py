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

SIGNATURE = "def solution(a):\n    pass\n"
CONFIRMED = {"confirmed": True, "reason": "", "kind": ""}


SERVER = """
import sys
sys.path.insert(0, sys.argv[1])
import gc, json, os, socket
import confine, zygote
# Loaded before the forks, as in the sandbox.
import numpy, numpy.random

requests = socket.socket(fileno=int(sys.argv[2]))
gc.collect()
gc.freeze()
while True:
    folder, fds, _, _ = socket.recv_fds(requests, 1 << 12, 8)
    if not folder:
        os._exit(0)
    spec, output, *fds = fds
    pid = os.fork()
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
def _server() -> socket.socket:
    """Start a process that has what the sandbox has loaded; to fork it costs a fraction of a fork of pytest."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, "-I", "-c", SERVER, inside.FOLDER, str(theirs.fileno())]
    server = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
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


def start(kind: str, spec: dict[str, Any], *fds: int) -> Process:
    """Start one kind of process, warm as in the sandbox."""
    read_end, write_end = os.pipe()
    folder = tempfile.mkdtemp()
    with tempfile.TemporaryFile("w+") as file:
        json.dump([kind, spec], file)
        file.seek(0)
        socket.send_fds(_server(), [folder.encode()], [file.fileno(), write_end, *fds])
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


def record(spec: dict[str, Any]) -> dict[str, Any]:
    """Return both recordings of a task's calls."""
    found = {}
    for name in ("truthy", "falsy"):
        messages, printed = _asked({"task": spec, "record": name, "cpu": 10})
        said = next((message["recorded"] for message in messages if "recorded" in message), None)
        assert said is not None, (messages, printed)
        found[name] = said
    return found


def _asked(request: dict[str, Any]) -> tuple[list[dict[str, Any]], bytes]:
    """Have tests run once; return all that is said, and what is printed."""
    ours, theirs = socket.socketpair()
    read_end, write_end = os.pipe()
    process = start("judge", {}, theirs.fileno(), write_end)
    theirs.close()
    os.close(write_end)
    wire.send(ours.send, request)
    with os.fdopen(read_end, "rb") as file:
        messages: list[dict[str, Any]] = []
        with contextlib.suppress(wire.ClosedError):
            while not messages or "ended" not in messages[-1]:
                messages.append(wire.receive(file.read))
        ours.close()
    return messages, finish(process)


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
