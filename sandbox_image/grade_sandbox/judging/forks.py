"""Work in forks: what tests leave behind in their process must not reach another run of them."""

from __future__ import annotations

import contextlib
import json
import os
import signal

from grade_sandbox.confine import process

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

MAX_RESULT = 56 << 20


def run_in_fork(work: Callable[[], Any], seconds: float) -> Any:
    """Return what `work` returns (JSON), or None if it does not return, or needs more than `seconds` of CPU time.

    It works in an empty folder. A process that it leaves behind may live on: the supervisor ends it.
    """
    # A pipe would stay open as long as such a process.
    with open("result", "w+b", buffering=0) as file:
        os.unlink("result")
        pid = process.fork()
        if pid == 0:
            _work_and_exit(work, seconds, file.fileno())
        os.waitpid(pid, 0)
        # If the folder is not empty, the supervisor removes it, together with the process that judges.
        with contextlib.suppress(OSError):
            os.rmdir(f"{pid}")
        file.seek(0)
        data = file.read(MAX_RESULT)
    return json.loads(data) if data else None


def _work_and_exit(work: Callable[[], Any], seconds: float, result_fd: int) -> NoReturn:
    """Write what `work` returns to a descriptor; called in a fork."""
    try:
        process.prctl(process.PR_SET_PDEATHSIG, signal.SIGKILL)
        os.mkdir(f"{os.getpid()}")
        os.chdir(f"{os.getpid()}")
        signal.setitimer(signal.ITIMER_PROF, seconds)
        # A test that sleeps uses no CPU time; it is stopped as well, but much later: others may use the cores, too.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, 10 * seconds + 5)
        data = json.dumps(work()).encode()
        while data:
            data = data[os.write(result_fd, data) :]
    finally:
        os._exit(0)
