"""Watch a program from outside: the kernel's data on its time, its memory and its end."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from typing import NamedTuple

from grade_sandbox.supervise.dialogue import MAX_REPLIES, SECONDS_PER_BYTE, GarbageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping
    from typing import Any

    from grade_sandbox.supervise.dialogue import Dialogue

TICK = 0.05
FIRST_TICK = 0.02
_TICKS = os.sysconf("SC_CLK_TCK")
# The default size of a socket's buffer, which no program may enlarge, plus one message beyond it.
SOCKET_BYTES = 320 << 10
OUR_SOCKETS = 32
MOST_PARTS, PART = 16, 64 << 10
"""How many parts are read before the limits are checked, and the bytes of each: together, all that a channel holds."""
IDLE_SECONDS = 0.5
"""Time without work after which a program is asleep."""
MAPPED_FILES = 32 << 20
"""Room for the libraries that a program loads: their pages are not memory of its own."""


def processes(known: Container[int]) -> list[int]:
    """Return the pids of all unknown processes: while a program runs, they belong to it."""
    return [pid for name in os.listdir("/proc") if name.isdigit() and (pid := int(name)) not in known]


def _read(path: str) -> bytes:
    """Return a file of /proc, at most one page long; empty if it cannot be read."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(fd, 1 << 14)
    except OSError:
        return b""
    finally:
        os.close(fd)


def _stat(pid: int) -> list[bytes] | None:
    """Return the fields of /proc/<pid>/stat from the third on, or None."""
    data = _read(f"/proc/{pid}/stat")
    return data[data.rindex(b")") + 2 :].split() if data else None


def parent(pid: int) -> int:
    """Return a process's parent pid, or 0."""
    fields = _stat(pid)
    return int(fields[1]) if fields else 0


def cpu_times(pids: Iterable[int]) -> dict[int, tuple[float, float, float]]:
    """Return pid -> seconds (own user time, user time with ended children, kernel time) of existing processes."""
    times: dict[int, tuple[float, float, float]] = {}
    for pid in pids:
        fields = _stat(pid)
        if fields:
            user, system, children, children_system = (int(field) / _TICKS for field in fields[11:15])
            times[pid] = user, user + children, system + children_system
    return times


def cpu_seconds(pids: Iterable[int]) -> float:
    """Return the CPU seconds of these processes and of their ended children."""
    return sum(user + system for _, user, system in cpu_times(pids).values())


class Thread(NamedTuple):
    """The kernel's data of a thread."""

    ran: float = 0.0
    """Seconds of running."""
    delay: float = 0.0
    """Seconds of completed waits while it was ready."""
    slept: int = -1
    """How often it gave up the processor voluntarily; -1: unknown."""
    state: str = ""
    """One letter."""


def _ran_and_delay(path: str) -> tuple[float, float]:
    """Return how long a thread ran, and how long it waited while it was ready, in seconds; raises ValueError."""
    ran, delay = (int(part) / 1e9 for part in _read(path).split()[:2])
    return ran, delay


def threads(pid: int) -> dict[int, Thread]:
    """Return thread -> the kernel's data on its time; empty if unknown."""
    found: dict[int, Thread] = {}
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(ValueError, IndexError):
                ran, delay = _ran_and_delay(f"/proc/{pid}/task/{thread}/schedstat")
                state, slept = "", -1
                for line in _read(f"/proc/{pid}/task/{thread}/status").splitlines():
                    if line.startswith(b"State:"):
                        state = line.split()[1].decode()
                    elif line.startswith(b"voluntary_ctxt_switches:"):
                        slept = int(line.split()[1])
                found[int(thread)] = Thread(ran, delay, slept, state)
    return found


def memory_bytes(pids: Iterable[int], baseline: int) -> int:
    """Return the memory of these processes beyond what each inherited (`baseline` bytes), including page tables."""
    total = 0
    for pid in pids:
        anonymous = shared = tables = 0
        with contextlib.suppress(ValueError):
            for line in _read(f"/proc/{pid}/status").splitlines():
                if line.startswith(b"RssAnon:"):
                    anonymous = int(line.split()[1]) << 10
                elif line.startswith(b"RssShmem:"):
                    shared = int(line.split()[1]) << 10
                elif line.startswith(b"VmPTE:"):
                    tables = int(line.split()[1]) << 10
        total += max(0, anonymous - baseline) + shared + tables
    return total


def socket_bytes(pids: Iterable[int]) -> int:
    """Return the possible size of unread data in these processes' networks, which is charged to no process.

    The kernel counts the sockets of a network, not their data. Programs share one network or have one each.
    """
    most = 0
    for pid in pids:
        with contextlib.suppress(ValueError, IndexError):
            most = max(most, int(_read(f"/proc/{pid}/net/sockstat").split(None, 3)[2]))
    return max(0, most - OUR_SOCKETS) * SOCKET_BYTES


def machine_memory_bytes(field: str) -> int:
    """Return a field of the machine's /proc/meminfo, e.g. `Shmem`; 0 if it is missing."""
    with contextlib.suppress(ValueError):
        for line in _read("/proc/meminfo").splitlines():
            if line.startswith(field.encode() + b":"):
                return int(line.split()[1]) << 10
    return 0


class OomKills:
    """The kernel's count of processes that it has killed for memory in this container."""

    def __init__(self) -> None:
        self._fd = -1
        for path in ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"):
            with contextlib.suppress(OSError):
                self._fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
                break

    def count(self) -> int | None:
        """Return the count; None if there is no such counter."""
        with contextlib.suppress(OSError, ValueError):
            for line in os.pread(self._fd, 1 << 12, 0).splitlines():
                name, _, value = line.partition(b" ")
                if name == b"oom_kill":
                    return int(value)
        return None


READY, UNINTERRUPTIBLE = "R", "D"


class _Since(NamedTuple):
    """A point in time: the time, the total running time of all threads, and the waiting time counted so far."""

    time: float = 0.0
    ran: float = 0.0
    counted: float = 0.0


class Waiting:
    """Adds up the time in which some thread was kept waiting while none ran, from check to check.

    It was ready but did not run, or in an uninterruptible wait. A thread that waits for another thread is asleep during
    that thread's wait, and no moment is counted twice. The kernel updates a thread's run delay only when the thread
    runs again, so an increase may have begun many checks ago. A container that has used up its processor time for the
    moment makes all its threads wait in the same way.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self._last = _Since()
        self._before: dict[int, Thread] = {}
        self._since: dict[int, _Since] = {}
        """Thread -> a point in time before all of its waiting that is not counted yet."""

    def note(self, now: float, threads: Mapping[int, Thread]) -> None:
        """Process the data of every thread, `now` seconds after the start."""
        before = {number: self._before.get(number) or Thread() for number in threads}
        ran = self._last.ran + sum(thread.ran - before[number].ran for number, thread in threads.items())
        for number, thread in threads.items():
            since = self._since.setdefault(number, self._last)
            kept = max(thread.delay - before[number].delay, self._kept_now(now, before[number], thread))
            room = now - since.time - (ran - since.ran) - (self.seconds - since.counted)
            self.seconds += max(0.0, min(kept, room))
            if thread.ran > before[number].ran:
                self._since[number] = self._last
        self._before |= threads
        self._last = _Since(now, ran, self.seconds)

    def _kept_now(self, now: float, before: Thread, thread: Thread) -> float:
        """Return how long a thread waited since the last check without sleeping, or for a page or a disk."""
        never_slept = before.state == thread.state == READY and before.slept == thread.slept
        if never_slept or thread.state == UNINTERRUPTIBLE:
            return now - self._last.time - (thread.ran - before.ran)
        return 0.0


class Limits(NamedTuple):
    """Limits of one run."""

    cpu: float
    wall: float
    """Maximum duration. Both in seconds."""
    memory: int
    """Bytes."""
    short: float = 0.0
    """Seconds of all its parts together after which it is stopped without a verdict; 0: none."""


class Watch:
    """Waits for one program's result or end; `reason` says why it was stopped, if it was.

    `dialogue`: the messages during the run (dialogue.py); its descriptor becomes non-blocking.
    `grace`: seconds beyond the CPU limit in which it may neither work nor be kept waiting by the machine.
    `shared_room`: bytes by which the machine's shared memory may grow; None: not checked.
    `asleep` is called once if the program is asleep; None: nobody wants to know.
    """

    def __init__(
        self,
        pid: int,
        dialogue: Dialogue,
        limits: Limits,
        known: Container[int],
        *,
        alarm: bool,
        nested: bool,
        baseline: int,
        grace: float = 0.0,
        shared_room: int | None = None,
        asleep: Callable[[], object] | None = None,
    ) -> None:
        self.pid, self.dialogue, self.limits, self.known = pid, dialogue, limits, known
        self.alarm, self.nested, self.baseline, self.grace = alarm, nested, baseline, grace
        self._asleep = asleep
        self.shared_limit = None if shared_room is None else machine_memory_bytes("Shmem") + shared_room
        self.reason: str | None = None
        self.alarmed: str | None = None
        self.done = False
        """Whether the dialogue is complete."""
        self.cpu = self.wall = self.waited = self._longest = 0.0
        self._open = True
        self._waiting = Waiting()
        self._used: dict[int, float] = {}
        self._turn, self._before = 0, (0.0, 0.0, 0.0, 0.0)
        """The current run of the program, and the times when it began: user, kernel, wall, waited."""
        # Checks take time, so a program that sends much is not checked more often than a silent one.
        self._next_look = FIRST_TICK
        os.set_blocking(dialogue.fd, False)

    @property
    def result(self) -> dict[str, Any] | None:
        """The program's result; None if it sent none or an invalid one."""
        return None if self.reason == "garbage" else self.dialogue.result

    def wait(self) -> None:
        """Return when there is a result, when the process has ended, or when a limit is exceeded."""
        start = time.monotonic()
        handle = os.pidfd_open(self.pid)
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        tick = FIRST_TICK
        try:
            while self.reason is None:
                self._listen(poll)
                events = dict(poll.poll(tick * 1000))
                tick = TICK
                self.wall = time.monotonic() - start
                if self.dialogue.fd in events or handle in events:
                    self._talk()
                if self.done or handle in events:
                    return
                if not events or self.wall >= self._next_look:
                    self._look()
                    self._next_look = self.wall + TICK
                    if self.reason is None and self.dialogue.interrupt():
                        self.done = True
                        return
        finally:
            os.close(handle)

    def ended(self, peak: int) -> None:
        """Apply the limit to the peak of resident memory that the kernel reports for a program that has ended.

        It may lie between two checks. (With a cgroup, the kernel applies the limit.) It includes loaded libraries.
        """
        too_much = self.baseline + self.limits.memory + MAPPED_FILES
        if self.reason is None and self.limits.memory and peak > too_much:
            self.reason = "memory"
            self.dialogue.withdraw()

    def longest(self, cpu: float) -> float:
        """Return the CPU time of the longest turn, or of several short ones; `cpu`: that of all turns so far."""
        user, system, *_ = self._before
        return max(self._longest, cpu - user - system)

    def _listen(self, poll: select.poll) -> None:
        if self._open:
            poll.register(self.dialogue.fd, select.POLLIN | (select.POLLOUT if self.dialogue.pending else 0))
        else:
            # The program closed its end of the channel, so only the end of its process can still be waited for.
            with contextlib.suppress(KeyError):
                poll.unregister(self.dialogue.fd)

    def _talk(self) -> None:
        """Process received data, and send what is next."""
        if self.alarmed and not self.dialogue.may_be_late:
            with contextlib.suppress(OSError):
                self.dialogue.goes_on = bool(os.read(self.dialogue.fd, PART))
            self.reason = self.alarmed
            return
        try:
            for _ in range(MOST_PARTS):
                if self.done or not self._open:
                    return
                part = os.read(self.dialogue.fd, PART)
                self._open = bool(part)
                announced = self.dialogue.encoding
                self.done = self.dialogue.feed(part)
                if announced and not self.dialogue.encoding:
                    self._check_announced()
                if self.dialogue.pending:
                    self.dialogue.send()
                if len(part) < PART and not self.dialogue.pending:
                    # No more data for now.
                    return
        except GarbageError:
            self.done, self.reason = True, "garbage"
        except BlockingIOError:
            self._send_more()
        except OSError:
            self._open = False

    def _check_announced(self) -> None:
        """Check whether an answer that was announced as large is large enough for the time that it took."""
        self._look()
        self.reason = self.reason or self.alarmed
        if self.reason is not None:
            self.dialogue.withdraw()
            self.done = True

    def _send_more(self) -> None:
        try:
            while self.dialogue.pending:
                self.dialogue.send()
        except BlockingIOError:
            pass
        except OSError:
            self.dialogue.pending = memoryview(b"")

    def _look(self) -> None:
        """Compare the program's use of resources with its limits."""
        pids = processes(self.known)
        times = cpu_times(pids)
        # The time of a child that was not waited for is in no other process's account.
        self._used |= {pid: own for pid, (own, _, _) in times.items()}
        user = max(sum(user for _, user, _ in times.values()), sum(self._used.values()))
        system = sum(system for _, _, system in times.values())
        self.cpu = user + system
        self._waiting.note(self.wall, {number: one for pid in pids for number, one in threads(pid).items()})
        self.waited = self._waiting.seconds
        if self._asleep is not None and self.wall - self.waited - self.cpu >= IDLE_SECONDS:
            self._asleep()
            self._asleep = None
        # CPU time and own time are equal while a program works; while it sleeps, only the second passes.
        self.dialogue.spent = (self.cpu + self.wall - self.waited) / 2
        if self.limits.memory and memory_bytes(pids, self.baseline) + socket_bytes(pids) > self.limits.memory:
            self.reason = "memory"
            return
        if self.shared_limit is not None and machine_memory_bytes("Shmem") > self.shared_limit:
            self.reason = "disturbed"
            return
        if self.limits.short and self.dialogue.spent >= self.limits.short:
            self.reason = "short"
            return
        # Asleep, or waiting for itself: time that passed although the machine would have let it run.
        # Kernel time depends more on the machine than on the program (a virtual machine's first access to memory takes
        # ten times as long as the second). It has its own limit, so that memory runs out before time does.
        now = user, system, self.wall, self.waited
        if self.dialogue.turn != self._turn:
            self._longest = self.longest(self.cpu)
            self._turn, self._before = self.dialogue.turn, now
        user, system, wall, waited = (one - other for one, other in zip(now, self._before, strict=True))
        own_time = wall - waited - system
        # What is sent takes time as well, which the program is not charged for.
        most = MAX_REPLIES if self.dialogue.encoding else 0
        limit = self.limits.cpu * self.dialogue.times + SECONDS_PER_BYTE * (self.dialogue.moved + most)
        late = own_time >= limit + self.grace
        over = (
            "cpu" if user >= limit or system >= 3 * limit or (late and user >= 0.8 * own_time)
            else "blocked" if late
            else "wall" if wall >= self.limits.wall * self.dialogue.times
            else None
        )  # fmt: skip
        if over is None:
            return
        if not self.alarm:
            self.reason = over
        elif self.alarmed is None:
            self._ring(pids, over)
        elif self.cpu - self._rung[0] >= 1.0 or self.wall - self.waited - self._rung[1] >= 1.0:
            self.reason = self.alarmed

    def _ring(self, pids: Iterable[int], over: str) -> None:
        """Tell the program that its time is up, as the official evaluator's alarm does; it has a second to go on."""
        self.alarmed = over
        self._rung = (self.cpu, self.wall - self.waited)
        if not self.dialogue.may_be_late:
            self.dialogue.pending = memoryview(b"")
        # With its own namespace, the program is the child of the process that was started.
        target = next((p for p in pids if self.nested and parent(p) == self.pid), self.pid)
        with contextlib.suppress(OSError):
            os.kill(target, signal.SIGALRM)
