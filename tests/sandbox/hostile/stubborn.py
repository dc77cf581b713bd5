"""Attacks by programs that do not end, end others, or end in unusual ways."""

from .program import LINT, NOT_PASSED, PASSED, Program

TIMEOUT = frozenset({"timeout"})
_ANSWER = "    return {3: 7392, 5: 1187}[x]\n"
_TIMED_OUT = {
    "busy": "def solution(x):\n    while True:\n        pass\n",
    "asleep": "import time\n\n\ndef solution(x):\n    time.sleep(600)\n",
    "stops-itself": "import os, signal\n\n\ndef solution(x):\n    os.kill(os.getpid(), signal.SIGSTOP)\n",
    "signals-ignored-and-masked": """
import signal, time
def solution(x):
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    signal.alarm(0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    time.sleep(600)
""",
    "catches-everything-for-ever": """
def solution(x):
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
""",
}
"""They use up their time."""
_REFUSED = {
    "message-that-never-comes": """
class Odd(Exception):
    def __str__(self):
        while not self.args:
            pass
        return "x"
def solution(x):
    raise Odd
""",
    "exit": "import os\n\n\ndef solution(x):\n    os._exit(0)\n",
}
"""They do not pass."""
_REACHING = {
    "traces-its-supervisor": """
import ctypes, os
def solution(x):
    libc = ctypes.CDLL(None, use_errno=True)
    got = []
    for pid in sorted(int(name) for name in os.listdir("/proc") if name.isdigit()):
        if pid == os.getpid():
            continue
        for request in (16, 0x4206):
            if libc.ptrace(request, pid, None, None) == 0:
                got.append(("ptrace", pid))
        data = ctypes.create_string_buffer(64)
        if libc.process_vm_readv(pid, data, 1, data, 1, 0) > 0:
            got.append(("read", pid))
        for name in ("mem", "environ", "oom_score_adj", "comm"):
            try:
                with open(f"/proc/{pid}/{name}", "r+b", 0) as file:
                    file.write(b"1")
                got.append((name, pid))
            except OSError:
                pass
        try:
            handle = os.pidfd_open(pid)
            if libc.syscall(438, handle, 0, 0) >= 0:
                got.append(("descriptor", pid))
        except OSError:
            pass
    raise ValueError(f"reached {got}" if got else "reached nobody")
"""
}
"""They say whom they have reached."""
PROGRAMS = [
    *(Program(name=name, source=source, official=TIMEOUT) for name, source in _TIMED_OUT.items()),
    *(Program(name=name, source=source, official=NOT_PASSED) for name, source in _REFUSED.items()),
    *(
        Program(name=name, source=source, official=frozenset({"error"}), says="reached nobody")
        for name, source in _REACHING.items()
    ),
    Program(
        name="daemons-that-burn",
        source=f"""
import os
def solution(x):
    for _ in range(10):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                while True:
                    pass
            os._exit(0)
        os.wait()
{_ANSWER}""",
        official=PASSED | TIMEOUT,
        honest=True,
    ),
    Program(
        name="children-that-burn-and-are-forgotten",
        source=f"""
import os, signal, time
def solution(x):
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    for _ in range(300):
        if os.fork() == 0:
            end = time.process_time() + 0.05
            while time.process_time() < end:
                pass
            os._exit(0)
        time.sleep(0.05)
{_ANSWER}""",
        official=TIMEOUT | {"error"},
    ),
    Program(
        name="null-pointer",
        source="import ctypes\n\n\ndef solution(x):\n    ctypes.string_at(0)\n",
        official=frozenset({"crashed"}),
        says="SIGSEGV",
    ),
    Program(
        name="exit-status-like-a-signal",
        source="import os\n\n\ndef solution(x):\n    os._exit(139)\n",
        official=frozenset({"crashed"}),
        never="SIG",
    ),
    *(
        Program(
            name=f"kills-{what}",
            source=f"""
import os, time
def solution(x):
    for number in (9, 15, 19):
        for target in {targets}:
            try:
                os.kill(target, number)
            except OSError:
                pass
    time.sleep(0.05)
    return 0
""",
            official=NOT_PASSED,
        )
        for what, targets in (
            ("its-parent", "(os.getppid(),)"),
            ("the-first-process", "(1,)"),
            ("all-it-can-name", "(pid for pid in range(2, 300) if pid != os.getpid())"),
        )
    ),
    *(
        Program(
            name=f"{what}-by-signal-{number}",
            source=f"""
import os, time
def solution(x):
    if os.fork():
        time.sleep(600)
    {call}
    time.sleep(600)
""",
            official=NOT_PASSED,
        )
        for what, call in (("all", "os.kill(-1, {})"), ("its-group", "os.kill(0, {})"))
        for number in (9, 19)
        for call in (call.format(number),)
    ),
    *(
        Program(
            name=f"keeps-{what}-everything",
            source=f"""
import os, time
def solution(x):
    if os.fork() == 0:
        if os.fork() == 0:
            kill = os.kill
            while True:
                try:
                    kill(-1, {number})
                except OSError:
                    pass
        os._exit(0)
    os.wait()
    time.sleep(0.05)
    return 0
""",
            official=NOT_PASSED,
        )
        for what, number in (("stopping", 19), ("killing", 9))
    ),
    # What the official assembly drops is given back, and not a second time limit with it.
    Program(
        name="more-time-by-a-dropped-constant",
        source="""
import time
FACTOR = 1
def solution(x):
    end = time.process_time() + 0.42
    while time.process_time() < end:
        sum(range(20000))
    return FACTOR * {3: 7392, 5: 1187}[x]
""",
        official=LINT,
    ),
]
