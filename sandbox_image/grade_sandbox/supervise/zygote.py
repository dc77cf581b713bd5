"""The processes from which programs are forked: warm, and without memory of any program or test.

There are two, since every page that a fork inherits costs time: one without NumPy, and one that loads it when the first
program or test needs it. Both start before the first job. A zygote learns only the kind of process to fork and its
slot, and passes on descriptors that it does not read; the new process reads its own task. So a candidate finds nothing
useful in its initial memory.
"""

from __future__ import annotations

import array
import contextlib
import functools
import gc
import importlib
import os
import signal
import socket
import struct
import sys
from typing import NamedTuple

from grade_sandbox import wire
from grade_sandbox.candidate import answering, stdin_program
from grade_sandbox.confine import isolation, process
from grade_sandbox.judging import server
from grade_sandbox.lint import linter
from grade_sandbox.official import official_run
from grade_sandbox.values import has_arrays

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Isolation = isolation.Uids | isolation.Namespaces

PRELOAD = (
    "bisect", "calendar", "cmath", "collections", "copy", "dataclasses", "datetime", "decimal", "enum", "fractions",
    "functools", "heapq", "inspect", "itertools", "json", "math", "operator", "queue", "random", "re", "statistics",
    "string", "textwrap", "threading", "time", "typing",
)  # fmt: skip
NUMERIC = ("numpy", "numpy.random")
_NAMES_NUMPY = ("numpy", "pandas", "np.", "pd.")
KINDS: dict[str, Callable[..., object]] = {
    "official": official_run.run_officially,
    "candidate": answering.serve_candidate,
    "script": stdin_program.serve_runs,
    "judge": server.serve,
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
    return any(word in text for text in texts for word in _NAMES_NUMPY) or any(map(has_arrays, messages))


def serve(channel: socket.socket, chosen_isolation: Isolation, *, with_numpy: bool) -> None:
    """Fork and reap on request until the supervisor has ended; never returns.

    NumPy is loaded with the first request, because a zygote that nobody needs shall cost no memory.
    """
    try:
        process.make_undumpable()
        process.prctl(process.PR_SET_PDEATHSIG, signal.SIGKILL)
        _load(PRELOAD)
        chosen_isolation.prepare()
        is_warm = False
        while True:
            data, ancillary, _, _ = channel.recvmsg(64, 256)
            if not data:
                return
            if not is_warm:
                _load(NUMERIC if with_numpy else ())
                gc.collect()
                gc.freeze()
                is_warm = True
            kind, slot, pid, cpu = _REQUEST.unpack(data)
            if kind == _REAP:
                channel.send(_reap(pid))
            else:
                channel.send(_handle_start_request(_KINDS[kind], slot, cpu, _descriptors(ancillary), chosen_isolation))
    finally:
        os._exit(0)


def _load(names: Iterable[str]) -> None:
    for name in names:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def _descriptors(ancillary: list[tuple[int, int, bytes]]) -> list[int]:
    return [fd for _, _, data in ancillary for (fd,) in struct.iter_unpack("i", data[: len(data) & ~3])]


def _handle_start_request(kind: str, slot: int, cpu: float, fds: list[int], chosen_isolation: Isolation) -> bytes:
    """Fork a process of this kind; return its pid, or the number of the error, as a reply."""
    try:
        pid = chosen_isolation.start(slot, lambda: _become_process(kind, fds, cpu))
    except OSError as error:
        return _encode_reply(error.errno or 0, is_done=False)
    finally:
        for fd in fds:
            os.close(fd)
    return _encode_reply(pid)


def _become_process(kind: str, fds: list[int], cpu: float) -> None:
    """Become one of the processes that run programs or tests; called in the fork, already as another user."""
    # The first descriptor is a pipe with the task, the others are for the function of this kind.
    process.close_all_but(fds)
    spec = wire.receive(lambda count: os.read(fds[0], count))
    os.close(fds[0])
    process.limit_cpu(cpu)
    sys.argv = [""]
    KINDS[kind](spec, *fds[1:])


def _reap(pid: int) -> bytes:
    """Wait for a process that has ended or was killed; return how it ended as a reply: a failure if unknown."""
    try:
        _, status, usage = os.wait4(pid, 0)
    except ChildProcessError:
        return _encode_reply(0, is_done=False)
    cpu, peak_bytes = usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10
    return _encode_reply(os.waitstatus_to_exitcode(status), cpu, peak_bytes)


def _encode_reply(pid_status_or_errno: int, cpu: float = 0.0, peak_bytes: int = 0, *, is_done: bool = True) -> bytes:
    return _REPLY.pack(is_done, pid_status_or_errno, cpu, peak_bytes)


class ProcessEnd(NamedTuple):
    """How a process ended."""

    status: int | None
    """The exit code, or the negative number of the signal; None if unknown."""
    cpu: float
    """Seconds."""
    peak: int
    """The largest resident memory, in bytes, of the process or of one that it has waited for."""


class Zygotes:
    """The supervisor's side of both zygotes. A program is forked from the one that has loaded what it needs."""

    def __init__(self, chosen_isolation: Isolation) -> None:
        zygotes = {
            with_numpy: _fork_with_channel(
                functools.partial(serve, chosen_isolation=chosen_isolation, with_numpy=with_numpy)
            )
            for with_numpy in (False, True)
        }
        self._pids = {with_numpy: pid for with_numpy, (pid, _) in zygotes.items()}
        """Whether it has NumPy -> the pid of a zygote."""
        self._channels = dict(zygotes.values())
        """The pid of a zygote -> the channel to it."""
        self._zygote_by_pid: dict[int, int] = {}
        """Process -> the pid of its zygote."""

    @property
    def pids(self) -> Iterable[int]:
        """The pids of the zygotes themselves."""
        return self._pids.values()

    def _ask(self, zygote: int, request: bytes, fds: Sequence[int] = ()) -> tuple[bool, int, float, int]:
        """Return a zygote's reply: see `_REPLY`."""
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        channel = self._channels[zygote]
        channel.sendmsg([request], ancillary)
        reply = channel.recv(64)
        if not reply:
            raise wire.ClosedError("the zygote is gone")
        is_done, number, cpu, peak = _REPLY.unpack(reply)
        return is_done, number, cpu, peak

    def start(
        self,
        kind: str,
        slot: int,
        spec: Mapping[str, object],
        fds: Iterable[int],
        cpu: float,
        *,
        with_numpy: bool,
    ) -> int:
        """Fork a `kind` process and send it its task; `fds` are passed on (and stay open). `slot`: see isolation.py."""
        zygote = self._pids[with_numpy]
        read_end, write_end = os.pipe()
        try:
            request = _REQUEST.pack(_KINDS.index(kind), slot, 0, cpu)  # 0: the pid comes with the reply
            is_done, pid_or_errno, _, _ = self._ask(zygote, request, [read_end, *fds])
        finally:
            os.close(read_end)
        if not is_done:
            os.close(write_end)
            raise OSError(pid_or_errno, os.strerror(pid_or_errno))
        self._zygote_by_pid[pid_or_errno] = zygote
        with contextlib.suppress(BrokenPipeError), os.fdopen(write_end, "wb", buffering=0) as file:
            wire.send(file.write, spec)
        return pid_or_errno

    def find_zygote(self, pid: int) -> int:
        """Return the pid of the zygote that a process was forked from, until it is reaped."""
        return self._zygote_by_pid[pid]

    def reap(self, pid: int) -> ProcessEnd:
        """Return how a process ended, by itself or killed."""
        is_done, status, cpu, peak = self._ask(self._zygote_by_pid.pop(pid), _REQUEST.pack(_REAP, 0, pid, 0.0))
        return ProcessEnd(status if is_done else None, cpu, peak)


def _fork_with_channel(body: Callable[[socket.socket], object]) -> tuple[int, socket.socket]:
    """Fork a process that calls `body` with its side of a channel; return its pid, and this side."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    pid = os.fork()
    if pid == 0:
        ours.close()
        process.close_all_but({theirs.fileno()})
        try:
            body(theirs)
        finally:
            os._exit(1)
    theirs.close()
    return pid, ours
