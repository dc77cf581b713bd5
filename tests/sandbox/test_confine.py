"""System calls that are refused, tried for real in a process that has the filter."""

import json
import subprocess
import sys

import pytest

from tests.sandbox import inside

DRIVER = """
import ctypes, fcntl, json, os, resource, shutil, socket, sys, tempfile, threading
sys.path.insert(0, sys.argv[1])
from grade_sandbox.confine import process
column = ("x86_64", "aarch64").index(os.uname().machine)
file = tempfile.NamedTemporaryFile()
file.write(b"x")
file.flush()
one, other = socket.socketpair()
process.refuse_system_calls()
found = {}


def attempt(name, action):
    try:
        found[name] = ["done", str(action())]
    except BaseException as error:
        found[name] = [type(error).__name__, getattr(error, "errno", None)]


attempt("flock", lambda: fcntl.flock(file, fcntl.LOCK_SH))
attempt("lockf", lambda: fcntl.lockf(file, fcntl.LOCK_EX))
attempt("lease", lambda: fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK))
attempt("notify", lambda: fcntl.fcntl(file, fcntl.F_NOTIFY, 0))
attempt("open file lock", lambda: fcntl.fcntl(file, 37, b"\\0" * 32))
attempt("pidfd", lambda: os.pidfd_open(os.getpid()))
attempt("buffer", lambda: one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22))
for name, (*numbers, arguments) in json.loads(sys.argv[2]).items():
    words = map(ctypes.c_long, (numbers[column], *arguments, *[0] * (6 - len(arguments))))
    attempt(name, lambda: process.check(process.libc.syscall(*words), "it"))
attempt("inet", lambda: socket.socket(socket.AF_INET))
attempt("inotify", lambda: process.check(process.libc.inotify_init(), "it"))
attempt("limits of another", lambda: resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE))
attempt("own limits", lambda: resource.setrlimit(resource.RLIMIT_NOFILE, resource.getrlimit(resource.RLIMIT_NOFILE)))
attempt("copy", lambda: shutil.copyfile(file.name, file.name + "-copy") and os.unlink(file.name + "-copy"))
attempt("flags", lambda: fcntl.fcntl(file, fcntl.F_GETFD))
attempt("pair", lambda: (one.send(b"x"), other.recv(1)))
attempt("thread", lambda: threading.Thread(target=print).start())
attempt("fork", lambda: os.waitpid(os.fork() or os._exit(0), 0)[1])
json.dump(found, sys.stdout)
"""
CALLS = {
    "ptrace": (101, 117, [16, -1]),
    "process_vm_readv": (310, 270, [0]),
    "process_vm_writev": (311, 271, [0]),
    "pidfd_getfd": (438, 438, [-1]),
    "keyctl": (250, 219, [0, -3, 1]),
    "memfd_create": (319, 279, [0]),
    "userfaultfd": (323, 282, [1]),
    "perf_event_open": (298, 241, [0, 0, -1, -1, -1]),
    "io_setup": (206, 0, [9]),
    "io_uring_setup": (425, 425, [4]),
    "io_uring_enter": (426, 426, [-1]),
    "mount": (165, 40, [0]),
    "unshare": (272, 97, [0]),
    "setns": (308, 268, [-1]),
    "personality": (135, 92, [0xFFFFFFFF]),
    "vmsplice": (278, 75, [-1]),
    "splice": (275, 76, [-1]),
    "sendfile": (40, 71, [-1]),
}
"""System call -> its number on x86-64 and on ARM, and arguments (0 behind them) that the kernel itself refuses
otherwise, or not at all."""


@pytest.fixture(scope="module")
def tried() -> dict[str, list[object]]:
    """What became of each call: `["done", value]`, or the exception's name and errno."""
    command = [sys.executable, "-I", "-c", DRIVER, inside.FOLDER, json.dumps(CALLS)]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    return dict(json.loads(said[said.index("{") :]))


@pytest.mark.parametrize(
    "name",
    [*CALLS, "lease", "notify", "pidfd", "buffer", "inet", "inotify", "limits of another"],
)
def test_what_reaches_beyond_the_program_is_refused(tried: dict[str, list[object]], name: str) -> None:
    assert tried[name] == ["PermissionError", 1]


@pytest.mark.parametrize("name", ["flock", "lockf", "open file lock"])
def test_locks_succeed_and_lock_nothing(tried: dict[str, list[object]], name: str) -> None:
    """SQLite needs them for its files, which only one program has."""
    assert tried[name][0] == "done", tried[name]


@pytest.mark.parametrize("name", ["own limits", "copy", "flags", "pair", "thread", "fork"])
def test_what_a_program_needs_is_not(tried: dict[str, list[object]], name: str) -> None:
    assert tried[name][0] == "done", tried[name]
