"""The server's process: an address that it may have, a token where one is needed, and an end that loses nothing."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import signal
import socket
from typing import TYPE_CHECKING

import uvicorn

from grader.errors import InfrastructureError, UsageError
from grader.serving.app import LOOPBACK, make_app

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.pool.client import Pool
    from grader.serving.requests import Limits

LEAST_TOKEN = 16
KEEP_ALIVE_SECONDS = 75
STOP_SECONDS = 60


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


def check_access(host: str, token: str) -> None:
    """Raise UsageError where others could reach the server without a token that cannot be guessed."""
    if not token and not is_loopback(host):
        raise UsageError(
            f"--host {host}: other machines reach this address, so a token is needed: name a file that has one with "
            "--token-file, or set GRADE_SERVE_TOKEN. Without one, leave --host out."
        )
    if token and (len(token) < LEAST_TOKEN or not token.isascii() or not token.isprintable() or " " in token):
        raise UsageError(
            f"The token has to be at least {LEAST_TOKEN} printable characters without spaces; make one with "
            "`openssl rand -hex 32`."
        )


def serve(pool: Pool, host: str, port: int, *, limits: Limits, token: str, listening: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT, then answer what is under way; raises UsageError, InfrastructureError.

    `listening` is told the address, once it can be asked.
    """
    check_access(host, token)
    with _bound(host, port) as sock:
        app = make_app(pool, limits, token=token, hosts=LOOPBACK if is_loopback(host) else None)
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=STOP_SECONDS,
            lifespan="off",
        )
        number = sock.getsockname()[1]
        name = f"[{host}]" if ":" in host else host
        asyncio.run(_Stoppable(config, lambda: listening(f"http://{name}:{number}")).serve(sockets=[sock]))


class _Stoppable(uvicorn.Server):
    """Ends by itself after a signal: what comes after `serve` has to run."""

    def __init__(self, config: uvicorn.Config, listening: Callable[[], None]) -> None:
        super().__init__(config)
        self._listening = listening

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._listening()


def _bound(host: str, port: int) -> socket.socket:
    """Return a socket of this address; raises InfrastructureError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
    except (OSError, OverflowError) as error:
        made.close()
        raise InfrastructureError(
            f"{host}:{port} cannot be listened on ({error}); name another port with --port (0: any that is free)."
        ) from error
    return made
