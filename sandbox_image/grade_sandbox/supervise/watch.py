"""Watch a program from outside: the kernel's data on its time, its memory and its end."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from typing import NamedTuple

from grade_sandbox.supervise.dialogue import GarbageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable
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
KERNEL_TIMES = 3
"""How many times its limit of CPU time a program may spend in the kernel. That depends more on the machine than on the
program: a virtual machine's first access to memory takes ten times as long as the second."""
ALARM_SECONDS = 1.0
"""How long a program may go on after it was told that its time is up."""
SLOW_SECONDS = 0.5
"""Time of work after which a program is slow: another one may start beside it, and it gets less of a core."""
NICE = 5
"""The priority of a slow program: beside another program it gets a quarter of a core."""
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
    """What the kernel says of a thread."""

    waited: float = 0.0
    """Seconds for which it was ready to run and waited for a core. The kernel adds a wait when it has ended."""
    is_ready: bool = False
    """Whether it runs, or waits for a core, a page or a disk."""


def threads(pids: Iterable[int]) -> dict[int, Thread]:
    """Return what the kernel says of all threads of these processes, as far as it says it."""
    found: dict[int, Thread] = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{pid}/task"):
                with contextlib.suppress(ValueError, IndexError):
                    waited = int(_read(f"/proc/{pid}/task/{thread}/schedstat").split()[1]) / 1e9
                    state = _read(f"/proc/{pid}/task/{thread}/stat").rpartition(b") ")[2][:1]
                    found[int(thread)] = Thread(waited, state in (b"R", b"D"))
    return found


def lower_priority(pids: Iterable[int]) -> None:
    """Give a program less of a core than others get, as far as the system allows it."""
    for pid in pids:
        # Where the system groups processes by session, a priority only counts inside the group.
        with contextlib.suppress(OSError), open(f"/proc/{pid}/autogroup", "w") as file:
            file.write(str(NICE))
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{pid}/task"):
                os.setpriority(os.PRIO_PROCESS, int(thread), NICE)


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


class Spent(NamedTuple):
    """The time of a program so far; all in seconds."""

    user: float = 0.0
    system: float = 0.0
    """CPU time in the kernel."""
    wall: float = 0.0
    waited: float = 0.0
    """Time in which it was ready to run, and waited for a core."""

    @property
    def awake(self) -> float:
        """Time that passed although the machine would have let it run: it worked, or slept."""
        return self.wall - self.waited

    def since(self, begin: Spent) -> Spent:
        """Return the time after `begin`."""
        return Spent(*(now - before for now, before in zip(self, begin, strict=True)))


class Limits(NamedTuple):
    """Limits of one run."""

    cpu: float
    wall: float
    """Maximum duration without the time in which it waited for a core. Both in seconds."""
    memory: int
    """Bytes."""


class Watch:
    """Waits for one program's result or end; `reason` says why it was stopped, if it was.

    `dialogue`: the messages during the run (dialogue.py); its descriptor becomes non-blocking.
    `grace`: seconds beyond the CPU limit in which it may neither work nor wait for a core.
    `shared_room`: bytes by which the machine's shared memory may grow; None: not checked.
    `slow` is called with the program's processes as soon as it is slow.
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
        slow: Callable[[list[int]], object] = bool,
    ) -> None:
        self.pid, self.dialogue, self.limits, self.known = pid, dialogue, limits, known
        self.alarm, self.nested, self.baseline, self.grace = alarm, nested, baseline, grace
        self._slow, self._is_slow = slow, False
        self.shared_limit = None if shared_room is None else machine_memory_bytes("Shmem") + shared_room
        self.reason: str | None = None
        self.alarmed: str | None = None
        self.done = False
        """Whether the dialogue is complete."""
        self.cpu = self.wall = self.waited = 0.0
        self._open = True
        self._waits: dict[int, float] = {}
        """Thread -> seconds for which it has waited for a core."""
        self._is_ready = False
        """Whether it runs at this moment, or waits for a core, which the kernel has not added yet."""
        self._users: dict[int, float] = {}
        """Process -> its user time, also after its end."""
        self._turn, self._before, self._longest = 0, Spent(), 0.0
        """The current turn of the dialogue, the time before it began, and the CPU time of the longest one so far."""
        # Checks take time, so a program that sends much is not checked more often than a silent one.
        self._next_look = FIRST_TICK
        os.set_blocking(dialogue.fd, False)

    @property
    def result(self) -> dict[str, Any] | None:
        """The program's result; None if it sent none or an invalid one."""
        return None if self.reason == "garbage" else self.dialogue.result

    def wait(self) -> None:
        """Return when there is a result, when the process has ended, or when a limit is exceeded."""
        self._wait(time.monotonic())
        if self.dialogue.is_over:
            self.reason = self.reason or self.alarmed

    def _wait(self, start: float) -> None:
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
        return max(self._longest, cpu - self._before.user - self._before.system)

    def _listen(self, poll: select.poll) -> None:
        if self._open:
            poll.register(self.dialogue.fd, select.POLLIN | (select.POLLOUT if self.dialogue.pending else 0))
        else:
            # The program closed its end of the channel, so only the end of its process can still be waited for.
            with contextlib.suppress(KeyError):
                poll.unregister(self.dialogue.fd)

    def _talk(self) -> None:
        """Process received data, and send what is next."""
        try:
            for _ in range(MOST_PARTS):
                if self.done or not self._open:
                    return
                part = os.read(self.dialogue.fd, PART)
                self._open = bool(part)
                self.done = self.dialogue.feed(part)
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

    def _send_more(self) -> None:
        try:
            while self.dialogue.pending:
                self.dialogue.send()
        except BlockingIOError:
            pass
        except OSError:
            self.dialogue.pending = memoryview(b"")

    def _look(self) -> None:
        """Measure the program, and stop it, or tell it that its time is up, if it exceeds a limit."""
        pids = processes(self.known)
        spent = self._measured(pids)
        # CPU time and time awake are equal while a program works; while it sleeps, only the second passes.
        self.dialogue.spent = (self.cpu + spent.awake) / 2
        if not self._is_slow and self.dialogue.spent >= SLOW_SECONDS:
            self._is_slow = True
            self._slow(pids)
        if self.dialogue.turn != self._turn:
            self._longest = self.longest(self.cpu)
            self._turn, self._before = self.dialogue.turn, spent
        self.reason = self._exceeded_memory(pids)
        over = self._exceeded_time(spent.since(self._before))
        if self.reason is None and over is not None:
            self._end_time(pids, over)

    def _measured(self, pids: list[int]) -> Spent:
        """Return the time that the program has spent."""
        times = cpu_times(pids)
        # The time of a child that was not waited for is in no other process's account.
        self._users |= {pid: own for pid, (own, _, _) in times.items()}
        user = max(sum(user for _, user, _ in times.values()), sum(self._users.values()))
        system = sum(system for _, _, system in times.values())
        self.cpu = user + system
        self._note_waits(threads(pids))
        return Spent(user, system, self.wall, self.waited)

    def _exceeded_memory(self, pids: list[int]) -> str | None:
        """Return which limit of memory the program exceeds, if it does."""
        if self.limits.memory and memory_bytes(pids, self.baseline) + socket_bytes(pids) > self.limits.memory:
            return "memory"
        if self.shared_limit is not None and machine_memory_bytes("Shmem") > self.shared_limit:
            return "disturbed"
        return None

    def _exceeded_time(self, turn: Spent) -> str | None:
        """Return which limit the current turn exceeds, if it does: `cpu`, `blocked` (it slept instead) or `wall`."""
        cpu, wall = (limit * self.dialogue.times for limit in (self.limits.cpu, self.limits.wall))
        if turn.user >= cpu or turn.system >= KERNEL_TIMES * cpu:
            return "cpu"
        if self._is_ready:  # The time for which it waits now is not counted yet.
            return None
        if turn.awake - turn.system >= cpu + self.grace:
            return "blocked"
        return "wall" if turn.awake >= wall else None

    def _end_time(self, pids: Iterable[int], over: str) -> None:
        """Stop the program; with `alarm`, only if it goes on after it was told that its time is up."""
        if not self.alarm:
            self.reason = over
        elif self.alarmed is None:
            self._ring(pids, over)
        elif max(self.cpu - self._rung[0], self.wall - self.waited - self._rung[1]) >= ALARM_SECONDS:
            self.reason = self.alarmed

    def _note_waits(self, threads: dict[int, Thread]) -> None:
        """Add the time for which the program waited for a core. No moment counts twice if several threads waited."""
        more = sum(max(0.0, one.waited - self._waits.get(number, 0.0)) for number, one in threads.items())
        self.waited += max(0.0, min(more, self.wall - self.cpu - self.waited))
        self._waits |= {number: one.waited for number, one in threads.items()}
        self._is_ready = any(one.is_ready for one in threads.values())

    def _ring(self, pids: Iterable[int], over: str) -> None:
        """Tell the program that its time is up, as the official evaluator's alarm does; it has a second to go on."""
        self.alarmed = over
        self._rung = (self.cpu, self.wall - self.waited)
        self.dialogue.end_time()
        # With its own namespace, the program is the child of the process that was started.
        target = next((p for p in pids if self.nested and parent(p) == self.pid), self.pid)
        with contextlib.suppress(OSError):
            os.kill(target, signal.SIGALRM)
