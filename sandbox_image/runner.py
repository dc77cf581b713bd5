"""The supervisor's entry point. It holds the only channel to the grader, and lets other processes run the programs.

Protocol (messages of wire.py on standard input and output): the first message sent is a greeting; then every job gets
one answer, in order. Before it, a message may say that the job's program is slow, so that another sandbox may start
meanwhile. The possible contents of a job are described in jobs.py.
"""

from __future__ import annotations

import json
import os
import platform
import select
import signal
import sys
import types

from grade_sandbox import wire
from grade_sandbox.confine import process
from grade_sandbox.supervise.supervisor import Supervisor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

_HERE = os.path.dirname(os.path.abspath(__file__))
"""Python has it on the path, as the folder of the script that it runs."""
VERSION = 1
LEASE_SECONDS = 900


def _settings() -> dict[str, Any]:
    """Read the supervisor's settings from the environment, then clear it."""
    settings: dict[str, Any] = json.loads(os.environ["GRADE_SETTINGS"])
    path = os.environ.get("PYTHONPATH", "")
    os.environ.clear()
    os.environ.update(
        PATH="/usr/local/bin:/usr/bin:/bin",
        LANG="C.UTF-8",
        HOME="/",
        # `getpass.getuser` needs one of them, because the users of programs have no entry in a password file.
        LOGNAME="user",
        USER="user",
        OMP_NUM_THREADS="1",
        OPENBLAS_NUM_THREADS="1",
        MKL_NUM_THREADS="1",
    )
    if path:
        os.environ["PYTHONPATH"] = path
    return settings


def _move_channel_off_stdio() -> tuple[int, int]:
    """Move the channel away from the standard descriptors, which every fork inherits in some form."""
    source, sink = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.close(null)
    for fd in (source, sink):
        os.set_inheritable(fd, False)
    return source, sink


def _hide_own_modules() -> None:
    """Leave to the imports of a program, a test and the linter only the standard library and the locked packages.

    This code stays loaded, but no name leads to it, `__main__` included. Other packages of the interpreter differ
    between machines.
    """
    sys.path[:] = [p for p in sys.path if p != _HERE and not p.endswith(("site-packages", "dist-packages"))]
    sys.path_importer_cache.pop(_HERE, None)
    for name in [name for name in sys.modules if name.partition(".")[0] == "grade_sandbox"]:
        del sys.modules[name]
    sys.modules["__main__"] = types.ModuleType("__main__")


def main() -> NoReturn:
    """Serve until the channel closes, the lease ends, or this supervisor is damaged."""
    _hide_own_modules()
    settings = _settings()
    source, sink = _move_channel_off_stdio()
    process.make_undumpable()
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    write = lambda data: os.write(sink, data)  # noqa: E731
    supervisor = Supervisor(settings, lambda: wire.send_parcel(write, {"slow": True}))
    wire.send_parcel(
        write,
        {
            "ready": VERSION,
            "python": platform.python_version(),
            "isolation": supervisor.isolation.name,
            "oom_counter": supervisor.counts_oom,
        },
    )
    read = lambda count: os.read(source, count)  # noqa: E731
    while select.select([source], [], [], LEASE_SECONDS)[0]:
        try:
            job = wire.receive_parcel(read)
        except wire.ClosedError:
            break
        try:
            answer = supervisor.handle(job)
        except Exception as error:
            wire.send_parcel(write, {"id": job["id"], "damaged": f"{type(error).__name__}: {error}"})
            break
        if supervisor.retirement_reason:
            wire.send_parcel(write, answer | {"retired": supervisor.retirement_reason})
            break
        wire.send_parcel(write, answer)
    os._exit(0)


if __name__ == "__main__":
    main()
