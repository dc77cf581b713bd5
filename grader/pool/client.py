"""`Pool`: grading for training loops. Any thread and process of a node can use it; one process of the node grades."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any, Self

from grader.errors import UsageError
from grader.pool import messages
from grader.pool.asking import Exchange, asked_of
from grader.pool.messages import Leave, PoolState, Tell
from grader.pool.settings import settings_of
from grader.pool.starting import START_SECONDS, connect, receive

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.results import SampleResult

MARGIN_SECONDS = 5.0
"""Time that the client waits longer than the pool's process before it gives up."""
END_SECONDS = 60.0
"""Maximum time to wait until the process has ended its sandboxes."""
MAX_IDLE = 32
"""Maximum number of idle connections to keep."""
RECONNECT_SECONDS = 0.2


class Pool:
    """Grades samples of one benchmark for as long as it is open, from any thread and after any fork.

    The keywords are those of `grader.grade` that say what is graded and how (`benchmark`, `data`, `protocol`,
    `sandbox`, `workers`, `timeout`, `memory`, ...). `wait` is the maximum number of seconds of a call. Pools with the
    same keywords share one process on a node (`shared=False`: this pool has its own). `interactive=False` leaves tasks
    unscored if their programs would have to run beside their tests. `linger`: seconds that the process stays after the
    last pool has closed.

    Raises UsageError. The process starts with the first call, with `start`, or at the beginning of a `with` block.
    """

    def __init__(
        self,
        *,
        wait: float = 600.0,
        interactive: bool = True,
        shared: bool = True,
        linger: float = 10.0,
        **options: Any,
    ) -> None:
        self._given = {"wait": wait, "interactive": interactive, "shared": shared, "linger": linger, **options}
        self._wait = _seconds(wait)
        own = "" if shared else os.urandom(8).hex()
        self._settings = settings_of(options, interactive=interactive, shared=own, linger=linger)
        self._begin()
        _pools.add(self)

    def _begin(self) -> None:
        """Reset to a state without connections: in a new object, and in a forked process."""
        self._lock = threading.Lock()
        self._idle: list[socket.socket] = []
        self._is_closed = False

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (self._given,)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> Self:
        """Start the process, or connect to it if it runs; raises a GradeError if it cannot start."""
        self._put_back(self._take(START_SECONDS))
        return self

    def close(self) -> None:
        """Disconnect. The process ends if it has no other user. Open calls are answered first."""
        with self._lock:
            idle, self._idle, self._is_closed = self._idle, [], True
        for connection in idle[1:]:
            connection.close()
        for connection in idle[:1]:
            with contextlib.suppress(OSError), connection:
                connection.settimeout(END_SECONDS)
                connection.sendall(messages.frame(Leave()))
                # If there is no other user, it closes this connection after its sandboxes have ended.
                connection.recv(1)

    def grade_samples(
        self, samples: Iterable[tuple[str, str]], *, official: bool = False, wait: float | None = None
    ) -> list[SampleResult]:
        """Return a result for each (qid, raw output), in the given order, after at most `wait` seconds.

        Every result has the careful reading; with `official=True` also the official one, from separate sandboxes.
        A sample that could not be scored is `unscored`, with the reason as its detail. Raises UsageError for an unknown
        qid, a GradeError if the process cannot start.
        """
        seconds = self._wait if wait is None else _seconds(wait)
        deadline = time.monotonic() + seconds
        exchange = Exchange(asked_of(samples, official=official))
        why = ""
        while not exchange.is_complete and (left := deadline - time.monotonic()) > 0:
            connection = self._take(left)
            try:
                self._ask(connection, exchange, left)
            except OSError as error:
                # The process has ended or does not answer: the next try finds or starts another one.
                connection.close()
                why = str(error)
                time.sleep(min(RECONNECT_SECONDS, max(0.0, deadline - time.monotonic())))
            except BaseException:
                # Later messages on it would be mistaken for the answer to the next request.
                connection.close()
                raise
            else:
                self._put_back(connection)
        return exchange.results(f"not scored within {seconds:g} seconds" + (f" ({why})" if why else ""))

    def _ask(self, connection: socket.socket, exchange: Exchange, left: float) -> None:
        end = time.monotonic() + left + MARGIN_SECONDS
        connection.settimeout(left + MARGIN_SECONDS)
        connection.sendall(exchange.request(left))
        while not exchange.is_complete:
            connection.settimeout(max(0.01, end - time.monotonic()))
            exchange.take(receive(connection))

    async def grade_samples_async(
        self, samples: Iterable[tuple[str, str]], *, official: bool = False, wait: float | None = None
    ) -> list[SampleResult]:
        """Like `grade_samples`, asynchronously; if the caller is cancelled, samples that have not begun are dropped."""
        seconds = self._wait if wait is None else _seconds(wait)
        deadline = time.monotonic() + seconds
        exchange = Exchange(asked_of(samples, official=official))
        why = ""
        while not exchange.is_complete and (left := deadline - time.monotonic()) > 0:
            connection = await asyncio.to_thread(self._take, left)
            reader, writer = await asyncio.open_unix_connection(sock=connection)
            try:
                async with asyncio.timeout(left + MARGIN_SECONDS):
                    writer.write(exchange.request(left))
                    while not exchange.is_complete:
                        header = await reader.readexactly(messages.HEADER.size)
                        exchange.take(messages.reply(await reader.readexactly(messages.length(header))))
            except (OSError, EOFError) as error:
                why = str(error)
                await asyncio.sleep(min(RECONNECT_SECONDS, max(0.0, deadline - time.monotonic())))
            finally:
                writer.close()
        return exchange.results(f"not scored within {seconds:g} seconds" + (f" ({why})" if why else ""))

    def state(self) -> PoolState:
        """Return the state of the pool's process; raises a GradeError if there is no process and none can start."""
        for _ in range(2):
            connection = self._take(START_SECONDS)
            try:
                connection.settimeout(MARGIN_SECONDS)
                connection.sendall(messages.frame(Tell()))
                said = receive(connection)
            except OSError:
                connection.close()
                continue
            self._put_back(connection)
            if isinstance(said, PoolState):
                return said
        raise UsageError("The pool's process does not report its state.")

    # --- connections ---

    def _take(self, seconds: float) -> socket.socket:
        """Return a connection for exclusive use."""
        with self._lock:
            if self._is_closed:
                raise UsageError("This Pool is closed; create a new one.")
            while self._idle:
                connection = self._idle.pop()
                if _is_alive(connection):
                    return connection
                connection.close()
        return connect(self._settings, max(seconds, MARGIN_SECONDS))

    def _put_back(self, connection: socket.socket) -> None:
        with self._lock:
            if not self._is_closed and len(self._idle) < MAX_IDLE:
                self._idle.append(connection)
                return
        connection.close()

    def _forget(self) -> None:
        """Reset after a fork: the connections are the parent's, and its threads, which may hold locks, are missing."""
        inherited = self._idle
        self._begin()
        for connection in inherited:
            connection.close()


_pools: weakref.WeakSet[Pool] = weakref.WeakSet()


def _forget_all() -> None:
    for pool in list(_pools):
        pool._forget()


os.register_at_fork(after_in_child=_forget_all)


def _made(given: dict[str, Any]) -> Pool:
    return Pool(**given)


def _seconds(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
        raise UsageError(f"wait: expected a number of seconds above 0, not {value!r}")
    return float(value)


def _is_alive(connection: socket.socket) -> bool:
    """Whether the other end is open. It sends nothing unasked, so readable data means that it has closed."""
    connection.settimeout(0)
    try:
        connection.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
