"""Attacks on what all programs share: processes, memory, files, descriptors, output, and the grader's own patience."""

from .program import NOT_PASSED, PASSED, Program

OUT = frozenset({"out_of_memory"})
_ANSWER = "    return {3: 7392, 5: 1187}[x]\n"
# A fork shares the pages without mapping them in: once the parent lets go, no process has them resident.
_UNMAPPED = """
import ctypes, gc, mmap, os, time
def solution(x):
    for _ in range(58):
        area = mmap.mmap(-1, 28 << 20)
        ctypes.memset(ctypes.addressof(ctypes.c_char.from_buffer(area)), 1, 28 << 20)
        if os.fork() == 0:
            time.sleep(60)
        gc.collect()
        area.close()
    raise ValueError("held more than a gigabyte")
"""

_REFUSED = {
    "memory-without-a-first-thread": """
import ctypes, platform, threading, time
def fill():
    held = []
    while True:
        held.append(b"m" * (16 << 20))
        time.sleep(0.002)
def solution(x):
    threading.Thread(target=fill).start()
    ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[platform.machine()], 0)
""",
    "fork-bomb": """
import os
def solution(x):
    while True:
        try:
            os.fork()
        except OSError:
            pass
""",
    "fork-bomb-that-dies-and-lives": """
import os, signal
def solution(x):
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        try:
            if os.fork():
                os._exit(0)
            os.setsid()
        except OSError:
            pass
""",
    "thread-bomb": """
import threading, time
def solution(x):
    while True:
        try:
            threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        except RuntimeError:
            pass
""",
    "inodes-full-by-many": """
import os, signal, time
def solution(x):
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    for child in range(8):
        if os.fork() == 0:
            for number in range(1 << 30):
                try:
                    os.mkdir(f"/dev/shm/{child}-{number}")
                except OSError:
                    os._exit(0)
    time.sleep(60)
""",
    "folders-nobody-may-enter": """
import os
def solution(x):
    for _ in range(900):
        os.mkdir("d")
        os.chdir("d")
    for _ in range(900):
        os.chmod(".", 0o000)
        try:
            os.chdir("..")
        except OSError:
            break
    os.mkdir("/dev/shm/closed")
    open("/dev/shm/closed/file", "w").close()
    os.chmod("/dev/shm/closed", 0)
    return 0
""",
    "names-of-every-kind": """
import os
def solution(x):
    for folder in (os.getcwd(), "/dev/shm"):
        for name in (b"\\xff\\xfe", b"-rf", b"\\n", b"lint", b"x" * 255, b" ", b"..."):
            os.mkdir(os.path.join(folder.encode(), name))
        os.mkfifo(f"{folder}/fifo")
        os.symlink("/", f"{folder}/link")
        os.link(f"{folder}/fifo", f"{folder}/hard")
        open(f"{folder}/immutable", "w").close()
        os.chmod(f"{folder}/immutable", 0o6777)
    os.setxattr(f"{folder}/immutable", "user.leak", b"x")
    return 0
""",
    "output-flood": """
import os, sys
def solution(x):
    for _ in range(2000):
        print("x" * 100000)
        sys.stderr.write("y" * 100000)
        for fd in (0, 1, 2):
            os.write(fd, b"z" * 65536)
    return 0
""",
    "deep-recursion-in-c": """
import sys
def solution(x):
    sys.setrecursionlimit(1 << 30)
    value = None
    for _ in range(1 << 20):
        value = (value,)
    return hash(value)
""",
}
"""They do not pass."""
_TOO_LARGE = {
    "memory-in-the-heap": """
def solution(x):
    held = []
    while True:
        held.append(bytearray(b"x") * (16 << 20))
""",
    "memory-for-a-moment": f"def solution(x):\n    held = bytearray(1200 << 20)\n    del held\n{_ANSWER}",
}
"""They use more memory than they may."""
_HELD = {
    "page-tables-held": """
import ctypes
import time
def solution(x):
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
    libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    # Reading maps the page of zeros, which is nobody's memory; the tables that say so are 4 KB for every 2 MB.
    size = 200000 << 21
    place = libc.mmap(None, size, 1, 0x4022, -1, 0)
    libc.madvise(place, size, 15)
    view = (ctypes.c_char * size).from_address(place)
    for offset in range(0, size, 2 << 20):
        view[offset]
    time.sleep(0.3)
    raise ValueError("held 800 MB of page tables")
""",
    "huge-pages-in-pipes": """
import ctypes, gc, mmap, os
def solution(x):
    libc, size = ctypes.CDLL(None, use_errno=True), 2 << 20
    for _ in range(40):
        write_end = os.pipe()[1]
        for _ in range(16):
            area = mmap.mmap(-1, 2 * size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            place = (ctypes.addressof(ctypes.c_char.from_buffer(area)) + size - 1) // size * size
            libc.madvise(ctypes.c_void_p(place), ctypes.c_size_t(size), 14)
            ctypes.memset(place, 1, size)
            if libc.vmsplice(write_end, (ctypes.c_size_t * 2)(place, 4096), 1, 0) != 4096:
                raise OSError(ctypes.get_errno(), "a pipe takes no page")
            gc.collect()
            area.close()
    raise ValueError("held more than a gigabyte")
""",
    "huge-pages-of-files-in-pipes": """
import ctypes, mmap, os
def solution(x):
    libc, size = ctypes.CDLL(None, use_errno=True), 2 << 20
    libc.mmap.restype = ctypes.c_void_p
    area = mmap.mmap(-1, 2 * size)
    place = (ctypes.addressof(ctypes.c_char.from_buffer(area)) + size - 1) // size * size
    for _ in range(40):
        write_end = os.pipe()[1]
        for _ in range(16):
            with open("/dev/shm/file", "w+b") as file:
                file.truncate(size)
                libc.mmap(ctypes.c_void_p(place), ctypes.c_size_t(size), 3, 0x11, file.fileno(), ctypes.c_long(0))
                ctypes.memset(place, 1, size)
                libc.madvise(ctypes.c_void_p(place), ctypes.c_size_t(size), 25)
                os.sendfile(write_end, file.fileno(), 0, 4096)
                file.truncate(0)
    raise ValueError("held more than a gigabyte")
""",
    "sockets-of-many-children": """
import os, socket, time
def fill():
    held = []
    while len(held) < 110:
        held.append(socket.socketpair())
        for end in held[-1]:
            end.setblocking(False)
            try:
                while True:
                    end.send(b"x" * 65536)
            except BlockingIOError:
                pass
    time.sleep(60)
def solution(x):
    for _ in range(55):
        if os.fork() == 0:
            fill()
    time.sleep(1)
    raise ValueError("held more than a gigabyte in sockets")
""",
}
"""They hold memory that is in no process's account."""
PROGRAMS = [
    *(Program(name=name, source=source, official=NOT_PASSED) for name, source in _REFUSED.items()),
    *(Program(name=name, source=source, official=OUT | {"error"}) for name, source in _TOO_LARGE.items()),
    *(
        Program(name=name, source=source, official=OUT | {"crashed", "error"}, never="held (800|more)")
        for name, source in _HELD.items()
    ),
    Program(
        name="memory-in-many-children",
        source="""
import os, time
def solution(x):
    for _ in range(40):
        if os.fork() == 0:
            held = bytearray(b"x") * (64 << 20)
            time.sleep(60)
            os._exit(len(held) & 1)
    time.sleep(60)
""",
        official=OUT | {"timeout", "error"},
    ),
    Program(
        name="memory-files",
        source="""
import os
def solution(x):
    held = []
    for _ in range(64):
        fd = os.memfd_create("m")
        held.append(fd)
        for _ in range(16):
            os.write(fd, b"x" * (1 << 20))
    raise ValueError("held a gigabyte")
""",
        official=OUT | {"timeout", "error"},
        never="held a gigabyte",
    ),
    Program(
        name="memory-that-nobody-maps",
        source=_UNMAPPED,
        more=(_UNMAPPED.replace("-1", "-1 + 2 * 0"),),
        official=OUT | {"timeout", "error"},
        never="held more than a gigabyte",
    ),
    Program(
        name="shared-memory-and-disk-full",
        source="""
import os
def solution(x):
    written = 0
    for folder in ("/dev/shm", "/scratch", os.getcwd()):
        for number in range(100):
            try:
                with open(f"{folder}/fill{number}", "wb") as file:
                    while True:
                        file.write(b"x" * (1 << 20))
                        file.flush()
                        written += 1
            except OSError:
                pass
    raise ValueError(f"wrote {written} MB")
""",
        official=NOT_PASSED,
        never=r"wrote \\d{4,}",
    ),
    Program(
        name="message-of-50-mb",  # the official evaluator copies it once; twice 100 MB would be near the limit
        source="def solution(x):\n    raise ValueError('x' * (50 << 20))\n",
        official=frozenset({"error"}),
    ),
    Program(
        name="return-value-of-100-mb",
        source="""
import sys
def solution(x):
    frame = sys._getframe()
    while frame:
        if isinstance(frame.f_locals.get("check_program"), str):
            return {3: 7392, 5: 1187}[x]
        frame = frame.f_back
    return "x" * (100 << 20)
""",
        official=PASSED,
        careful="suspect",
    ),
    Program(
        name="limits-lifted",
        source="""
import resource
def solution(x):
    lifted = []
    for name in ("AS", "NPROC", "FSIZE", "CORE", "CPU", "NOFILE", "MEMLOCK"):
        which = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(which)[1]
        if hard == resource.RLIM_INFINITY:
            continue
        try:
            resource.setrlimit(which, (hard + 1, hard + 1))
            lifted.append(name)
        except (ValueError, OSError):
            pass
    raise ValueError(f"lifted {lifted}" if lifted else "lifted nothing")
""",
        official=frozenset({"error"}),
        says="lifted nothing",
    ),
    Program(
        name="honest-with-children",
        source=f"""
import os, threading
def solution(x):
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    thread = threading.Thread(target=sum, args=([1],))
    thread.start()
    thread.join()
    with open("scratch", "w") as file:
        file.write("x" * 100000)
{_ANSWER}""",
        official=PASSED,
        honest=True,
    ),
]
