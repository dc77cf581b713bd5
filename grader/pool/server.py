"""The process that grades: it listens on a socket, scores in rounds, and ends when it has no client any more."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import signal
import sys
import time
from typing import TYPE_CHECKING

import msgspec

from grader.errors import GradeError, InfrastructureError, UsageError
from grader.pool import messages, settings, starting
from grader.pool.messages import Found, Grade, Hello, Leave, PoolState, Refused, Tell
from grader.pool.rounds import Rounds, Waiting
from grader.pool.samples import Samples, load

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from grader.pool.settings import PoolSettings
    from grader.results import SampleResult

IDLE_TICK = 0.25
LEAVE_TICK = 0.1
LOCK_SECONDS = 5.0
LISTENING = b"listening\n"
"""The message on standard output, to the process that started it, when clients can connect."""


def main() -> None:
    """Detach from the parent, read the settings from standard input, serve, and end the process."""
    if os.fork():
        # The parent waits only for this process to exit, not for the one that stays.
        os._exit(0)
    os.setsid()
    os.chdir("/")
    pool_settings = settings.decode(sys.stdin.buffer.read())
    output = os.dup(1)
    os.dup2(2, 1)
    try:
        serve(pool_settings, functools.partial(_say, output))
    except GradeError as error:
        _say(output, msgspec.json.encode(Refused(kind=type(error).__name__, text=str(error))) + b"\n")
        sys.exit(error.exit_code)


def _say(fd: int, line: bytes) -> None:
    with contextlib.suppress(OSError):
        os.write(fd, line)
    with contextlib.suppress(OSError):
        os.close(fd)


def serve(pool_settings: PoolSettings, say: Callable[[bytes], None]) -> None:
    """Serve until no client is connected; raises a GradeError if it cannot start."""
    path = starting.socket_path(pool_settings.name)
    with Samples(load(pool_settings.options)) as samples:
        rounds = Rounds(samples, whole=pool_settings.rounds)
        rounds.start()
        try:
            asyncio.run(_Server(pool_settings, samples, rounds, path).run(lambda: say(LISTENING)))
        finally:
            # Nobody waits any more, and a program may run for a minute.
            rounds.stop(samples.abort)


class _Server:
    """The connections and their requests."""

    def __init__(self, pool_settings: PoolSettings, samples: Samples, rounds: Rounds, path: Path) -> None:
        self.given, self._samples, self.rounds, self._path = pool_settings, samples, rounds, path
        self._began = time.monotonic()
        self._clients: set[asyncio.Task[None]] = set()
        self._last_seen = time.monotonic()
        self._linger = max(pool_settings.linger, 2.0)
        """At least 2 s, so that the first client has time to connect even if `linger` is short."""
        self.ended = asyncio.Event()

    async def run(self, ready: Callable[[], None]) -> None:
        """Listen until it is time to end; `ready` is called when it listens."""
        with contextlib.suppress(FileNotFoundError):
            # The process that started this one holds the lock, so no other server uses the path.
            self._path.unlink()
        server = await asyncio.start_unix_server(self._connected, self._path, backlog=1024)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.ended.set)
        ready()
        await self._until_nobody_is_there()
        server.close()
        for client in list(self._clients):
            client.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)

    async def _until_nobody_is_there(self) -> None:
        while not self.ended.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.ended.wait(), IDLE_TICK)
            if self._clients:
                self._last_seen = time.monotonic()
            elif time.monotonic() - self._last_seen >= self._linger and self._unlisted():
                return
        # The holder of the lock may be waiting for an answer from this process.
        with starting.locked(self.given.name, LOCK_SECONDS):
            self._path.unlink(missing_ok=True)

    def _unlisted(self) -> bool:
        """Remove the socket unless somebody is starting or connecting now; return whether it was removed."""
        with starting.locked(self.given.name, 0) as is_held:
            if is_held:
                self._path.unlink(missing_ok=True)
        return is_held

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._clients.add(task)
        self._linger = self.given.linger
        try:
            await _Client(self, reader, writer).serve()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError, msgspec.MsgspecError):
            pass
        finally:
            self._clients.discard(task)
            self._last_seen = time.monotonic()
            writer.close()

    # --- used by the clients' connections ---

    def left(self, connection: int) -> None:
        """Handle a client's last message. If it is the only client, its connection stays open until all has ended."""
        if len(self._clients) == 1:
            self._linger = 0.0
            os.dup(connection)

    def state(self) -> PoolState:
        """Return the state of the pool."""
        counts, (lanes, oldest) = self.rounds.counts, self.rounds.queued()
        sandboxes, jobs = self._samples.losses
        return PoolState(
            pid=os.getpid(),
            benchmark=self._samples.benchmark,
            seconds=time.monotonic() - self._began,
            waiting=self.rounds.waiting,
            lanes=lanes,
            oldest_seconds=oldest,
            rate=counts.rate.value,
            clients=len(self._clients),
            rounds=counts.rounds,
            busy_seconds=counts.busy_seconds,
            outcomes=dict(counts.outcomes),
            flagged=dict(counts.flagged),
            expired=counts.expired,
            repeated=counts.repeated + jobs,
            lost_sandboxes=sandboxes,
            failures=counts.failures,
            problem=counts.problem,
            memory_bytes=_resident_bytes(),
        )


class _Client:
    """One connection, which handles one request at a time."""

    def __init__(self, server: _Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._server, self._reader, self._writer = server, reader, writer

    async def serve(self) -> None:
        """Answer requests until the other end closes."""
        self._send(Hello(pid=os.getpid()))
        while True:
            data = await self._reader.readexactly(messages.length(await self._reader.readexactly(messages.HEADER.size)))
            match messages.request(data):
                case Grade() as asked:
                    await self._grade(asked)
                case Tell():
                    self._send(self._server.state())
                case Leave():
                    # The leaving client is closing its other connections at this moment.
                    await asyncio.sleep(LEAVE_TICK)
                    self._server.left(self._writer.get_extra_info("socket").fileno())
                    return
            await self._writer.drain()

    def _send(self, message: messages.Reply) -> None:
        self._writer.write(messages.frame(message))

    async def _grade(self, asked: Grade) -> None:
        if not asked.seconds > 0:
            why = f"wait: expected more than 0 seconds, not {asked.seconds}"
            self._send(Refused(kind=UsageError.__name__, text=why))
            return
        if self._server.ended.is_set():
            self._send(Refused(kind=InfrastructureError.__name__, text="The pool is ending."))
            return
        loop = asyncio.get_running_loop()
        found = asyncio.Queue[Found]()

        def give(number: int, result: SampleResult) -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended, so no client waits
                loop.call_soon_threadsafe(found.put_nowait, Found(place=number, result=result))

        now = time.monotonic()
        rows = {name: bytes(row) for name, row in asked.rows.items()}
        given = self._server.given
        items = [
            Waiting(
                msgspec.structs.replace(
                    one,
                    data=rows.get(one.row, b""),
                    each=one.each or given.reward == "tests_right",
                    wait=min(one.wait or asked.seconds, asked.seconds),
                ),
                now + min(one.wait or asked.seconds, asked.seconds),
                functools.partial(give, number),
            )
            for number, one in enumerate(asked.samples)
        ]
        self._server.rounds.submit(items)
        try:
            await self._hand_over(items, found)
        finally:
            for item in items:
                item.gone = True

    async def _hand_over(self, items: list[Waiting], found: asyncio.Queue[Found]) -> None:
        """Send results as they come, until all are sent or the client has gone; a late sample is unscored."""
        open_ = dict.fromkeys(sorted(range(len(items)), key=lambda number: items[number].deadline))
        ended = asyncio.ensure_future(self._gone())
        try:
            while open_:
                first = next(iter(open_))
                coming = asyncio.ensure_future(found.get())
                left = max(0.0, items[first].deadline - time.monotonic())
                await asyncio.wait({coming, ended}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
                if not coming.done():
                    coming.cancel()
                    with contextlib.suppress(asyncio.CancelledError):
                        await coming
                if ended.done():
                    raise ConnectionResetError
                if coming.cancelled():
                    items[first].gone = True
                    why = _late(items[first].asked.wait, self._server.rounds.counts.problem)
                    late = messages.unscored(items[first].asked, why)
                    one = Found(place=first, result=late)
                else:
                    one = coming.result()
                if one.place in open_:
                    del open_[one.place]
                    self._send(one)
                    await self._writer.drain()
        finally:
            ended.cancel()

    async def _gone(self) -> None:
        """Return when the other end has closed."""
        while not self._reader.at_eof():
            await asyncio.sleep(IDLE_TICK)


def _late(seconds: float, problem: str) -> str:
    advice = f"the last round failed: {problem}" if problem else "wait longer, or ask for fewer samples at a time"
    return f"not scored within {seconds:g} seconds; {advice}"


def _resident_bytes() -> int:
    with open("/proc/self/statm", "rb") as file:  # noqa: PTH123 - bytes of a file of the kernel
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
