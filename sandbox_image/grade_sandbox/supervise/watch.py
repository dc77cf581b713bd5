"""Watch a program from outside: the kernel's data on its time, its memory and its end."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from typing import NamedTuple

from grade_sandbox.confine.isolation import SCRATCH, SHM
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
"""Sockets that grade's own processes may have in such a network; they hold no data of a program."""
FILE_BYTES = 1 << 10
"""What the kernel needs for a file in memory, beside its contents: 0.8 kB and its place in a folder."""
MAX_PARTS, PART_BYTES = 16, 64 << 10
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


def processes(known_pids: Container[int]) -> list[int]:
    """Return the pids of all unknown processes: while a program runs, they belong to it."""
    return [pid for name in os.listdir("/proc") if name.isdigit() and (pid := int(name)) not in known_pids]


def _read(path: str) -> bytes:
    """Return a small file of /proc; empty if it cannot be read."""
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


def _read_from_any_thread(pid: int, name: str, field: bytes) -> bytes:
    """Return a file of a process that has a field; empty if it has none.

    If a program ends its first thread, only the files of the others still have fields of its memory and its network.
    """
    data = _read(f"/proc/{pid}/{name}")
    if field in data:
        return data
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            data = _read(f"/proc/{pid}/task/{thread}/{name}")
            if field in data:
                return data
    return b""


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
    """The kernel's data on a thread."""

    waited: float = 0.0
    """Seconds for which it was ready to run and waited for a core. The kernel adds a wait when it has ended."""
    is_runnable: bool = False
    """Whether it runs, or waits for a core."""
    waits_for_disk: bool = False
    """Whether it seems to wait for a page or a disk. A program can pretend it: a process whose `vfork` child sleeps."""


def threads(pids: Iterable[int]) -> dict[int, Thread]:
    """Return thread number -> data of all threads of these processes, but for those that have ended meanwhile."""
    by_number: dict[int, Thread] = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{pid}/task"):
                with contextlib.suppress(ValueError, IndexError):
                    waited = int(_read(f"/proc/{pid}/task/{thread}/schedstat").split()[1]) / 1e9
                    state = _read(f"/proc/{pid}/task/{thread}/stat").rpartition(b") ")[2][:1]
                    by_number[int(thread)] = Thread(waited, is_runnable=state == b"R", waits_for_disk=state == b"D")
    return by_number


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
            for line in _read_from_any_thread(pid, "status", b"RssAnon:").splitlines():
                if line.startswith((b"RssAnon:", b"VmSwap:")):
                    anonymous += int(line.split()[1]) << 10
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
    count = 0
    for pid in pids:
        with contextlib.suppress(ValueError, IndexError):
            count = max(count, int(_read_from_any_thread(pid, "net/sockstat", b"sockets:").split(None, 3)[2]))
    return max(0, count - OUR_SOCKETS) * SOCKET_BYTES


def file_bytes() -> int:
    """Return what the kernel needs for the files in the writable folders, whose number bubblewrap cannot limit."""
    folders = [os.statvfs(folder) for folder in (SCRATCH, SHM) if os.path.isdir(folder)]
    return sum(folder.f_files - folder.f_ffree for folder in folders) * FILE_BYTES


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
        self._fd = -1  # no counter: reading fails
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


class TimeSpent(NamedTuple):
    """The time of a program so far; all in seconds."""

    user: float = 0.0
    system: float = 0.0
    """CPU time in the kernel."""
    wall: float = 0.0
    waited: float = 0.0
    """Time in which it was ready to run, and waited for a core."""

    @property
    def awake(self) -> float:
        """Wall time without the wait for a core: in it the program worked, or slept."""
        return self.wall - self.waited

    def since(self, begin: TimeSpent) -> TimeSpent:
        """Return the time after `begin`."""
        return TimeSpent(*(end - start for end, start in zip(self, begin, strict=True)))


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
    `sends_alarm`: a program that exceeds a limit is first told that its time is up, and may go on for a second.
    `max_shared_growth`: bytes by which the machine's shared memory may grow; None: not checked.
    `on_slow` is called with the program's processes as soon as it is slow. `baseline`: bytes that each has inherited.
    """

    def __init__(
        self,
        pid: int,
        dialogue: Dialogue,
        limits: Limits,
        supervisor_pids: Container[int],
        *,
        sends_alarm: bool,
        has_namespace: bool,
        baseline: int,
        grace: float = 0.0,
        max_shared_growth: int | None = None,
        on_slow: Callable[[list[int]], object] = lambda pids: None,
    ) -> None:
        self.pid, self.dialogue, self.limits, self.supervisor_pids = pid, dialogue, limits, supervisor_pids
        self.sends_alarm, self.has_namespace, self.baseline, self.grace = sends_alarm, has_namespace, baseline, grace
        self._on_slow, self._is_slow = on_slow, False
        self.shared_limit = None if max_shared_growth is None else machine_memory_bytes("Shmem") + max_shared_growth
        self.reason: str | None = None
        self.alarm_reason: str | None = None
        """Which limit it had exceeded when it was told that its time is up; None: it was not told."""
        self.is_complete = False
        """Whether the dialogue is complete."""
        self.cpu = self.wall = self.waited = 0.0
        self._is_open = True
        """Whether the program's end of the channel is open."""
        self._waits: dict[int, float] = {}
        """Thread -> seconds for which it has waited for a core."""
        self._is_runnable = self._waits_for_disk = False
        """Whether it runs at this moment, or waits for a core (a wait that the kernel has not added yet), or a disk."""
        self._user_seconds: dict[int, float] = {}
        """Process -> its user time, also after its end."""
        self._turn, self._before_turn, self._longest_turn = 0, TimeSpent(), 0.0
        """The current turn of the dialogue, the time before it began, and the CPU time of the longest one so far."""
        # Checks take time, so a program that sends much is not checked more often than a silent one.
        self._next_check = FIRST_TICK
        self._spent_at_alarm = 0.0, 0.0
        """CPU time, and time awake, when it was told that its time is up."""
        os.set_blocking(dialogue.fd, False)

    @property
    def result(self) -> dict[str, Any] | None:
        """The program's result; None if it sent none or an invalid one."""
        return None if self.reason == "garbage" else self.dialogue.result

    def wait(self) -> None:
        """Return when there is a result, when the process has ended, or when a limit is exceeded."""
        self._wait(time.monotonic())
        # After the alarm no call is answered. So the limit is why the run ended, even if the program ended by itself.
        if self.dialogue.is_time_up:
            self.reason = self.reason or self.alarm_reason

    def _wait(self, start: float) -> None:
        """Exchange messages when the program's channel is ready, and check the limits every TICK seconds."""
        process_fd = os.pidfd_open(self.pid)
        poll = select.poll()
        poll.register(process_fd, select.POLLIN)
        tick = FIRST_TICK
        try:
            while self.reason is None:
                self._update_poll(poll)
                events = dict(poll.poll(tick * 1000))
                tick = TICK
                self.wall = time.monotonic() - start
                if self.dialogue.fd in events or process_fd in events:
                    self._exchange_messages()
                if self.is_complete or process_fd in events:
                    return
                if not events or self.wall >= self._next_check:
                    self._check_limits()
                    self._next_check = self.wall + TICK
                    if self.reason is None and self.dialogue.continues_elsewhere():
                        # Another job makes the remaining calls.
                        self.is_complete = True
                        return
        finally:
            os.close(process_fd)

    def check_peak_memory(self, peak: int) -> None:
        """Apply the limit to the peak of resident memory that the kernel reports for a program that has ended.

        Needed where no cgroup applies the limit: the peak may lie between two checks. It includes loaded libraries.
        A check at the peak would have stopped the program, so its last message does not count.
        """
        max_peak = self.baseline + self.limits.memory + MAPPED_FILES
        if self.reason is None and self.limits.memory and peak > max_peak:
            self.reason = "memory"
            self.dialogue.withdraw_last()

    def longest_turn(self, cpu: float) -> float:
        """Return the CPU time of the longest turn, or of several short ones; `cpu`: that of all turns so far."""
        return max(self._longest_turn, cpu - self._before_turn.user - self._before_turn.system)

    def _update_poll(self, poll: select.poll) -> None:
        """Wait for room in the channel only if something is to be sent."""
        if self._is_open:
            poll.register(self.dialogue.fd, select.POLLIN | (select.POLLOUT if self.dialogue.pending else 0))
        else:
            # The program closed its end of the channel, so only the end of its process can still be waited for.
            with contextlib.suppress(KeyError):
                poll.unregister(self.dialogue.fd)

    def _exchange_messages(self) -> None:
        """Receive all data that has come, at most MAX_PARTS parts, and send what the dialogue has next."""
        try:
            for _ in range(MAX_PARTS):
                if self.is_complete or not self._is_open:
                    return
                part = os.read(self.dialogue.fd, PART_BYTES)
                self._is_open = bool(part)
                self.is_complete = self.dialogue.feed(part)
                if self.dialogue.pending:
                    self.dialogue.send()
                has_more = len(part) == PART_BYTES
                if not has_more and not self.dialogue.pending:
                    return
        except GarbageError:
            self.is_complete, self.reason = True, "garbage"
        except BlockingIOError:  # All was received, or the channel is full.
            self._send_pending()
        except OSError:
            self._is_open = False

    def _send_pending(self) -> None:
        """Send what fits in the channel, once nothing is left to receive; if it is closed, drop what is pending."""
        try:
            while self.dialogue.pending:
                self.dialogue.send()
        except BlockingIOError:
            pass
        except OSError:
            self.dialogue.pending = memoryview(b"")

    def _check_limits(self) -> None:
        """Measure the program, and stop it, or tell it that its time is up, if it exceeds a limit."""
        pids = processes(self.supervisor_pids)
        spent = self._update_times(pids)
        # The mean of CPU time and time awake: a second of work counts as one. A second of sleep counts as half, because
        # it takes nothing from other programs, but keeps this sandbox from the next one.
        self.dialogue.spent_seconds = (self.cpu + spent.awake) / 2
        if not self._is_slow and self.dialogue.spent_seconds >= SLOW_SECONDS:
            self._is_slow = True
            self._on_slow(pids)
        if self.dialogue.turn != self._turn:
            self._longest_turn = self.longest_turn(self.cpu)
            self._turn, self._before_turn = self.dialogue.turn, spent
        self.reason = self._memory_excess(pids)
        exceeded = self._time_excess(spent.since(self._before_turn))
        if self.reason is None and exceeded is not None:
            self._stop_or_alarm(pids, exceeded)

    def _update_times(self, pids: list[int]) -> TimeSpent:
        """Read the program's times and the states of its threads; return the time that it has spent."""
        times = cpu_times(pids)
        self._user_seconds |= {pid: alone for pid, (alone, _, _) in times.items()}
        # A child that has ended is in the first sum if its parent waited for it, and in the second if it was seen here.
        with_awaited_children = sum(user for _, user, _ in times.values())
        of_all_seen = sum(self._user_seconds.values())
        user = max(with_awaited_children, of_all_seen)
        system = sum(system for _, _, system in times.values())
        self.cpu = user + system
        self._update_threads(threads(pids))
        return TimeSpent(user, system, self.wall, self.waited)

    def _memory_excess(self, pids: list[int]) -> str | None:
        """Return which limit of memory is exceeded, if one is.

        `memory`: the program's own. `disturbed`: that of the machine's shared memory, which others may have filled.
        """
        if self.limits.memory:
            used = memory_bytes(pids, self.baseline) + socket_bytes(pids) + file_bytes()
            if used > self.limits.memory:
                return "memory"
        if self.shared_limit is not None and machine_memory_bytes("Shmem") > self.shared_limit:
            return "disturbed"
        return None

    def _time_excess(self, turn: TimeSpent) -> str | None:
        """Return which limit the current turn exceeds, if it does: `cpu`, `blocked` (it slept instead) or `wall`."""
        cpu, wall = (limit * self.dialogue.time_factor for limit in (self.limits.cpu, self.limits.wall))
        if turn.user >= cpu or turn.system >= KERNEL_TIMES * cpu:
            return "cpu"
        # The time for which it waits for a core now is not counted yet, and would seem to be sleep.
        if self._is_runnable:
            return None
        # Time in the kernel has the limit of its own above.
        worked_or_slept = turn.awake - turn.system
        if not self._waits_for_disk and worked_or_slept >= cpu + self.grace:
            return "blocked"
        return "wall" if turn.awake >= wall else None

    def _stop_or_alarm(self, pids: Iterable[int], limit: str) -> None:
        """Stop a program that exceeds a limit; with `sends_alarm`, only if it goes on after it was told to stop."""
        cpu_at_alarm, awake_at_alarm = self._spent_at_alarm
        cpu_since, awake_since = self.cpu - cpu_at_alarm, self.wall - self.waited - awake_at_alarm
        if not self.sends_alarm:
            self.reason = limit
        elif self.alarm_reason is None:
            self._send_alarm(pids, limit)
        elif max(cpu_since, awake_since) >= ALARM_SECONDS:
            self.reason = self.alarm_reason

    def _update_threads(self, threads: dict[int, Thread]) -> None:
        """Note what the threads do now, and add the time for which the program waited for a core since the last check.

        Several threads may wait at the same moment, which counts once: so all waits are at most the time without work.
        """
        new_waits = sum(max(0.0, thread.waited - self._waits.get(number, 0.0)) for number, thread in threads.items())
        max_new_waits = self.wall - self.cpu - self.waited
        self.waited += max(0.0, min(new_waits, max_new_waits))
        self._waits |= {number: thread.waited for number, thread in threads.items()}
        self._is_runnable = any(thread.is_runnable for thread in threads.values())
        self._waits_for_disk = any(thread.waits_for_disk for thread in threads.values())

    def _send_alarm(self, pids: Iterable[int], limit: str) -> None:
        """Tell the program that its time is up, as the official evaluator's alarm does; it has a second to go on."""
        self.alarm_reason = limit
        self._spent_at_alarm = (self.cpu, self.wall - self.waited)
        self.dialogue.note_alarm()
        # With its own namespace, the program is the child of the process that was started.
        target = next((p for p in pids if self.has_namespace and parent(p) == self.pid), self.pid)
        with contextlib.suppress(OSError):
            os.kill(target, signal.SIGALRM)
