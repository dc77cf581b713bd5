"""The process of a program that reads standard input: it compiles the program, and runs it in a fork for each input.

This process itself runs nothing of the program. It never has an expected output. A run ends with all its processes and
files, so it can leave nothing to the next one.
"""

import atexit
import builtins
import gc
import os
import signal
import socket
import sys
import threading
import traceback
import types

from grade_sandbox import wire
from grade_sandbox.confine import isolation, process

# No `from __future__ import annotations` here: `compile` would pass it on to the program.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

MAX_PRINTED = 4_000_000
"""Maximum size of the output of one run in bytes; the rest is cut. In JSON, it is at most six times as large."""
MAX_SHOWN = 2000
"""Bytes at the end of the standard error of one run, of which the last line is reported."""
MAX_FRAMES = 8
"""Frames of a traceback, the innermost ones: all of a deep recursion would take time, and more than these bytes."""


def serve_runs(spec: "dict[str, Any]", channel_fd: int) -> None:
    """Run a program once for each input that arrives, until the channel closes."""
    channel = socket.socket(fileno=channel_fd)
    # What a run leaves becomes a child of this process, which can then wait for its end.
    process.prctl(process.PR_SET_CHILD_SUBREAPER, 1)
    try:
        code = compile(spec["source"], process.FILE, "exec", dont_inherit=True)
    except BaseException as error:
        wire.send(channel.send, {"failed": wire.clip(f"{type(error).__name__}: {error}")})
        return
    main_module = _prepare(channel_fd)
    wire.send(channel.send, {"compiled": True})
    folder = f"{os.getcwd()}/run"
    while True:
        try:
            stdin = wire.receive_bytes(channel.recv)
        except (wire.ClosedError, OSError):
            return
        wire.send(channel.send, _run(lambda: _execute(code, main_module), stdin, folder))


def _prepare(channel_fd: int) -> types.ModuleType:
    """Make all that a script has before its first line, once: a fork copies each page that it writes to.

    Return the module that it runs in. The order matters: streams are opened on descriptors, and no other is inherited.
    """
    process.enlarge_stack()
    _replace_descriptors(_stream_files(b""))
    process.close_all_but((channel_fd,))
    _open_streams()
    main_module = types.ModuleType("__main__")
    main_module.__dict__.update(__builtins__=builtins, __file__=process.FILE)
    sys.modules["__main__"], sys.argv = main_module, [process.FILE]
    gc.collect()
    gc.freeze()
    return main_module


def _stream_files(stdin: bytes) -> "list[int]":
    """Return nameless files for the three standard streams."""
    fds = [os.open(".", os.O_TMPFILE | os.O_RDWR, 0o600) for _ in range(3)]
    view = memoryview(stdin)
    while view:
        view = view[os.write(fds[0], view) :]
    os.lseek(fds[0], 0, os.SEEK_SET)
    return fds


def _replace_descriptors(fds: "list[int]") -> None:
    """Put files in place of the three standard streams."""
    for number, fd in enumerate(fds):
        os.dup2(fd, number)


def _open_streams() -> None:
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        errors, buffering = ("backslashreplace", 1) if name == "stderr" else ("surrogateescape", -1)
        stream = open(number, "w" if number else "r", buffering, encoding="utf-8", errors=errors, closefd=False)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _run(execute: "Callable[[], int]", stdin: bytes, folder: str) -> "dict[str, Any]":
    """Run a program once, in a folder of its own; return what it printed and how it ended.

    After a fork, the first write to each memory page costs a page fault. So the usual path runs little Python code.
    """
    fds = _stream_files(stdin)
    os.mkdir(folder)
    pid = process.fork()
    if pid == 0:
        _run_as_script_and_exit(execute, fds, folder)
    _, status, usage = os.wait4(pid, 0)
    # Kill all other processes of this user: those that the run has started, in whatever session.
    try:
        os.kill(-1, signal.SIGKILL)
        while True:
            os.wait()
    except (ProcessLookupError, ChildProcessError):
        pass
    _remove_files(folder)
    size = os.fstat(fds[1]).st_size
    outcome = {
        "printed": os.pread(fds[1], min(size, MAX_PRINTED), 0).decode("utf-8", "replace"),
        "status": os.waitstatus_to_exitcode(status),
        # The limit is one of user time, too: see `process.limit_cpu`.
        "cpu": round(usage.ru_utime, 4),
    }
    if size > MAX_PRINTED:
        outcome["cut"] = True
    if stderr_size := os.fstat(fds[2]).st_size:
        text = os.pread(fds[2], MAX_SHOWN, max(0, stderr_size - MAX_SHOWN)).decode("utf-8", "replace")
        if error := _exception_line(text):
            outcome["error"] = error
    for fd in fds:
        os.close(fd)
    return outcome


def _exception_line(stderr: str) -> str:
    """Return the first line of the last exception in the standard error, else its last line."""
    _, marker, exception_text = stderr.rpartition("Traceback (most recent call last):\n")
    lines = [line for line in exception_text.splitlines() if line.strip()]
    exception_line = next((line for line in lines if not line[0].isspace()), "") if marker else ""
    return exception_line or (lines[-1] if lines else "")


def _remove_files(folder: str) -> None:
    """Remove a run's folder, and what the run left beside it (in the current folder) or in shared memory."""
    try:
        # Most runs leave nothing in it.
        os.rmdir(folder)
    except OSError:
        isolation.remove_contents(".")
    if os.listdir(".") or os.listdir(isolation.SHM):
        isolation.remove_contents(".", isolation.SHM)


def _run_as_script_and_exit(execute: "Callable[[], int]", fds: "list[int]", folder: str) -> "NoReturn":
    """Run a program as Python runs a script; called in a fork."""
    status = 1
    try:
        # The program can be ended together with what it has started.
        os.setsid()
        _replace_descriptors(fds)
        process.close_all_but(())
        os.chdir(folder)
        process.seed_generators()
        status = execute()
    finally:
        os._exit(status)


def _execute(code: "types.CodeType", main_module: "types.ModuleType") -> int:
    """Execute a script, and end as the interpreter does; return 1 if it raises an exception, else 0."""
    status = 0
    try:
        exec(code, main_module.__dict__)
    except SystemExit as error:
        # Whatever its exit code: its output is judged.
        if not (error.code is None or isinstance(error.code, int)):
            sys.stderr.write(f"{error.code}\n")
    except BaseException:
        status = 1
        traceback.print_exc(limit=-MAX_FRAMES)
    join_threads, run_exit_functions = threading._shutdown, atexit._run_exitfuncs  # type: ignore[attr-defined]
    for finish in (join_threads, run_exit_functions, lambda: _flush("stdout"), lambda: _flush("__stdout__")):
        try:
            finish()
        except BaseException:
            status = status or 1
    return status


def _flush(name: str) -> None:
    stream = getattr(sys, name, None)
    if stream is not None and not getattr(stream, "closed", False):
        stream.flush()
