"""The processes from which programs are forked: warm, and without memory of any program or test.

There are two, since every page that a fork inherits costs time: one without NumPy, and one that loads it when the first
program or test needs it. Both start before the first job. A zygote learns only the kind of process to fork and its
slot, and passes on descriptors that it does not read; the new process reads its own task. So a candidate finds nothing
useful in its initial memory.
"""

from __future__ import annotations

import array
import contextlib
import gc
import importlib
import os
import signal
import socket
import struct
import sys
from typing import NamedTuple

from grade_sandbox.candidate import answering, script
from grade_sandbox.confine import process
from grade_sandbox.lint import linter
from grade_sandbox.official import official_run
from grade_sandbox.tests import judging
from grade_sandbox.values import wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from grade_sandbox.confine.isolation import Namespaces, Uids

    Isolation = Uids | Namespaces

PRELOAD = (
    "bisect", "calendar", "cmath", "collections", "copy", "dataclasses", "datetime", "decimal", "enum", "fractions",
    "functools", "heapq", "inspect", "itertools", "json", "math", "operator", "queue", "random", "re", "statistics",
    "string", "textwrap", "threading", "time", "typing",
)  # fmt: skip
NUMERIC = ("numpy", "numpy.random")
_NAMES_NUMPY = ("numpy", "pandas", "np.", "pd.")
_HOLDS_ARRAY = ('["array"', '["scalar"', '["masked')
KINDS: dict[str, Callable[..., object]] = {
    "official": official_run.official,
    "candidate": answering.candidate,
    "script": script.script,
    "judge": judging.judge,
    "linter": linter.serve,
}
_KINDS = tuple(KINDS)
_REAP = 255
_REQUEST = struct.Struct("=BBid")
"""The process kind to fork (an index of `_KINDS`) or `_REAP`, slot, pid, CPU seconds. Fixed-size messages touch few
pages; each page that a zygote writes after a fork is copied first."""
_REPLY = struct.Struct("=?idq")
"""Whether it succeeded; a pid, an exit status or an error number; CPU seconds; bytes of memory."""


def needs_numpy(texts: Iterable[str], messages: Iterable[str] = ()) -> bool:
    """Whether NumPy is probably needed: code names it or a library that loads it, or messages contain its arrays.

    It decides which modules a process has preloaded, never which ones it can load.
    """
    return any(word in text for text in texts for word in _NAMES_NUMPY) or any(
        word in text for text in messages for word in _HOLDS_ARRAY
    )


def serve(connection: socket.socket, isolation: Isolation, *, numeric: bool) -> None:
    """Fork and reap on request until the supervisor has ended; never returns."""
    try:
        process.undumpable()
        process.prctl(process.PR_SET_PDEATHSIG, signal.SIGKILL)
        _load(PRELOAD)
        isolation.prepare()
        is_warm = False
        while True:
            data, ancillary, _, _ = connection.recvmsg(64, 256)
            if not data:
                return
            if not is_warm:
                _load(NUMERIC if numeric else ())
                gc.collect()
                gc.freeze()
                is_warm = True
            what, slot, pid, cpu = _REQUEST.unpack(data)
            if what == _REAP:
                connection.send(_reap(pid))
            else:
                connection.send(_fork(_KINDS[what], slot, cpu, _descriptors(ancillary), isolation))
    finally:
        os._exit(0)


def _load(names: Iterable[str]) -> None:
    for name in names:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def _descriptors(ancillary: list[tuple[int, int, bytes]]) -> list[int]:
    return [fd for _, _, data in ancillary for (fd,) in struct.iter_unpack("i", data[: len(data) & ~3])]


def _fork(kind: str, slot: int, cpu: float, fds: list[int], isolation: Isolation) -> bytes:
    try:
        pid = isolation.start(slot, lambda: _be(kind, fds, cpu))
    except OSError as error:
        return _REPLY.pack(False, error.errno or 0, 0.0, 0)
    finally:
        for fd in fds:
            os.close(fd)
    return _REPLY.pack(True, pid, 0.0, 0)


def _be(kind: str, fds: list[int], cpu: float) -> None:
    """Become one of the processes that run programs or tests; called in the fork, already as another user."""
    process.close_all_but(fds)
    spec = wire.receive(lambda count: os.read(fds[0], count))
    os.close(fds[0])
    process.limit_cpu(cpu)
    sys.argv = [""]
    KINDS[kind](spec, *fds[1:])


def _reap(pid: int) -> bytes:
    """Wait for a process that has ended or was killed; report how it ended."""
    try:
        _, status, usage = os.wait4(pid, 0)
    except ChildProcessError:
        return _REPLY.pack(False, 0, 0.0, 0)
    return _REPLY.pack(True, os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10)


class End(NamedTuple):
    """How a process ended."""

    status: int | None
    """The exit code, or the negative number of the signal; None if unknown."""
    cpu: float
    """Seconds."""
    peak: int
    """The largest resident memory, in bytes, of the process or of one that it has waited for."""


class Zygotes:
    """The supervisor's side of both zygotes. A program is forked from the one that has loaded what it needs."""

    def __init__(self, isolation: Isolation) -> None:
        started = [_started(isolation, numeric=numeric) for numeric in (False, True)]
        self.pids = tuple(pid for pid, _ in started)
        """The pids of the zygotes themselves: without NumPy, and with it."""
        self._channels = dict(started)
        self._origins: dict[int, int] = {}
        """Process -> the pid of its zygote."""

    def _ask(self, zygote: int, request: bytes, fds: Sequence[int] = ()) -> tuple[bool, int, float, int]:
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        channel = self._channels[zygote]
        channel.sendmsg([request], ancillary)
        reply = channel.recv(64)
        if not reply:
            raise wire.ClosedError("the zygote is gone")
        done, number, cpu, peak = _REPLY.unpack(reply)
        return done, number, cpu, peak

    def start(
        self, kind: str, slot: int, spec: Mapping[str, object], fds: Iterable[int], cpu: float, *, numeric: bool
    ) -> int:
        """Fork a `kind` process and send it its task; `fds` are passed on (and stay open here)."""
        zygote = self.pids[numeric]
        read_end, write_end = os.pipe()
        try:
            done, number, _, _ = self._ask(zygote, _REQUEST.pack(_KINDS.index(kind), slot, 0, cpu), [read_end, *fds])
        finally:
            os.close(read_end)
        if not done:
            os.close(write_end)
            raise OSError(number, os.strerror(number))
        self._origins[number] = zygote
        with contextlib.suppress(BrokenPipeError), os.fdopen(write_end, "wb", buffering=0) as file:
            wire.send(file.write, spec)
        return number

    def origin(self, pid: int) -> int:
        """Return the pid of the zygote that a process was forked from, until it is reaped."""
        return self._origins[pid]

    def reap(self, pid: int) -> End:
        """Return how a process ended, by itself or killed."""
        done, number, cpu, peak = self._ask(self._origins.pop(pid), _REQUEST.pack(_REAP, 0, pid, 0.0))
        return End(number if done else None, cpu, peak)


def _started(isolation: Isolation, *, numeric: bool) -> tuple[int, socket.socket]:
    """Fork a zygote; return its pid, and the channel to it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    pid = os.fork()
    if pid == 0:
        ours.close()
        process.close_all_but({theirs.fileno()})
        serve(theirs, isolation, numeric=numeric)
    theirs.close()
    return pid, ours
