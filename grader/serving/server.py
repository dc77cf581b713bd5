"""A server on a port or a socket: it checks address and token, serves, and ends without losing requests."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import signal
import socket
from typing import TYPE_CHECKING

import uvicorn

from grader.errors import InfrastructureError, UsageError
from grader.serving.app import LOOPBACK, Service
from grader.serving.connection import (
    ACCEPTED_AT_A_TIME,
    IDLE_SECONDS,
    LISTEN_BACKLOG,
    ServerConnection,
    is_loopback,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.pool.samples import Samples
    from grader.serving.requests import ServerLimits

MIN_TOKEN_LENGTH = 16
STOP_SECONDS = 60


def check_access(host: str, token: str) -> None:
    """Raise UsageError if other machines could reach the server without a token that is hard to guess."""
    if not token and not is_loopback(host):
        raise UsageError(
            f"--host {host}: other machines can reach this address, so a token is needed: give a file with one as "
            "--token-file, or set GRADE_SERVE_TOKEN. Without a token, omit --host."
        )
    if token and (len(token) < MIN_TOKEN_LENGTH or not token.isascii() or not token.isprintable() or " " in token):
        raise UsageError(
            f"The token must be at least {MIN_TOKEN_LENGTH} printable characters without spaces; create one with "
            "`openssl rand -hex 32`."
        )


def serve(
    samples: Samples, host: str, port: int, *, limits: ServerLimits, token: str, say: Callable[[str], None]
) -> None:
    """Serve until SIGTERM or SIGINT, then answer open requests; raises InfrastructureError.

    `say` gets the address when clients can connect.
    """
    # Other machines may know this one by any name.
    allowed_hosts = LOOPBACK if is_loopback(host) else None
    with _listen(host, port) as sock, samples, Service(samples, limits, token=token) as service:
        name = f"[{host}]" if ":" in host else host
        address = f"http://{name}:{sock.getsockname()[1]}"
        server = HttpServer(service, allowed_hosts, lambda: say(address), shutdown_seconds=STOP_SECONDS)
        asyncio.run(server.serve(sockets=[sock]))


class HttpServer(uvicorn.Server):
    """A server that returns after a signal, so that the code after `serve` runs."""

    def __init__(
        self, service: Service, allowed_hosts: list[str] | None, ready: Callable[[], None], *, shutdown_seconds: int
    ) -> None:
        """`ready` is called when clients can connect; open requests have `shutdown_seconds` when the server ends."""
        config = uvicorn.Config(
            service.app(allowed_hosts),
            http=functools.partial(ServerConnection, connections=service.connections),  # type: ignore[arg-type] # called like a class
            ws="none",
            log_level="error",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            backlog=ACCEPTED_AT_A_TIME,
            timeout_keep_alive=IDLE_SECONDS,
            timeout_graceful_shutdown=shutdown_seconds,
            lifespan="off",
        )
        super().__init__(config)
        self._ready = ready

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Note signals. uvicorn would send them again at the end."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen with a longer queue than `backlog`, which is also the number that asyncio accepts at a time."""
        await super().startup(sockets)
        for sock in sockets or ():
            sock.listen(LISTEN_BACKLOG)
        self._ready()


def _listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens on this address; raises InfrastructureError."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except (OSError, OverflowError) as error:
        number = error.errno if isinstance(error, OSError) else None
        # Python adds the address, as it writes it, to the system's reason.
        reason = os.strerror(number) if number is not None and number > 0 else error
        raise InfrastructureError(
            f"Cannot listen on {host}:{port} ({reason}); give another port with --port (0: any free one)."
        ) from error
