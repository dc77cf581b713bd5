"""The process of the server: it checks address and token, serves, and ends without losing requests."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import signal
import socket
from typing import TYPE_CHECKING

import uvicorn

from grader.errors import InfrastructureError, UsageError
from grader.serving.app import LOOPBACK, OTHER_PATH, make_app
from grader.serving.connection import (
    BACKLOG,
    IDLE_SECONDS,
    BoundedLog,
    Connection,
    Connections,
    is_loopback,
    most_connections,
)
from grader.serving.metrics import Metrics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.pool.client import Pool
    from grader.serving.requests import Limits

LEAST_TOKEN = 16
STOP_SECONDS = 60
LOGS = ("asyncio", "uvicorn.error")
"""The logs of errors: those of the event loop, such as of `accept`, and those of answers."""


def check_access(host: str, token: str) -> None:
    """Raise UsageError if other machines could reach the server without a token that is hard to guess."""
    if not token and not is_loopback(host):
        raise UsageError(
            f"--host {host}: other machines can reach this address, so a token is needed: give a file with one as "
            "--token-file, or set GRADE_SERVE_TOKEN. Without a token, omit --host."
        )
    if token and (len(token) < LEAST_TOKEN or not token.isascii() or not token.isprintable() or " " in token):
        raise UsageError(
            f"The token must be at least {LEAST_TOKEN} printable characters without spaces; create one with "
            "`openssl rand -hex 32`."
        )


def serve(pool: Pool, host: str, port: int, *, limits: Limits, token: str, listening: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT, then answer open requests; raises UsageError, InfrastructureError.

    `listening` is called with the address when clients can connect.
    """
    check_access(host, token)
    with _bound(host, port) as sock:
        metrics = Metrics()
        app = make_app(pool, limits, metrics, token=token, hosts=LOOPBACK if is_loopback(host) else None)
        everyone = Connections(most_connections(), lambda status: metrics.requests.labels(OTHER_PATH, status).inc())
        config = uvicorn.Config(
            app,
            http=functools.partial(Connection, everyone=everyone),  # type: ignore[arg-type] # called like a class
            ws="none",
            log_level="error",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            backlog=BACKLOG,
            timeout_keep_alive=IDLE_SECONDS,
            timeout_graceful_shutdown=STOP_SECONDS,
            lifespan="off",
        )
        number = sock.getsockname()[1]
        name = f"[{host}]" if ":" in host else host
        asyncio.run(_Stoppable(config, lambda: listening(f"http://{name}:{number}")).serve(sockets=[sock]))


class _Stoppable(uvicorn.Server):
    """A server that returns after a signal, so that the code after `serve` runs."""

    def __init__(self, config: uvicorn.Config, listening: Callable[[], None]) -> None:
        super().__init__(config)
        self._listening = listening

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        bounded = BoundedLog()
        for name in LOGS:
            logging.getLogger(name).addFilter(bounded)
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._listening()


def _bound(host: str, port: int) -> socket.socket:
    """Return a socket bound to this address; raises InfrastructureError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
    except (OSError, OverflowError) as error:
        made.close()
        raise InfrastructureError(
            f"Cannot listen on {host}:{port} ({error}); give another port with --port (0: any free one)."
        ) from error
    return made
