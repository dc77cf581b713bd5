"""Clients that hold connections: the server goes on answering others, and its log stays short."""

import contextlib
import resource
import signal
import socket
import sys
import time
from collections.abc import Iterator

import pytest

from tests.serving.test_serve import COMMAND, GOOD, LONG, SLOW, Served, served, wait_for

FEW_DESCRIPTORS = ["bash", "-c", 'ulimit -n 1024; exec "$@"', "-"]
QUICK = [sys.executable, "-c", f"from grader.serving import connection\nconnection.HEADER_SECONDS = 1.0\n{SLOW}"]
HEAD = b"POST /grade HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
HELD = b"GET /health HTTP/1.1\r\nHost: localhost\r\n"


@contextlib.contextmanager
def held(port: int, count: int, host: str = "127.0.0.1") -> Iterator[list[socket.socket]]:
    """Open connections that never finish their headers."""
    with contextlib.ExitStack() as stack:
        found = []
        for _ in range(count):
            connection = stack.enter_context(socket.create_connection((host, port), timeout=60))
            with contextlib.suppress(OSError):
                connection.sendall(HELD)
            found.append(connection)
        yield found


def log_of(server: Served) -> str:
    server.process.send_signal(signal.SIGTERM)
    return server.process.communicate(timeout=60)[1]


def is_closed(connection: socket.socket, seconds: float = 0.0) -> bool:
    connection.settimeout(seconds)
    try:
        return not connection.recv(1000)
    except ConnectionError:
        return True
    except (BlockingIOError, TimeoutError):
        return False


@pytest.fixture(autouse=True)
def _own_descriptors() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(before[1], 4096), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_connections_without_a_request_do_not_stop_it() -> None:
    with served(command=[*FEW_DESCRIPTORS, *COMMAND]) as server:
        with held(server.port, 1100):
            assert [server.ask("GET", "/health").status for _ in range(6)] == [200] * 6
            assert server.ask("POST", "/grade", GOOD).status == 200
        assert len(log_of(server)) < 1000


def test_headers_have_a_deadline_that_bytes_do_not_move() -> None:
    with served(command=QUICK) as server, socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(HELD)
        began = time.monotonic()
        with contextlib.suppress(OSError):
            while not is_closed(connection, 0.1):
                connection.sendall(b"X: y\r\n")
                assert time.monotonic() - began < 30
        # An answer to a request that is not whole ends the same way.
    with served(command=QUICK) as server, socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(HEAD.replace(b"POST", b"PUT") + b"Content-Length: 1000000\r\n\r\n")
        assert b" 405 " in connection.recv(1000)
        with contextlib.suppress(OSError):
            while not is_closed(connection, 0.1):
                connection.sendall(b"x")
                assert time.monotonic() - began < 60


@pytest.mark.parametrize("more", [b"}", b', "stream": true}'])
def test_a_client_that_has_left_is_not_worked_for(more: bytes) -> None:
    """Rounds have at most four samples. Of an answer in lines, the first ones have been sent."""
    with served(command=[sys.executable, "-c", LONG]) as server:
        body = b'{"samples": [' + b", ".join([b'{"qid": "3", "text": "A"}'] * 12) + b"]" + more
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
            connection.sendall(
                HEAD.replace(b"/grade", b"/grade/batch") + b"Content-Length: %d\r\n\r\n" % len(body) + body
            )
            assert server.process.stderr.readline() == "began\n"
        wait_for(server, "grade_samples_under_way", 0)
        wait_for(server, "grade_samples_expired_total", 8)


def test_an_answer_that_is_not_read_ends_its_connection() -> None:
    quick = f"from grader.serving import connection\nconnection.UNREAD_SECONDS = 1.0\n{SLOW}"
    with served(command=[sys.executable, "-c", quick]) as server, socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)  # soon full
        connection.connect(("127.0.0.1", server.port))
        connection.setblocking(False)
        asked = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n" * 1000
        began = time.monotonic()
        with contextlib.suppress(ConnectionError):
            while True:
                with contextlib.suppress(BlockingIOError):
                    connection.send(asked)
                time.sleep(0.01)
                assert time.monotonic() - began < 60
