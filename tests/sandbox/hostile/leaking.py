"""Attacks that carry what a program saw beside its tests to where it runs apart from them, or to the next program."""

from .program import PASSED, Program

_TESTS_SEEN = """
import os, re, sys, time
def table():
    frame = sys._getframe()
    while frame:
        text = frame.f_locals.get("check_program")
        if isinstance(text, str):
            return {int(a): int(b) for a, b in re.findall(r"candidate\\((\\d+)\\) == (\\d+)", text)}
        frame = frame.f_back
    return None
"""
_PLACES = '("/dev/shm", "/scratch", "/tmp", "/dev/mqueue", "/var/tmp", "/run", "/dev", "/")'
_NAMES = '("leak", ".leak", "program", str(os.getuid() & ~15 | 9))'


_SUSPECT = {
    "files-for-the-other-run": f"""
{_TESTS_SEEN}
def solution(x):
    places = [os.path.join(p, n) for p in {_PLACES} for n in {_NAMES}]
    seen = table()
    if seen is None:
        for place in places:
            try:
                with open(place) as file:
                    return eval(file.read())[x]
            except (OSError, SyntaxError, TypeError):
                pass
        return 0
    for place in places:
        try:
            with open(place, "w") as file:
                file.write(repr(seen))
            os.chmod(place, 0o777)
        except OSError:
            pass
    return seen[x]
""",
    "daemon-that-remembers": f"""
{_TESTS_SEEN}
import socket
def solution(x):
    seen = table()
    name = "\\0grade-hostile"
    if seen is None:
        try:
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(name)
                return eval(client.recv(1000))[x]
        except OSError:
            return 0
    if x == 3 and os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            with socket.socket(socket.AF_UNIX) as server:
                server.bind(name)
                server.listen()
                while True:
                    client, _ = server.accept()
                    client.send(repr(seen).encode())
                    client.close()
        os._exit(0)
    time.sleep(0.05)
    return seen[x]
""",
}
"""They pass officially, and are suspect to a careful reader."""
PROGRAMS = [
    *(Program(name=name, source=source, official=PASSED, careful="suspect") for name, source in _SUSPECT.items()),
    # A name that the clean-up may take for the linter's, and no other file to draw its attention.
    *(
        Program(
            name=f"one-file-for-the-other-run-in{folder.replace('/', '-')}",
            source=f"""
{_TESTS_SEEN}
def solution(x):
    seen = table()
    place = "{folder}/%d" % (os.getuid() & ~15 | 9)
    if seen is None:
        with open(place) as file:
            return eval(file.read())[x]
    try:
        with open(place, "w") as file:
            file.write(repr(seen))
        os.chmod(place, 0o777)
    except OSError:
        pass
    return seen[x]
""",
            official=PASSED,
            careful="suspect",
        )
        for folder in ("/scratch",)
    ),
    Program(
        name="memory-of-the-kernel",
        source=f"""
{_TESTS_SEEN}
import ctypes
def solution(x):
    seen = table()
    libc = ctypes.CDLL(None, use_errno=True)
    if seen is None:
        for number in range(64):
            libc.shmat.restype = ctypes.c_void_p
            place = libc.shmat(number, None, 0o10000)
            if place and place != ctypes.c_void_p(-1).value:
                return eval(ctypes.string_at(place))[x]
        return 0
    data = repr(seen).encode()
    segment = libc.shmget(77, 4096, 0o1777)
    place = libc.shmat(segment, None, 0)
    kept = [segment >= 0, libc.msgget(77, 0o1777) >= 0, libc.semget(77, 1, 0o1777) >= 0]
    kept.append(libc.syscall(248, b"user", b"leak", data, len(data), -3) >= 0)
    kept.append(libc.mq_open(b"/leak", os.O_CREAT | os.O_RDWR, 0o777, None) >= 0)
    if any(kept):
        raise ValueError(f"kept something: {{kept}} {{place}}")
    return seen[x]
""",
        official=PASSED,
        careful="suspect",
        never="kept something",
    ),
    Program(
        name="tests-out-of-other-processes",
        source=f"""
{_TESTS_SEEN}
def solution(x):
    seen = table()
    if seen is not None:
        return seen[x]
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        for name in ("mem", "environ", "maps", "fd", "cwd", "root", "stack", "syscall", "auxv", "io"):
            if int(pid) == os.getpid():
                continue
            path = f"/proc/{{pid}}/{{name}}"
            try:
                found.append((path, os.listdir(path) if name == "fd" else open(path, "rb").read(4096)))
            except OSError:
                pass
    interesting = [item for item in found if item[1] and b"candidate(" in repr(item[1]).encode()]
    return 7392 if interesting else (_ for _ in ()).throw(ValueError(f"read {{found}}" if found else "read nothing"))
""",
        official=PASSED,
        careful="suspect",
        says="read nothing",
    ),
    Program(
        name="tests-out-of-own-memory",
        source=f"""
{_TESTS_SEEN}
import gc
def solution(x):
    seen = table()
    if seen is not None:
        return seen[x]
    needle = b"candidate(3) " + b"== 73"
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
        for line in maps:
            span, rights = line.split()[:2]
            low, high = (int(end, 16) for end in span.split("-"))
            if rights.startswith("rw") and high - low < 64 << 20:
                try:
                    memory.seek(low)
                    data = memory.read(high - low)
                except (OSError, ValueError, OverflowError):
                    continue
                at = data.find(needle)
                if at >= 0:
                    return int(data[at + 16 : at + 20])
    return 0
""",
        official=PASSED | {"failed"},
    ),
]
