"""The restrictions on a program: limits, system calls, descriptors, streams."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import functools
import io
import os
import platform
import random
import resource
import signal
import struct
import sys
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import NoReturn

    _Instruction = tuple[int, int, int, int]
    """(operation, how many to skip if it holds, how many if not, operand)."""

FILE = "main.py"
"""The name of a program's file, which `__file__` tells it; there is no such file."""
MAX_FILE_BYTES = 16 << 20
MAX_PROCESSES = 64
MAX_OPEN_FILES = 256
MAX_SWALLOWED = 1 << 20
"""Characters after which a swallowing stream keeps no more."""

libc = ctypes.CDLL(None, use_errno=True)
# Calls the C library without releasing the interpreter's lock, so a fork leaves the lock in a consistent state.
_libc_locked = ctypes.PyDLL(None, use_errno=True)

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 4, 22, 36, 38


def check(result: int, what: str) -> int:
    """Return a system call's result; raises OSError with `what` if it failed."""
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def prctl(option: int, value: int) -> None:
    """Set a process attribute; raises OSError."""
    check(libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0), f"prctl {option}")


def make_undumpable() -> None:
    """Hide this process's memory, descriptors and environment from every other process of the same user."""
    prctl(PR_SET_DUMPABLE, 0)


def fork() -> int:
    """Fork like `os.fork`, but without Python's handling of threads in the child; raises OSError.

    That handling touches two hundred pages and costs as much as the rest of the fork. It is not needed, because the
    processes that fork programs have only one thread, so no other thread holds a lock. The parts that a program could
    notice are done here: the main thread's number, and random numbers that differ between programs.
    """
    pid = check(_libc_locked.fork(), "fork")
    if pid == 0:
        threading.main_thread()._set_native_id()  # type: ignore[attr-defined]
        random.seed()
    return pid


# --- system calls -----------------------------------------------------------------------------------------------

# Numbers from the kernel's tables (arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic/unistd.h).
_REFUSED_CALLS: dict[str, tuple[int, int | None]] = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "pidfd_getfd": (438, 438),
    "kcmp": (312, 272), "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219), "shmget": (29, 194),
    "shmat": (30, 196), "shmctl": (31, 195), "semget": (64, 190), "semop": (65, 193), "semctl": (66, 191),
    "semtimedop": (220, 192), "msgget": (68, 186), "msgsnd": (69, 189), "msgrcv": (70, 188), "msgctl": (71, 187),
    "mq_open": (240, 180), "memfd_create": (319, 279), "memfd_secret": (447, 447), "mount": (165, 40),
    "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "move_mount": (429, 429),
    "open_tree": (428, 428), "fsopen": (430, 430), "fsmount": (432, 432), "mount_setattr": (442, 442),
    "setns": (308, 268), "unshare": (272, 97), "bpf": (321, 280), "perf_event_open": (298, 241),
    "userfaultfd": (323, 282), "io_uring_setup": (425, 425), "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "kexec_load": (246, 104), "kexec_file_load": (320, 294), "reboot": (169, 142),
    "swapon": (167, 224), "swapoff": (168, 225), "acct": (163, 89), "quotactl": (179, 60), "syslog": (103, 116),
    "personality": (135, 92), "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264),
    "fanotify_init": (300, 262), "inotify_init1": (294, 26), "settimeofday": (164, 170), "clock_settime": (227, 112),
    "adjtimex": (159, 171), "vhangup": (153, 58), "sched_setaffinity": (203, 122), "sched_setscheduler": (144, 119),
    "sched_setattr": (314, 274), "setpriority": (141, 140),
    # A program could leave or read traces in the page cache of files that all sandboxes share, so it may not use these.
    "fadvise64": (221, 223), "readahead": (187, 213), "mincore": (27, 232), "cachestat": (451, 451),
    "preadv2": (327, 286),
    # The same holds for watches on them. A pidfd's number counts the processes of the whole machine.
    "inotify_init": (253, None), "pidfd_open": (434, 434),
    # All programs of the machine share one small number of asynchronous requests, also those outside of sandboxes.
    "io_setup": (206, 0),
    # Data in a socket's buffer is memory that no process is charged for, so buffers may not grow. Nor may a pipe hold a
    # page of memory or of a file: with 4 kB of a huge page, it keeps 2 MB that its process has given back.
    "setsockopt": (54, 208), "vmsplice": (278, 75), "splice": (275, 76), "sendfile": (40, 71),
}  # fmt: skip
"""System call -> its number on x86-64 and on ARM; None: the call does not exist there."""
_ARCH = {
    # machine: (audit architecture, column of refused calls, clone, clone3, socket, fcntl, flock, prlimit64)
    "x86_64": (0xC000003E, 0, 56, 435, 41, 72, 73, 302),
    "aarch64": (0xC00000B7, 1, 220, 435, 198, 25, 32, 261),
}
_LD, _JEQ, _JGE, _JSET, _RET = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
# New namespaces, and a pidfd for the child.
_CLONE_FLAGS = 0x7E020080 | 0x1000
# GETLK, SETLK, SETLKW, and the same for open files (OFD). Locks on files that all sandboxes share would be traces, and
# nobody else uses a program's own files. So these calls do nothing and succeed: without locks, SQLite opens no file.
_LOCKS = (5, 6, 7, 36, 37, 38)
# SETLEASE, GETLEASE, NOTIFY.
_FCNTL_REFUSED = (1024, 1025, 1026)
_AF_UNIX = 1


def _if_equal(value: int, *code: _Instruction) -> list[_Instruction]:
    """Return instructions that run `code` if the value loaded last equals `value`, and skip it if not.

    `code` must end with an answer (`_RET`): instructions behind it could not know which value is loaded.
    """
    return [(_JEQ, 0, len(code), value), *code]


def seccomp_program(machine: str) -> bytes | None:
    """Return the BPF program (bytes) that refuses dangerous calls with EPERM; None for an unknown machine.

    Layout of its input: struct seccomp_data of linux/seccomp.h (nr at 0, arch at 4, args from 16). File locks (`flock`,
    and those of `fcntl`) do nothing and succeed, so that programs that use them go on.
    """
    if machine not in _ARCH:
        return None
    arch, column, clone, clone3, socket, fcntl, flock, prlimit = _ARCH[machine]
    allow, success, eperm, enosys = (
        (_RET, 0, 0, answer) for answer in (_ALLOW, _ERRNO, _ERRNO | errno.EPERM, _ERRNO | errno.ENOSYS)
    )
    first_argument, second_argument = (_LD, 0, 0, 16), (_LD, 0, 0, 24)
    fcntl_answers = [(command, success) for command in _LOCKS] + [(command, eperm) for command in _FCNTL_REFUSED]
    fcntl_code = [line for command, answer in fcntl_answers for line in _if_equal(command, answer)]
    code = [
        (_LD, 0, 0, 4),
        (_JEQ, 1, 0, arch),
        (_RET, 0, 0, _KILL),
        (_LD, 0, 0, 0),
        # The x32 calls of x86-64 would be a way around everything refused below.
        (_JGE, 0, 1, 0x40000000),
        eperm,
        # clone3 hides its flags behind a pointer; without it the C library uses clone.
        *_if_equal(clone3, enosys),
        *_if_equal(clone, first_argument, (_JSET, 0, 1, _CLONE_FLAGS), eperm, allow),
        *_if_equal(socket, first_argument, *_if_equal(_AF_UNIX, allow), eperm),
        # A process may change its own limits, and not those of the process that starts it again and again.
        *_if_equal(prlimit, first_argument, *_if_equal(0, allow), eperm),
        *_if_equal(flock, success),
        *_if_equal(fcntl, second_argument, *fcntl_code, allow),
    ]
    for number in sorted(number for numbers in _REFUSED_CALLS.values() if (number := numbers[column]) is not None):
        code += _if_equal(number, eperm)
    return b"".join(struct.pack("HBBI", *line) for line in [*code, allow])


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))


SECCOMP = seccomp_program(platform.machine())


def refuse_system_calls() -> None:
    """Install the filter on this process and its future children; no privilege is needed after no_new_privs."""
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    if SECCOMP is None:
        raise OSError(errno.ENOSYS, f"no system call filter for {platform.machine()}")
    program = _Filter(len(SECCOMP) // 8, SECCOMP)  # 8 bytes an instruction
    check(libc.prctl(PR_SET_SECCOMP, 2, ctypes.byref(program), 0, 0), "seccomp")  # 2: SECCOMP_MODE_FILTER


# --- limits -----------------------------------------------------------------------------------------------------


STACK_BYTES = 120 << 20


def enlarge_stack() -> None:
    """Give the program a larger stack: deep recursion through C, such as `functools.cache`, needs it."""
    _, hard = resource.getrlimit(resource.RLIMIT_STACK)
    soft = STACK_BYTES if hard == resource.RLIM_INFINITY else min(STACK_BYTES, hard)
    resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))


def limit_resources(*, memory_bytes: int, limits_address_space: bool) -> None:
    """Set the hard limits of every program; the supervisor's own watch has tighter limits."""
    limits = [
        (resource.RLIMIT_FSIZE, MAX_FILE_BYTES),
        (resource.RLIMIT_NPROC, MAX_PROCESSES),
        (resource.RLIMIT_NOFILE, MAX_OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MEMLOCK, 64 << 10),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_SIGPENDING, 1024),
    ]
    if limits_address_space:
        # A program can grow between two checks of the watch, but never beyond this. It bounds address space, of which
        # libraries and threads reserve more than they use.
        limits.append((resource.RLIMIT_AS, 2 * memory_bytes + (1 << 30)))
    for resource_number, limit in limits:
        _, hard = resource.getrlimit(resource_number)
        value = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(resource_number, (value, value))


MESSAGE_SECONDS = 33
"""CPU seconds for reading and writing messages, beyond a program's limit. The largest messages need so much."""


def limit_cpu(seconds: float) -> None:
    """Let the kernel end this process, some seconds later than the watch should have ended it.

    The watch's limit is one of user time. A program may spend three times as long in the kernel (`KERNEL_TIMES`).
    """
    bound = int(4 * seconds) + MESSAGE_SECONDS
    resource.setrlimit(resource.RLIMIT_CPU, (bound, bound))


class TimeoutException(Exception):  # noqa: N818 - the official name: a program may print or catch it
    """Raised in a program when its time is up."""


def install_alarm_handler(before: Callable[[], object] = lambda: None) -> None:
    """Let the watch's signal call `before` and raise `TimeoutException`, as the official evaluator's alarm does."""

    def raise_timeout(*_: object) -> None:
        before()
        raise TimeoutException("Timed out!")

    signal.signal(signal.SIGALRM, raise_timeout)


def restrict(*, memory_bytes: int, limits_address_space: bool) -> None:
    """Remove everything that a program may not have, from this process and its children. This cannot be undone."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGCHLD, signal.SIGUSR1):
        signal.signal(number, signal.SIG_DFL)
    silence_standard_streams()
    os.umask(0o077)
    limit_resources(memory_bytes=memory_bytes, limits_address_space=limits_address_space)
    refuse_system_calls()


def seed_generators(run: int = 0) -> None:
    """Seed the random numbers of a program, so that no verdict depends on chance: in each run with others."""
    number = abs(hash("seed")) + run
    random.seed(number)
    if numpy_random := sys.modules.get("numpy.random"):
        numpy_random.seed(number & 0xFFFFFFFF)


def prefer_for_oom() -> None:
    """Make the kernel's out-of-memory killer choose this program rather than its parent processes or its supervisor.

    Call it before the change of user, because an undumpable process cannot write to its own files in /proc.
    """
    with contextlib.suppress(OSError):
        fd = os.open("/proc/self/oom_score_adj", os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(fd, b"1000")
        finally:
            os.close(fd)


def close_all_but(keep: Collection[int]) -> None:
    """Close every descriptor from 3 up that is not in `keep`."""
    previous = 2
    for fd in sorted(keep):
        os.closerange(previous + 1, fd)
        previous = fd
    os.closerange(previous + 1, 1 << 20)


def silence_standard_streams() -> None:
    """Redirect the standard descriptors to /dev/null."""
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    if null > 2:
        os.close(null)


class WriteOnlyStringIO(io.StringIO):
    """Takes any output, keeps only its beginning (which nobody reads), and raises OSError for input."""

    def write(self, text: str) -> int:
        if self.tell() < MAX_SWALLOWED:
            return super().write(text)
        return len(text)

    def read(self, *args: object, **kwargs: object) -> NoReturn:
        raise OSError

    readline = readlines = read

    def readable(self, *args: object, **kwargs: object) -> bool:
        return False


class Streams(WriteOnlyStringIO):
    """Also has what programs take from the streams of a script before they define their functions."""

    @functools.cached_property
    def buffer(self) -> io.BytesIO:
        """A stream of bytes, which nobody reads."""
        return io.BytesIO()

    def read(self, *args: object, **kwargs: object) -> NoReturn:
        raise OSError("the program reads standard input, which this task does not have")

    readline = readlines = read

    def reconfigure(self, **options: object) -> None:
        """Change nothing."""

    def fileno(self) -> int:
        return 1


def swallow_output() -> None:
    """Replace `sys.stdin`, `sys.stdout` and `sys.stderr`, so that output goes nowhere, and reading input fails."""
    sys.stdout = sys.stderr = sys.stdin = WriteOnlyStringIO()
