"""Attacks on what lies outside the sandbox: the network, the engine, the file system, the grader's secrets.

`{tcp}` and `{abstract}` stand for a port and a socket name on which the test listens outside.
"""

from .program import Program

_SOURCES = {
    "network": """
import socket
def solution(x):
    got = []
    places = [
        (socket.AF_INET, ("127.0.0.1", {tcp})), (socket.AF_INET, ("169.254.169.254", 80)),
        (socket.AF_INET, ("172.17.0.1", {tcp})), (socket.AF_INET6, ("::1", {tcp})),
        (socket.AF_INET, ("1.1.1.1", 53)), (socket.AF_UNIX, "\\0{abstract}"),
        (socket.AF_UNIX, "/var/run/docker.sock"), (socket.AF_UNIX, "/run/docker.sock"),
        (socket.AF_UNIX, "/run/containerd/containerd.sock"), (socket.AF_UNIX, "/run/dbus/system_bus_socket"),
    ]
    for family, place in places:
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
            try:
                with socket.socket(family, kind) as client:
                    client.settimeout(0.2)
                    client.connect(place)
                    got.append((place, kind))
            except (OSError, ValueError):
                pass
    for family in (16, 17, 38, 40, 44):
        try:
            socket.socket(family, socket.SOCK_RAW).close()
            got.append(family)
        except OSError:
            pass
    try:
        socket.getaddrinfo("example.com", 80)
        got.append("name")
    except OSError:
        pass
    raise ValueError(f"reached {got}" if got else "got nothing")
""",
    "secrets-of-the-grader": """
import glob, os
def solution(x):
    found = [repr(dict(os.environ))]
    paths = ["/proc/cmdline", "/proc/mounts", "/etc/passwd", "/etc/shadow", "/etc/environment"]
    paths += glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline") + glob.glob("/root/.*/*")
    paths += glob.glob("/run/secrets/*") + glob.glob("/home/*/.*") + glob.glob("/opt/grade/*.json")
    for path in paths:
        try:
            with open(path, "rb") as file:
                found.append(repr(file.read(20000)))
        except OSError:
            pass
    text = " ".join(found)
    for word in ("{secret}", "GRADE_SETTINGS", "first_uid", "TOKEN", "API_KEY"):
        # Spelled apart, so that what is found is not this program.
        if word[:-1] + word[-1] in text:
            raise ValueError(f"found {word[:3]}...{word[-3:]}")
    raise ValueError("got nothing")
""",
    "packages-of-the-machine": """
import os
def solution(x):
    found = []
    for base, folders, names in os.walk("/"):
        if base in ("/proc", "/sys", "/opt/grade-site"):
            folders[:] = []
        found += [name for name in folders if name.endswith((".dist-info", ".egg-info")) or name == "grader"]
        found += [name for name in names if name == "tasks.jsonl"]
    raise ValueError(f"found {found[:5]}" if found else "got nothing")
""",
    "files-outside": """
import os
def solution(x):
    got = []
    for folder in ("/", "/var/tmp", "/etc", "/usr", "/usr/local", "/opt/grade", "/opt/grade-site", "/root",
                   "/home", "/dev", "/run", "/sys", "/sys/fs/cgroup", "/proc", "/proc/sys/kernel", "/mnt"):
        path = os.path.join(folder, "grade-hostile-file")
        try:
            with open(path, "w") as file:
                file.write("x")
            got.append(path)
        except OSError:
            pass
    for path in ("/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern", "/proc/sys/vm/drop_caches",
                 "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/cgroup.procs", "/opt/grade/runner.py", "/etc/passwd"):
        try:
            os.close(os.open(path, os.O_WRONLY))
            got.append(path)
        except OSError:
            pass
    raise ValueError(f"wrote {got}" if got else "got nothing")
""",
    "ways-out": """
import ctypes, os
def solution(x):
    libc = ctypes.CDLL(None, use_errno=True)
    got = []
    def attempt(name, result):
        if result >= 0:
            got.append(name)
    for flag in (0x20000, 0x08000000, 0x10000000, 0x20000000, 0x40000000, 0x02000000, 0x04000000, 0x80):
        attempt(f"unshare {flag:x}", libc.unshare(flag))
    attempt("mount", libc.mount(b"tmpfs", b"/tmp", b"tmpfs", 0, None))
    attempt("umount", libc.umount2(b"/dev/shm", 2))
    attempt("chroot", libc.chroot(b"/"))
    attempt("setuid", libc.setuid(0))
    attempt("setgid", libc.setgid(0))
    attempt("setgroups", libc.setgroups(0, None))
    attempt("capset", libc.prctl(47, 2, 0, 0, 0))
    attempt("reboot", libc.reboot(0))
    attempt("sethostname", libc.sethostname(b"x", 1))
    attempt("personality", libc.personality(0x0040000))
    attempt("keyctl", libc.syscall(250, 0, -3, 1))
    attempt("bpf", libc.syscall(321, 0, 0, 0))
    attempt("perf", libc.syscall(298, 0, 0, -1, -1, 0))
    attempt("io_uring", libc.syscall(425, 4, 0))
    attempt("userfaultfd", libc.syscall(323, 0))
    attempt("x32", libc.syscall(0x40000000 + 39))
    attempt("open_by_handle", libc.syscall(304, -100, 0, 0))
    attempt("settime", libc.syscall(164, 0, 0))
    attempt("nice", libc.setpriority(0, 0, -5))
    attempt("affinity", libc.sched_setaffinity(0, 8, ctypes.create_string_buffer(b"\\xff" * 8)))
    for device in ("/dev/mem", "/dev/kmsg", "/dev/sda", "/dev/vda", "/dev/loop0", "/dev/fuse", "/dev/kvm"):
        if os.path.exists(device):
            got.append(device)
    status = open("/proc/self/status").read()
    if "CapEff:\\t0000000000000000" not in status or "NoNewPrivs:\\t1" not in status or "Seccomp:\\t2" not in status:
        got.append("privileges")
    raise ValueError(f"opened {got}" if got else "got nothing")
""",
    "processes-outside": """
import os
def solution(x):
    names = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/comm") as file:
                names.append(file.read().strip())
        except OSError:
            pass
    strangers = [name for name in names if "python" not in name and name not in ("runner", "cat")]
    raise ValueError(f"sees {strangers}" if strangers or len(names) > 8 else "got nothing")
""",
}
PROGRAMS = [
    Program(name=name, source=source, official=frozenset({"error"}), says="got nothing")
    for name, source in _SOURCES.items()
]
