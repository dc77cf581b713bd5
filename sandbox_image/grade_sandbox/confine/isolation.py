"""Run a program as another user than its supervisor, and clean up after it.

There are two ways:

* ``Uids``: the supervisor is root inside its container and can change user; every program gets its own uid.
* ``Namespaces``: the supervisor is an ordinary user (rootless bubblewrap). Every program gets its own user, process,
  mount and IPC namespaces, in which the supervisor does not exist.

A slot numbers what can run beside the supervisor: an official run, a candidate, the tests, the linter. Each has a user
id of its own, which is the first one plus the slot.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import resource
import shutil
import signal
import stat
import struct
import time

from grade_sandbox.confine import process

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from typing import NoReturn

SCRATCH = "/scratch"
SHM = "/dev/shm"
LINTER_SLOT = 9
"""The linter may stay when the programs of other slots have ended."""
ENDED = 126
"""The exit code of a process that has come to its end by itself."""
_INIT_FAILED = 125
"""The exit code of a namespace's first process that could not start the program."""
CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 1 << 17, 1 << 27, 1 << 28, 1 << 29, 1 << 30
PR_CAPBSET_DROP, LINUX_CAPABILITY_VERSION_3, MAX_CAPABILITIES = 24, 0x20080522, 64
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REC, MS_PRIVATE = 2, 4, 8, 0x4000, 0x40000


def choose_isolation(memory_bytes: int, first_uid: int) -> Uids | Namespaces:
    """Return the isolation that this supervisor can use: by user ids if it is root, else by namespaces."""
    return Uids(first_uid, memory_bytes) if os.getuid() == 0 else Namespaces(memory_bytes)


def _enter_scratch(path: str) -> None:
    os.mkdir(path, 0o700)
    os.chdir(path)
    os.environ["HOME"] = os.environ["TMPDIR"] = path


class Uids:
    """Separates programs from the supervisor, and from each other, by user id."""

    name = "uid"

    def __init__(self, first_uid: int, memory_bytes: int) -> None:
        self.first_uid = first_uid
        self.memory_bytes = memory_bytes

    def prepare(self) -> None:
        """Restrict the zygote itself. It only changes user and forks, and its forks inherit the restrictions."""
        os.setgroups([])
        process.restrict(memory_bytes=self.memory_bytes, limits_address_space=False)

    def start(self, slot: int, body: Callable[[], object]) -> int:
        """Fork a process that becomes the program in slot `slot` and calls `body()`; return its pid."""
        pid = process.fork()
        if pid == 0:
            process.prefer_for_oom()
            _run_body_and_exit(lambda: self._become(slot), body)
        return pid

    def _become(self, slot: int) -> None:
        # The change of user also makes the process undumpable, so no other process can read its memory.
        uid = self.first_uid + slot
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
        _enter_scratch(f"{SCRATCH}/{uid}")

    def clean(self, slots: Collection[int]) -> bool:
        """Remove the files left by programs in `slots`; return False if some remain."""
        for slot in slots:
            self._remove_scratch(slot)
        if not self._remaining_names(slots):
            return True
        # Most programs leave nothing. For the others, this takes a process with the program's own user id.
        for slot in slots:
            self._as_user(self.first_uid + slot, lambda: remove_contents(SCRATCH, SHM))
            self._remove_scratch(slot)
        return not self._remaining_names(slots)

    def _remaining_names(self, slots: Collection[int]) -> list[str]:
        """Return the names in the writable folders, except the folder of a linter that is not among `slots`."""
        names = os.listdir(SHM)
        linter = self.first_uid + LINTER_SLOT
        for name in os.listdir(SCRATCH):
            with contextlib.suppress(OSError):
                is_of_linter = name == str(linter) and os.lstat(f"{SCRATCH}/{name}").st_uid == linter
                if is_of_linter and LINTER_SLOT not in slots:
                    continue
            names.append(name)
        return names

    def _remove_scratch(self, slot: int) -> None:
        # The directory is usually empty; removing its contents may need the owner's uid.
        with contextlib.suppress(OSError):
            os.rmdir(f"{SCRATCH}/{self.first_uid + slot}")

    def kill_all(self, slots: Iterable[int], unknown_pids: Iterable[int]) -> None:
        """Kill every process of these slots. kill(-1) as that user cannot miss a process that is forking."""
        # Kill them one by one first: a program that keeps stopping its user's processes would also stop the next step.
        _kill(unknown_pids)
        for slot in slots:
            self._as_user(self.first_uid + slot, lambda: os.kill(-1, signal.SIGKILL))

    @staticmethod
    def _as_user(uid: int, action: Callable[[], object]) -> None:
        """Do something in a child with this user id; return when the child has ended, or was killed after 6 s."""
        pid = os.fork()
        if pid == 0:
            with contextlib.suppress(BaseException):
                os.setgroups([])
                os.setresgid(uid, uid, uid)
                os.setresuid(uid, uid, uid)
                resource.setrlimit(resource.RLIMIT_CPU, (5, 5))
                action()
            os._exit(0)
        # As that user, this process can be stopped or killed by the ones it removes, so do not rely on it to end.
        deadline = time.monotonic() + 6
        # If it has ended by itself, this loop has reaped it, and there is no child left to kill and to wait for.
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(pid, os.WNOHANG | os.WUNTRACED) == (0, 0) and time.monotonic() < deadline:
                time.sleep(0.0005)
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


class Namespaces:
    """Separates programs by namespaces; it only needs an ordinary user who may create them."""

    name = "namespaces"

    def __init__(self, memory_bytes: int) -> None:
        self.memory_bytes = memory_bytes
        self.scratch_bytes = min(memory_bytes // 4, 64 << 20)
        self.uid, self.gid = os.getuid(), os.getgid()

    def prepare(self) -> None:
        """Do nothing: a zygote that creates namespaces needs the system calls that programs are refused."""

    def start(self, slot: int, body: Callable[[], object]) -> int:
        """Like `Uids.start`; the pid is that of the namespace's first process, which reports the program's end."""
        flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWPID | CLONE_NEWNET | signal.SIGCHLD
        clone_call = {"x86_64": 56, "aarch64": 220}[platform.machine()]
        pid = process.check(process.libc.syscall(clone_call, ctypes.c_ulong(flags), 0, 0, 0, 0), "clone")
        if pid == 0:
            self._run_init_and_exit(slot, body)
        return pid

    def _run_init_and_exit(self, slot: int, body: Callable[[], object]) -> NoReturn:
        """Be the namespace's first process: start the program, and end with a status that tells how it ended."""
        status = _INIT_FAILED
        with contextlib.suppress(BaseException):
            process.prctl(process.PR_SET_PDEATHSIG, signal.SIGKILL)
            os.setsid()
            # The /proc files of an undumpable process belong to root, so its user could not be mapped.
            process.prctl(process.PR_SET_DUMPABLE, 1)
            process.prefer_for_oom()
            # Inside, each slot is an ordinary user of its own.
            self._map_user(1000 + slot)
            self._mount_folders()
            process.make_undumpable()
            program = process.fork()
            if program == 0:
                _run_body_and_exit(self._become, body)
            status = _wait_as_init(program)
        os._exit(status)

    def _map_user(self, inside: int) -> None:
        for path, text in (
            ("/proc/self/setgroups", "deny"),
            ("/proc/self/uid_map", f"{inside} {self.uid} 1"),
            ("/proc/self/gid_map", f"{inside} {self.gid} 1"),
        ):
            with open(path, "w") as file:
                file.write(text)

    def _mount_folders(self) -> None:
        # What is mounted here must not appear outside.
        _mount(None, "/", None, MS_REC | MS_PRIVATE, None)
        options = f"size={self.scratch_bytes},nr_inodes=4096,mode=0700"
        for target in (SCRATCH, SHM):
            _mount("tmpfs", target, "tmpfs", MS_NOSUID | MS_NODEV, options)
        try:
            _mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, None)
        except OSError:
            # If the outer /proc is partly hidden, a new one may not be mounted. No /proc is safer than the outer one.
            _mount("tmpfs", "/proc", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=4k,mode=0555")

    def _become(self) -> None:
        process.prctl(process.PR_SET_PDEATHSIG, signal.SIGKILL)
        _drop_capabilities()
        # There is no memory cgroup here, so the address space is limited instead.
        process.restrict(memory_bytes=self.memory_bytes, limits_address_space=True)
        _enter_scratch(f"{SCRATCH}/program")

    def clean(self, slots: Collection[int]) -> bool:
        """Return True: files, shared memory and processes have ended with their namespaces."""
        return True

    def kill_all(self, slots: Iterable[int], unknown_pids: Iterable[int]) -> None:
        """Kill the first process of each namespace, which ends all others in it."""
        _kill(unknown_pids)


def _kill(pids: Iterable[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def _mount(source: str | None, target: str, kind: str | None, flags: int, options: str | None) -> None:
    def encode(text: str | None) -> bytes | None:
        return text.encode() if text is not None else None

    process.check(
        process.libc.mount(encode(source), encode(target), encode(kind), ctypes.c_ulong(flags), encode(options)),
        f"mount {target}",
    )


def _drop_capabilities() -> None:
    """Empty the bounding, permitted, effective and inheritable capability sets."""
    for capability in range(MAX_CAPABILITIES):
        if process.libc.prctl(PR_CAPBSET_DROP, ctypes.c_ulong(capability), 0, 0, 0) < 0:
            break  # The kernel has no more.
    this_process = struct.pack("Ii", LINUX_CAPABILITY_VERSION_3, 0)
    no_capabilities = struct.pack("6I", *[0] * 6)
    process.check(process.libc.capset(this_process, no_capabilities), "capset")


def _wait_as_init(program: int) -> int:
    """Reap until `program` ends; return its end as one exit code: its own (127 for any above), or 128 + its signal."""
    while True:
        pid, status = os.wait()
        if pid == program:
            code = os.waitstatus_to_exitcode(status)
            return 128 - code if code < 0 else min(code, 127)


def _run_body_and_exit(become: Callable[[], object], body: Callable[[], object]) -> NoReturn:
    """Turn a new fork into the program."""
    try:
        # It gets its own session, so a signal to its process group does not reach the zygote.
        os.setsid()
        become()
        body()
    finally:
        os._exit(ENDED)


def remove_contents(*directories: str) -> None:
    """Remove everything in these folders that this user can remove, whatever its permissions and depth."""

    def chmod_and_retry(function: Callable[[str], object], path: str, _error: object) -> None:
        with contextlib.suppress(OSError):
            os.chmod(os.path.dirname(path), stat.S_IRWXU)
            if os.path.isdir(path) and not os.path.islink(path):
                os.chmod(path, stat.S_IRWXU)
                shutil.rmtree(path, ignore_errors=True)
            else:
                function(path)

    for entry in (entry for directory in directories for entry in os.scandir(directory)):
        with contextlib.suppress(OSError, RecursionError):
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, onerror=chmod_and_retry)
            else:
                os.unlink(entry.path)
