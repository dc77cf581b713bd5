"""The process programs are forked from: warm, and without memory of any program or test.

It learns only which kind of process to fork, for which slot, and hands on descriptors it does not read: the new process
reads its own task. So nothing that a candidate could look for is in the memory it starts with.
"""

from __future__ import annotations

import array
import contextlib
import gc
import importlib
import json
import os
import signal
import socket
import sys

import answering
import confine
import harness
import interactive
import judging
import recording
import wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from isolation import Namespaces, Uids

    Isolation = Uids | Namespaces

PRELOAD = (
    "bisect", "calendar", "cmath", "collections", "copy", "dataclasses", "datetime", "decimal", "enum", "fractions",
    "functools", "heapq", "inspect", "itertools", "json", "math", "operator", "queue", "random", "re", "statistics",
    "string", "textwrap", "threading", "time", "typing", "numpy", "numpy.random",
)  # fmt: skip
KINDS: dict[str, Callable[..., object]] = {
    "official": harness.official,
    "record": recording.record,
    "candidate": answering.candidate,
    "judge": judging.judge,
    "tests": interactive.tests,
}


def serve(connection: socket.socket, isolation: Isolation) -> None:
    """Fork and reap on request until the supervisor is gone; never returns."""
    try:
        confine.undumpable()
        confine.prctl(confine.PR_SET_PDEATHSIG, signal.SIGKILL)
        for name in PRELOAD:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
        isolation.prepare()
        gc.collect()
        gc.freeze()
        while True:
            data, fds, _, _ = socket.recv_fds(connection, 4096, 8)
            if not data:
                return
            request = json.loads(data)
            reply = _fork(request, fds, isolation) if "kind" in request else _reap(request)
            connection.send(json.dumps(reply).encode())
    finally:
        os._exit(0)


def _fork(request: dict[str, Any], fds: list[int], isolation: Isolation) -> dict[str, Any]:
    kind, cpu = request["kind"], request["cpu"]
    try:
        pid = isolation.start(request["slot"], lambda: _be(kind, fds, cpu))
    except OSError as error:
        return {"error": str(error)}
    finally:
        for fd in fds:
            os.close(fd)
    return {"pid": pid}


def _be(kind: str, fds: list[int], cpu: float) -> None:
    """Become one of the processes that run programs or tests: in the fork, already another user."""
    confine.close_all_but(fds)
    with os.fdopen(fds[0], "rb") as file:
        spec = wire.receive(file.read)
    confine.limit_cpu(cpu)
    # The forks share their parent's state of `random`; the official evaluator's do as well.
    sys.argv = [""]
    KINDS[kind](spec, *fds[1:])


def _reap(request: dict[str, Any]) -> dict[str, Any]:
    """Wait for a process that has ended or has been killed; report how."""
    try:
        _, status, usage = os.wait4(request["reap"], 0)
    except ChildProcessError:
        return {"status": None, "cpu": 0.0}
    return {"status": os.waitstatus_to_exitcode(status), "cpu": usage.ru_utime + usage.ru_stime}


class Zygote:
    """The supervisor's end."""

    def __init__(self, isolation: Isolation) -> None:
        self.isolation = isolation
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.pid = os.fork()
        if self.pid == 0:
            ours.close()
            confine.close_all_but({theirs.fileno()})
            serve(theirs, isolation)
        theirs.close()
        self._socket = ours

    def _ask(self, request: dict[str, Any], fds: Sequence[int] = ()) -> Any:
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        self._socket.sendmsg([json.dumps(request).encode()], ancillary)
        reply = self._socket.recv(4096)
        if not reply:
            raise wire.ClosedError("the zygote is gone")
        return json.loads(reply)

    def start(self, kind: str, slot: int, spec: dict[str, Any], fds: Iterable[int], cpu: float) -> int:
        """Fork a `kind` process and give it its task; `fds` are handed over (and stay open here)."""
        read_end, write_end = os.pipe()
        try:
            reply = self._ask({"kind": kind, "slot": slot, "cpu": cpu}, [read_end, *fds])
        finally:
            os.close(read_end)
        if "error" in reply:
            os.close(write_end)
            raise OSError(reply["error"])
        with contextlib.suppress(BrokenPipeError), os.fdopen(write_end, "wb", buffering=0) as file:
            wire.send(file.write, spec)
        pid: int = reply["pid"]
        return pid

    def reap(self, pid: int) -> tuple[int | None, float]:
        """Return (exit code or negative signal, CPU seconds) of a process that has ended or was killed."""
        reply = self._ask({"reap": pid})
        return reply["status"], reply["cpu"]
