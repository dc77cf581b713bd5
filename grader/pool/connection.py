"""Requests to the process that grades: HTTP/1.0 over a socket of this user, with a connection for each."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import msgspec

from grader.errors import UsageError

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncGenerator, Iterator

    from grader.errors import GradeError

PART_BYTES = 1 << 18
MAX_LINE_BYTES = 1 << 30
"""Maximum length of a line, whatever a program printed."""
HEAD = "{} {} HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n"
CLOSED = "the pool's process has closed the connection"
OK, TOO_MANY, SERVER_ERROR = 200, 429, 500


def encode_request(method: str, path: str, body: bytes = b"") -> bytes:
    """Return a request as it is sent."""
    return HEAD.format(method, path, len(body)).encode() + body


def send_request(sock: socket.socket, request: bytes, seconds: float) -> Iterator[bytes]:
    """Send a request and yield the lines of its answer, then close the connection; raises OSError, UsageError.

    The last line is not whole if the process ends meanwhile.
    """
    end = time.monotonic() + seconds
    with sock, sock.makefile("rb", PART_BYTES) as answer:
        sock.settimeout(seconds)
        sock.sendall(request)
        status = _status(answer.readline())
        while answer.readline().strip():
            pass
        if status != OK:
            raise _refusal_error(status, answer.read())
        while line := answer.readline():
            yield line
            sock.settimeout(max(0.01, end - time.monotonic()))


async def send_request_async(sock: socket.socket, request: bytes, seconds: float) -> AsyncGenerator[bytes, None]:
    """Like `send_request`, asynchronously."""
    end = asyncio.get_running_loop().time() + seconds
    answer, writer = await asyncio.open_unix_connection(sock=sock, limit=MAX_LINE_BYTES)
    try:
        writer.write(request)
        async with asyncio.timeout_at(end):
            await writer.drain()
            status = _status(await answer.readline())
            while (await answer.readline()).strip():
                pass
            if status != OK:
                raise _refusal_error(status, await answer.read())
        while True:
            async with asyncio.timeout_at(end):
                line = await answer.readline()
            if not line:
                return
            yield line
    finally:
        writer.close()


def _status(line: bytes) -> int:
    """Return the status in the first line of an answer."""
    try:
        return int(line.split()[1])
    except (IndexError, ValueError):
        raise ConnectionError(CLOSED) from None


def _refusal_error(status: int, answer: bytes) -> OSError | GradeError:
    """Return the error of an answer: an OSError if another try may succeed."""
    try:
        text = msgspec.json.decode(answer, type=dict[str, str])["error"]
    except (msgspec.MsgspecError, KeyError):
        text = f"HTTP status {status}"
    return ConnectionError(text) if status == TOO_MANY or status >= SERVER_ERROR else UsageError(text)
