"""System calls that are refused, tried for real in a process that has the filter."""

import json
import subprocess
import sys

import pytest

from tests.sandbox import inside

DRIVER = """
import ctypes, fcntl, json, os, resource, socket, sys, tempfile, threading
sys.path.insert(0, sys.argv[1])
from grade_sandbox.confine import process
IO_SETUP = {"x86_64": 206, "aarch64": 0}[os.uname().machine]
file = tempfile.TemporaryFile()
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
attempt("vmsplice", lambda: process.check(process.libc.vmsplice(os.pipe()[1], None, 0, 0), "it"))
attempt("asynchronous requests", lambda: process.check(process.libc.syscall(IO_SETUP, 9, bytes(8)), "it"))
attempt("inet", lambda: socket.socket(socket.AF_INET))
attempt("inotify", lambda: process.check(process.libc.inotify_init(), "it"))
attempt("limits of another", lambda: resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE))
attempt("own limits", lambda: resource.setrlimit(resource.RLIMIT_NOFILE, resource.getrlimit(resource.RLIMIT_NOFILE)))
attempt("flags", lambda: fcntl.fcntl(file, fcntl.F_GETFD))
attempt("pair", lambda: (one.send(b"x"), other.recv(1)))
attempt("thread", lambda: threading.Thread(target=print).start())
attempt("fork", lambda: os.waitpid(os.fork() or os._exit(0), 0)[1])
json.dump(found, sys.stdout)
"""


@pytest.fixture(scope="module")
def tried() -> dict[str, list[object]]:
    """What became of each call: `["done", value]`, or the exception's name and errno."""
    command = [sys.executable, "-I", "-c", DRIVER, inside.FOLDER]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    return dict(json.loads(said[said.index("{") :]))


@pytest.mark.parametrize(
    "name",
    ["lease", "notify", "pidfd", "buffer", "vmsplice", "asynchronous requests", "inet", "inotify", "limits of another"],
)
def test_what_reaches_beyond_the_program_is_refused(tried: dict[str, list[object]], name: str) -> None:
    assert tried[name] == ["PermissionError", 1]


@pytest.mark.parametrize("name", ["flock", "lockf", "open file lock"])
def test_locks_succeed_and_lock_nothing(tried: dict[str, list[object]], name: str) -> None:
    """SQLite needs them for its files, which only one program has."""
    assert tried[name][0] == "done", tried[name]


@pytest.mark.parametrize("name", ["own limits", "flags", "pair", "thread", "fork"])
def test_what_a_program_needs_is_not(tried: dict[str, list[object]], name: str) -> None:
    assert tried[name][0] == "done", tried[name]
