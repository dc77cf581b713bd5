"""Watching a program from outside: what it used, why it was stopped, and what it had said by then."""

import contextlib
import fcntl
import os
import resource
import struct
import subprocess
import sys
import termios
import time
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import inside
import pytest

watch = inside.load("supervise.watch")
dialogue = inside.load("supervise.dialogue")

SAY = """
import json, os, signal, struct, sys, time
def say(message, pause=0):
    data = json.dumps(message).encode()
    for part in (struct.pack(">I", len(data)), data[:3], data[3:]):
        os.write(int(sys.argv[1]), part)
        time.sleep(pause)
"""
WAIT = "\ntime.sleep(60)\n"


class Watched:
    """One program under watch, and only that one: what else the machine runs is not looked at."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.read_end = -1

    def __call__(
        self,
        program: str,
        *,
        cpu: float = 30,
        wall: float = 30,
        memory: int = 0,
        alarm: bool = False,
        said: Any = None,
        slow: Any = bool,
    ) -> Any:
        self.read_end, write_end = os.pipe()
        command = [sys.executable, "-I", "-c", SAY + program, str(write_end)]
        self.process = subprocess.Popen(command, pass_fds=[write_end])
        os.close(write_end)
        limits = watch.Limits(cpu, wall, memory)
        said = (said or dialogue.OneResult)(self.read_end, {"result": str})
        observed = watch.Watch(
            self.process.pid, said, limits, set(), sends_alarm=alarm, has_namespace=False, baseline=0, on_slow=slow
        )
        observed.wait()
        return observed

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            os.close(self.read_end)


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    one = Watched()
    monkeypatch.setattr(watch, "processes", lambda known: [one.process.pid] if one.process else [])
    yield one
    one.close()


def test_a_result_ends_the_watch_although_the_program_goes_on(watched: Watched) -> None:
    observed = watched(f"say({{'result': 'x' * 120_000}}, 0.1){WAIT}")
    assert (observed.result, observed.reason) == ({"result": "x" * 120_000}, None)
    assert observed.wall < 55


@pytest.mark.parametrize("program", ["", "os.kill(os.getpid(), signal.SIGSEGV)"])
def test_an_end_without_a_result_is_no_result(
    program: str, watched: Watched, capfd: pytest.CaptureFixture[str]
) -> None:
    observed = watched(program)
    assert (observed.result, observed.reason) == (None, None)


def test_closing_the_channel_is_not_the_end_of_the_program(watched: Watched) -> None:
    observed = watched("os.close(int(sys.argv[1]))\ntime.sleep(0.5)")
    assert (observed.result, observed.reason) == (None, None)
    assert observed.wall >= 0.4


@pytest.mark.parametrize(
    "program",
    [
        "os.write(int(sys.argv[1]), struct.pack('>I', 1 << 30))", "say(['passed'])",
        "os.write(int(sys.argv[1]), struct.pack('>I', 3) + b'{]}')",
    ],
)  # fmt: skip
def test_what_is_no_result_is_garbage_and_not_read_any_further(program: str, watched: Watched) -> None:
    observed = watched(program + WAIT)
    assert (observed.result, observed.reason) == (None, "garbage")


def test_a_program_that_works_too_long_is_stopped_for_its_cpu_time(watched: Watched) -> None:
    observed = watched("while True: pass", cpu=0.3)
    assert (observed.result, observed.reason) == (None, "cpu")
    assert 0.3 <= observed.cpu < 3


def test_a_program_that_sleeps_too_long_is_stopped_as_blocked(watched: Watched) -> None:
    observed = watched("time.sleep(60)", cpu=0.3)
    assert observed.reason == "blocked"
    assert observed.cpu < 0.3
    assert observed.wall < 55


AS_IF_FOR_A_DISK = "import ctypes\nif ctypes.PyDLL(None).vfork() == 0:\n    time.sleep(20)\n    os._exit(0)\n"
"""The kernel reports the process as one that waits for a disk."""


@pytest.mark.parametrize("program", ["time.sleep(60)", AS_IF_FOR_A_DISK], ids=["sleeps", "as if for a disk"])
def test_no_program_passes_the_wall_limit(program: str, watched: Watched) -> None:
    observed = watched(program, wall=0.5)
    assert observed.reason == "wall"


WITHOUT_FIRST_THREAD = """
import ctypes, platform, threading
def fill():
    time.sleep(0.1)
    x = b'm' * (200 << 20)
    time.sleep(60)
threading.Thread(target=fill).start()
ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[platform.machine()], 0)
"""
"""The kernel says of the process itself only that it has ended."""


@pytest.mark.parametrize(
    "program", [f"x = b'm' * (200 << 20){WAIT}", WITHOUT_FIRST_THREAD], ids=["plainly", "without its first thread"]
)
def test_a_program_that_takes_too_much_memory_is_stopped(program: str, watched: Watched) -> None:
    observed = watched(program, memory=100 << 20)
    assert observed.reason == "memory"


def test_the_limits_are_checked_while_a_program_sends_without_end(watched: Watched) -> None:
    class Slow(dialogue.OneResult):  # type: ignore[misc, name-defined]
        parts = 0

        def feed(self, part: bytes) -> bool:
            """Take so long that the channel is full again."""
            self.parts += 1
            if self.parts == 1000:
                raise dialogue.GarbageError
            time.sleep(0.01)
            while int.from_bytes(fcntl.ioctl(self.fd, termios.FIONREAD, bytes(4)), sys.byteorder) < 1 << 16:
                time.sleep(0.001)
            return False

    observed = watched("while True: os.write(int(sys.argv[1]), bytes(1 << 16))", wall=0.5, said=Slow)
    assert observed.reason == "wall"


@pytest.mark.parametrize(("megabytes", "result", "reason"), [(200, None, "memory"), (20, {"result": "passed"}, None)])
def test_memory_that_a_program_has_between_two_checks_counts_as_well(
    megabytes: int, result: object, reason: str | None, watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "FIRST_TICK", 60)
    # The kernel counts the peak of the process that started the program, too: here the large one of the tests.
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    size = megabytes << 20 if result else own + (megabytes << 20)
    observed = watched(f"x = b'm' * {size}\ndel x\nsay({{'result': 'passed'}})", memory=own + (100 << 20))
    assert observed.result == {"result": "passed"}
    _, _, usage = os.wait4(watched.process.pid, 0)
    observed.check_peak_memory(usage.ru_maxrss << 10)
    assert (observed.result, observed.reason) == (result, reason)


def test_the_alarm_lets_a_program_say_that_its_time_is_up(watched: Watched) -> None:
    handler = "signal.signal(signal.SIGALRM, lambda *_: (say({'result': 'timed out'}), os._exit(0)))\n"
    observed = watched(handler + "time.sleep(60)", cpu=0.5, alarm=True)
    assert (observed.result, observed.reason, observed.alarm_reason) == ({"result": "timed out"}, None, "blocked")


def test_a_program_that_ignores_the_alarm_is_stopped_a_second_later(watched: Watched) -> None:
    observed = watched("signal.signal(signal.SIGALRM, signal.SIG_IGN)\nwhile True: pass", cpu=0.3, alarm=True)
    assert (observed.result, observed.alarm_reason) == (None, observed.reason)
    assert observed.reason == "cpu"
    # Four fifths of the time it had, and of the second after it.
    assert observed.cpu >= 1.0


def test_time_in_the_kernel_alone_does_not_use_up_a_programs_time(watched: Watched) -> None:
    """The first touch of memory is slow on a virtual machine: not the program's fault, and no reason for a time-out."""
    busy_kernel = "data = open('/dev/zero', 'rb', buffering=0)\nroom = bytearray(1 << 26)\n"
    count = f"end = time.process_time() + 0.6\nwhile time.process_time() < end: data.readinto(room)\nsay({{}}){WAIT}"
    observed = watched(busy_kernel + count, cpu=0.4)
    assert (observed.result, observed.reason) == ({}, None)


@contextlib.contextmanager
def child(code: str) -> Iterator[int]:
    """Yield the pid of a process that has run some code and now waits for its input."""
    command = [sys.executable, "-c", f"{code}\nprint(flush=True); input()"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        process.stdout.readline()
        yield process.pid
    finally:
        process.communicate(b"\n")


def test_the_processes_of_a_program_are_all_that_are_not_known() -> None:
    known = {int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()}
    with child("") as pid:
        assert pid in watch.processes(known)
        assert pid not in watch.processes(known | {pid})
        assert watch.parent(pid) == os.getpid()
    assert pid not in watch.processes(known)
    assert watch.parent(pid) == 0


def test_memory_is_counted_beyond_what_was_inherited() -> None:
    with child("x = b'm' * (64 << 20)") as pid:
        own = watch.memory_bytes([pid], 0)
        assert 64 << 20 <= own < 256 << 20
        assert watch.memory_bytes([pid], 32 << 20) == own - (32 << 20)
        # Its page tables are its own.
        assert watch.memory_bytes([pid], 1 << 40) < 4 << 20
    assert watch.memory_bytes([pid], 0) == 0


def test_memory_that_was_moved_to_a_disk_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program can ask for it (`MADV_PAGEOUT`)."""
    monkeypatch.setattr(watch, "_read", lambda path: b"RssAnon:\t4 kB\nVmPTE:\t8 kB\nVmSwap:\t100 kB\n")
    assert watch.memory_bytes([1], 0) == 112 << 10


def test_files_in_memory_count_beside_their_contents(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folders that bubblewrap makes for root have no limit on the number of files."""
    monkeypatch.setattr(os, "statvfs", lambda _: types.SimpleNamespace(f_files=200_000, f_ffree=0))
    assert watched("time.sleep(60)", memory=100 << 20).reason == "memory"


@pytest.mark.parametrize("data", [b"", b"\0\0", b"\0\0\0\5{}", b"\xff\xff\xff\xff"])
def test_a_stream_that_ends_or_is_no_message_is_closed(data: bytes) -> None:
    wire = inside.load("wire")
    rest = bytearray(data)

    def read(count: int) -> bytes:
        part = bytes(rest[:count])
        del rest[:count]
        return part

    with pytest.raises((wire.ClosedError, struct.error)) as caught:
        wire.receive(read)
    assert caught.type is wire.ClosedError


def test_a_program_that_waits_for_a_core_is_not_charged_for_it(watched: Watched) -> None:
    """Three others want the same core, so it takes longer than its limits. What it waited is left out."""
    core = min(os.sched_getaffinity(0))
    pinned = f"os.sched_setaffinity(0, {{{core}}})\n"
    others = [subprocess.Popen([sys.executable, "-c", f"import os\n{pinned}while True: pass"]) for _ in range(3)]
    try:
        work = "end = time.process_time() + 0.5\nwhile time.process_time() < end: pass\nsay({'result': 'done'})"
        observed = watched(pinned + work, cpu=0.8, wall=1.2)
    finally:
        for other in others:
            other.kill()
            other.wait()
    assert (observed.result, observed.reason) == ({"result": "done"}, None)
    assert 0.5 < observed.waited < observed.wall


def test_several_threads_that_wait_at_a_time_have_waited_once(watched: Watched) -> None:
    observed = watch.Watch(
        0,
        dialogue.OneResult(os.pipe()[0], {}),
        watch.Limits(1, 1, 0),
        set(),
        sends_alarm=False,
        has_namespace=False,
        baseline=0,
    )
    observed.wall, observed.cpu = 1.0, 0.4
    observed._update_threads({1: watch.Thread(0.5), 2: watch.Thread(0.5)})
    assert observed.waited == pytest.approx(0.6)
    observed.wall = 9.0
    observed._update_threads({1: watch.Thread(0.5), 2: watch.Thread(0.6)})
    assert observed.waited == pytest.approx(0.7)


@pytest.mark.parametrize("work", ["while True: pass", "time.sleep(60)"])
def test_a_program_that_works_or_sleeps_for_long_is_slow_and_goes_on(work: str, watched: Watched) -> None:
    told: list[list[int]] = []
    observed = watched(work, cpu=1.2, slow=told.append)
    assert told == [[watched.process.pid]]
    assert observed.reason in {"cpu", "blocked"}


def test_a_slow_program_has_a_lower_priority(watched: Watched) -> None:
    work = "import threading\nthreading.Thread(target=time.sleep, args=(60,)).start()\nwhile True: pass"
    watched(work, cpu=0.8, slow=watch.lower_priority)
    tasks = [int(task.name) for task in Path(f"/proc/{watched.process.pid}/task").iterdir()]
    assert {os.getpriority(os.PRIO_PROCESS, task) for task in tasks} == {watch.NICE}
