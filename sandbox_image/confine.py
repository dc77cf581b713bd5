"""What a program is allowed: identity, limits, system calls, and a clean slate after it.

Two ways to make a program another user than its supervisor:

* ``Uids``: the supervisor is root inside its container and may change user; every program gets a uid of its own.
* ``Namespaces``: the supervisor is an ordinary user (rootless bubblewrap); every program gets a user, process, mount
  and IPC namespace of its own, in which the supervisor does not exist.
"""

import contextlib
import ctypes
import errno
import os
import platform
import resource
import shutil
import signal
import stat
import struct
import time

SCRATCH = "/scratch"
SHM = "/dev/shm"
LINT_FOLDER = "lint"
LINTER_SLOT = 9
MAX_FILE_BYTES = 16 << 20
MAX_PROCESSES = 64
MAX_OPEN_FILES = 256

_libc = ctypes.CDLL(None, use_errno=True)

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 1, 4, 22, 38
CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = (
    0x00020000,
    0x08000000,
    0x10000000,
    0x20000000,
    0x40000000,
)
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REC, MS_PRIVATE = 2, 4, 8, 0x4000, 0x40000


def _check(result, what):
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def prctl(option, value):
    """Set a process attribute; raises OSError."""
    _check(_libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0), f"prctl {option}")


def undumpable():
    """Hide this process's memory, descriptors and environment from every other process of the same user."""
    prctl(PR_SET_DUMPABLE, 0)


# --- system calls -----------------------------------------------------------------------------------------------

# Numbers from the kernel's tables (arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic/unistd.h).
_X86_64 = {
    "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "pidfd_getfd": 438, "kcmp": 312,
    "add_key": 248, "request_key": 249, "keyctl": 250,
    "shmget": 29, "shmat": 30, "shmctl": 31, "semget": 64, "semop": 65, "semctl": 66, "semtimedop": 220,
    "msgget": 68, "msgsnd": 69, "msgrcv": 70, "msgctl": 71, "mq_open": 240,
    "memfd_create": 319, "memfd_secret": 447,
    "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161, "move_mount": 429, "open_tree": 428,
    "fsopen": 430, "fsmount": 432, "mount_setattr": 442, "setns": 308, "unshare": 272,
    "bpf": 321, "perf_event_open": 298, "userfaultfd": 323, "io_uring_setup": 425, "io_uring_enter": 426,
    "io_uring_register": 427, "init_module": 175, "finit_module": 313, "delete_module": 176, "kexec_load": 246,
    "kexec_file_load": 320, "reboot": 169, "swapon": 167, "swapoff": 168, "acct": 163, "quotactl": 179,
    "syslog": 103, "personality": 135, "open_by_handle_at": 304, "name_to_handle_at": 303, "fanotify_init": 300,
    "inotify_init1": 294, "settimeofday": 164, "clock_settime": 227, "adjtimex": 159, "vhangup": 153,
    "sched_setaffinity": 203, "sched_setscheduler": 144, "sched_setattr": 314, "setpriority": 141,
}  # fmt: skip
_AARCH64 = {
    "ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271, "pidfd_getfd": 438, "kcmp": 272,
    "add_key": 217, "request_key": 218, "keyctl": 219,
    "shmget": 194, "shmctl": 195, "shmat": 196, "semget": 190, "semctl": 191, "semtimedop": 192, "semop": 193,
    "msgget": 186, "msgctl": 187, "msgrcv": 188, "msgsnd": 189, "mq_open": 180,
    "memfd_create": 279, "memfd_secret": 447,
    "mount": 40, "umount2": 39, "pivot_root": 41, "chroot": 51, "move_mount": 429, "open_tree": 428,
    "fsopen": 430, "fsmount": 432, "mount_setattr": 442, "setns": 268, "unshare": 97,
    "bpf": 280, "perf_event_open": 241, "userfaultfd": 282, "io_uring_setup": 425, "io_uring_enter": 426,
    "io_uring_register": 427, "init_module": 105, "finit_module": 273, "delete_module": 106, "kexec_load": 104,
    "kexec_file_load": 294, "reboot": 142, "swapon": 224, "swapoff": 225, "acct": 89, "quotactl": 60,
    "syslog": 116, "personality": 92, "open_by_handle_at": 265, "name_to_handle_at": 264, "fanotify_init": 262,
    "inotify_init1": 26, "settimeofday": 170, "clock_settime": 112, "adjtimex": 171, "vhangup": 58,
    "sched_setaffinity": 122, "sched_setscheduler": 119, "sched_setattr": 274, "setpriority": 140,
}  # fmt: skip
_ARCH = {
    # machine: (audit architecture, refused calls, clone, clone3, socket, prctl)
    "x86_64": (0xC000003E, _X86_64, 56, 435, 41),
    "aarch64": (0xC00000B7, _AARCH64, 220, 435, 198),
}
_LD, _JEQ, _JGE, _JSET, _RET = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NAMESPACE_FLAGS = 0x7E020080
_AF_UNIX = 1


def seccomp_program(machine):
    """Return the BPF program (bytes) that refuses dangerous calls with EPERM, or None for an unknown machine.

    Layout of its input: struct seccomp_data of linux/seccomp.h (nr at 0, arch at 4, args from 16).
    """
    if machine not in _ARCH:
        return None
    arch, refused, clone, clone3, socket = _ARCH[machine]
    eperm, enosys = _ERRNO | errno.EPERM, _ERRNO | errno.ENOSYS
    code = [
        (_LD, 0, 0, 4),
        (_JEQ, 1, 0, arch),
        (_RET, 0, 0, _KILL),
        (_LD, 0, 0, 0),
        # The x32 calls of x86-64 would be a second door to everything refused below.
        (_JGE, 0, 1, 0x40000000),
        (_RET, 0, 0, eperm),
        # clone3 hides its flags behind a pointer; without it the C library uses clone.
        (_JEQ, 0, 1, clone3),
        (_RET, 0, 0, enosys),
        (_JEQ, 0, 4, clone),
        (_LD, 0, 0, 16),
        (_JSET, 0, 1, _NAMESPACE_FLAGS),
        (_RET, 0, 0, eperm),
        (_RET, 0, 0, _ALLOW),
        (_JEQ, 0, 4, socket),
        (_LD, 0, 0, 16),
        (_JEQ, 0, 1, _AF_UNIX),
        (_RET, 0, 0, _ALLOW),
        (_RET, 0, 0, eperm),
    ]
    for number in sorted(set(refused.values())):
        code += [(_JEQ, 0, 1, number), (_RET, 0, 0, eperm)]
    code.append((_RET, 0, 0, _ALLOW))
    return b"".join(struct.pack("HBBI", *line) for line in code)


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))


SECCOMP = seccomp_program(platform.machine())


def refuse_system_calls():
    """Install the filter on this process and all it will start; needs no privilege after no_new_privs."""
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    if SECCOMP is None:
        raise OSError(errno.ENOSYS, f"no system call filter for {platform.machine()}")
    program = _Filter(len(SECCOMP) // 8, SECCOMP)
    _check(_libc.prctl(PR_SET_SECCOMP, 2, ctypes.byref(program), 0, 0), "seccomp")


# --- limits -----------------------------------------------------------------------------------------------------


def limit_resources(*, memory_bytes, address_space):
    """Set the hard limits every program has; the supervisor's own watch is tighter than these."""
    limits = [
        (resource.RLIMIT_FSIZE, MAX_FILE_BYTES),
        (resource.RLIMIT_NPROC, MAX_PROCESSES),
        (resource.RLIMIT_NOFILE, MAX_OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MEMLOCK, 64 << 10),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_SIGPENDING, 1024),
    ]
    if address_space:
        # Between two looks of the watch a program can grow; this is what it can never pass.
        limits.append((resource.RLIMIT_AS, 2 * memory_bytes + (1 << 30)))
    for which, wanted in limits:
        _, hard = resource.getrlimit(which)
        value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(which, (value, value))


def limit_cpu(seconds):
    """Let the kernel end this process some seconds after the watch should have."""
    bound = int(4 * seconds) + 3
    resource.setrlimit(resource.RLIMIT_CPU, (bound, bound))


def restrict(*, memory_bytes, address_space):
    """Take from this process, and all it will start, what no program may have. There is no way back."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGCHLD, signal.SIGUSR1):
        signal.signal(number, signal.SIG_DFL)
    prefer_for_oom()
    silence_standard_streams()
    os.umask(0o077)
    limit_resources(memory_bytes=memory_bytes, address_space=address_space)
    refuse_system_calls()


def prefer_for_oom():
    """Make the kernel's out-of-memory killer choose this process before its supervisor."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def close_all_but(keep):
    """Close every descriptor from 3 up that is not in `keep`."""
    previous = 2
    for fd in sorted(keep):
        os.closerange(previous + 1, fd)
        previous = fd
    os.closerange(previous + 1, 1 << 20)


def silence_standard_streams():
    """Point the standard descriptors to nowhere."""
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    if null > 2:
        os.close(null)


def _enter_scratch(path):
    os.mkdir(path, 0o700)
    os.chdir(path)
    os.environ["HOME"] = os.environ["TMPDIR"] = path


def _left(linter_uid):
    """Names in the writable places, but for the linter's own folder."""
    names = os.listdir(SHM)
    for name in os.listdir(SCRATCH):
        with contextlib.suppress(OSError):
            if name == LINT_FOLDER and os.lstat(f"{SCRATCH}/{name}").st_uid == linter_uid:
                continue
        names.append(name)
    return names


class Uids:
    """Programs are separated from the supervisor, and from each other, by user id."""

    name = "uid"

    def __init__(self, first_uid, memory_bytes):
        self.first_uid = first_uid
        self.memory_bytes = memory_bytes

    def prepare(self):
        """Restrict the zygote itself: it changes user and forks, nothing more, and its forks inherit the rest."""
        os.setgroups([])
        restrict(memory_bytes=self.memory_bytes, address_space=False)

    def start(self, slot, body):
        """Fork a process that becomes program number `slot` of this moment and calls `body()`; return its pid."""
        pid = os.fork()
        if pid == 0:
            _run_body(lambda: self._become(slot), body)
        return pid

    def _become(self, slot):
        # The change of user also makes the process undumpable: its memory is closed to all others.
        uid = self.first_uid + slot
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
        _enter_scratch(f"{SCRATCH}/{uid}")

    def clean(self, slots):
        """Remove the files that programs in `slots` left. Returns False where something stays."""
        for slot in slots:
            self._remove_scratch(slot)
        linter_uid = self.first_uid + LINTER_SLOT
        if _left(linter_uid):
            for slot in slots:
                self._as_user(self.first_uid + slot, lambda: (_empty(SCRATCH), _empty(SHM)))
                self._remove_scratch(slot)
        return not _left(linter_uid)

    def _remove_scratch(self, slot):
        # An empty directory is the ordinary case; what is in one may need its owner's own uid.
        with contextlib.suppress(OSError):
            os.rmdir(f"{SCRATCH}/{self.first_uid + slot}")

    def kill_all(self, slots, strangers):
        """Kill every process of these slots. kill(-1) as that user cannot miss a process that is forking."""
        # One by one first: a program that keeps stopping all of its user's processes would stop the next step too.
        for pid in strangers:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        for slot in slots:
            self._as_user(self.first_uid + slot, lambda: os.kill(-1, signal.SIGKILL))

    @staticmethod
    def _as_user(uid, action):
        pid = os.fork()
        if pid == 0:
            with contextlib.suppress(BaseException):
                os.setgroups([])
                os.setresgid(uid, uid, uid)
                os.setresuid(uid, uid, uid)
                resource.setrlimit(resource.RLIMIT_CPU, (5, 5))
                action()
            os._exit(0)
        # As that user it can be stopped or killed by what it is to remove: it is waited for, not trusted to end.
        deadline = time.monotonic() + 6
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(pid, os.WNOHANG | os.WUNTRACED) == (0, 0) and time.monotonic() < deadline:
                time.sleep(0.0005)
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


class Namespaces:
    """Programs are separated by namespaces; all it needs is that an ordinary user may create them."""

    name = "namespaces"

    def __init__(self, memory_bytes):
        self.memory_bytes = memory_bytes
        self.scratch_bytes = min(memory_bytes // 4, 64 << 20)
        self.uid, self.gid = os.getuid(), os.getgid()

    def prepare(self):
        """Nothing: a zygote that makes namespaces needs the calls that programs are refused."""

    def start(self, slot, body):
        """As `Uids.start`; the pid is that of the namespace's first process, which reports the program's end."""
        flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWPID | CLONE_NEWNET | signal.SIGCHLD
        number = {"x86_64": 56, "aarch64": 220}[platform.machine()]
        pid = _check(_libc.syscall(number, ctypes.c_ulong(flags), 0, 0, 0, 0), "clone")
        if pid == 0:
            self._first_process(slot, body)
        return pid

    def _first_process(self, slot, body):
        status = 125
        with contextlib.suppress(BaseException):
            prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            os.setsid()
            # The files of an undumpable process in /proc belong to root: its user could not be mapped.
            prctl(PR_SET_DUMPABLE, 1)
            self._map_user(1000 + slot)
            self._mount()
            undumpable()
            program = os.fork()
            if program == 0:
                _run_body(self._become, body)
            status = _wait_as_init(program)
        os._exit(status)

    def _map_user(self, inside):
        for path, text in (
            ("/proc/self/setgroups", "deny"),
            ("/proc/self/uid_map", f"{inside} {self.uid} 1"),
            ("/proc/self/gid_map", f"{inside} {self.gid} 1"),
        ):
            with open(path, "w") as file:
                file.write(text)

    def _mount(self):
        _mount(None, "/", None, MS_REC | MS_PRIVATE, None)
        options = f"size={self.scratch_bytes},nr_inodes=4096,mode=0700"
        for target in (SCRATCH, SHM):
            _mount("tmpfs", target, "tmpfs", MS_NOSUID | MS_NODEV, options)
        try:
            _mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, None)
        except OSError:
            # Where the outer /proc is partly hidden a new one may not be mounted; none is safer than the outer one.
            _mount("tmpfs", "/proc", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=4k,mode=0555")

    def _become(self):
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        _drop_capabilities()
        # There is no memory cgroup of ours here: the address space is bounded instead.
        restrict(memory_bytes=self.memory_bytes, address_space=True)
        _enter_scratch(f"{SCRATCH}/program")

    def clean(self, slots):
        """Nothing can stay: files, shared memory and processes went with their namespaces."""
        return True

    def kill_all(self, slots, strangers):
        """Kill the first process of each namespace, and with it all the others."""
        for pid in strangers:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def _mount(source, target, kind, flags, options):
    encode = lambda text: text.encode() if text is not None else None  # noqa: E731
    _check(
        _libc.mount(encode(source), encode(target), encode(kind), ctypes.c_ulong(flags), encode(options)),
        f"mount {target}",
    )


def _drop_capabilities():
    """Empty the bounding, permitted, effective and inheritable sets."""
    for capability in range(64):
        if _libc.prctl(24, ctypes.c_ulong(capability), 0, 0, 0) < 0:  # PR_CAPBSET_DROP
            break
    header = struct.pack("Ii", 0x20080522, 0)
    _check(_libc.capset(header, struct.pack("6I", *[0] * 6)), "capset")


def _wait_as_init(program):
    """Reap until `program` ends; return its status as one byte: exit code below 128, or 128 + signal."""
    while True:
        pid, status = os.wait()
        if pid == program:
            code = os.waitstatus_to_exitcode(status)
            return 128 - code if code < 0 else min(code, 127)


def _run_body(become, body):
    """Turn a fresh fork into the program; never returns."""
    try:
        # Its own session: a signal to its process group must not reach the zygote.
        os.setsid()
        become()
        body()
    finally:
        os._exit(126)


def _empty(directory):
    """Remove all inside `directory` that this user may remove, permissions and depth notwithstanding."""

    def open_up(function, path, _error):
        with contextlib.suppress(OSError):
            os.chmod(os.path.dirname(path), stat.S_IRWXU)
            if os.path.isdir(path) and not os.path.islink(path):
                os.chmod(path, stat.S_IRWXU)
                shutil.rmtree(path, ignore_errors=True)
            else:
                function(path)

    for entry in os.scandir(directory):
        with contextlib.suppress(OSError, RecursionError):
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, onerror=open_up)
            else:
                os.unlink(entry.path)
