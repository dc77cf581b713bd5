"""Replies that never end, redirects, TLS, and texts of a server in which the key comes back."""

import base64
import contextlib
import gzip
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from grader.models import bounded
from grader.models.client import Patience
from grader.models.replies import Reply
from tests.models.made import KEY, client, request
from tests.models.server import Action, Asked, ModelServer, fail, raw, say

pytestmark = pytest.mark.usefixtures("no_servers")

ONCE = Patience(attempts=1)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"


@contextlib.contextmanager
def serving(reply: Callable[[socket.socket], object]) -> Iterator[str]:
    """A server that does with each connection what it likes, after a whole request; yields its address."""
    ended = threading.Event()

    def serve(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            received = b""
            while b"\r\n\r\n" not in received:
                received += connection.recv(65536)
            while not ended.is_set() and reply(connection):
                pass

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        finally:
            ended.set()
            listener.shutdown(socket.SHUT_RDWR)


def dripping(begin: bytes) -> Callable[[socket.socket], object]:
    """Send a beginning, then a byte now and then."""
    begun: set[socket.socket] = set()

    def drip(connection: socket.socket) -> bool:
        connection.sendall(b" " if connection in begun else begin)
        begun.add(connection)
        time.sleep(0.1)
        return True

    return drip


@pytest.mark.parametrize(
    ("begin", "said"),
    [
        (HEAD + b"Content-Length: 1000000\r\n\r\n{", "sends its reply too slowly: after 0.5 s it was not complete ("),
        (HEAD + b"\r\n", "sends its reply too slowly: after 0.5 s it was not complete ("),
        (HEAD + b"X-Slow: ", "did not reply within 0.5 s"),
        (b"HTTP/1.1 500 No\r\n\r\n", "sends its reply too slowly: after 0.5 s"),
    ],
    ids=["a body with a length", "a body until the end", "a header", "an error"],
)
def test_a_reply_that_drips_ends_when_the_time_is_over(begin: bytes, said: str) -> None:
    with serving(dripping(begin)) as url, client(url, timeout=0.5, patience=ONCE) as it:
        failure = it.ask(request())
    assert failure.kind == "down"
    assert failure.reason.startswith(f"{url} {said}")


def test_a_body_without_an_end_is_cut_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "MOST_BYTES", 3 << 20)
    sent = [0]

    def flood(connection: socket.socket) -> bool:
        connection.sendall(b" " * (1 << 16) if sent[0] else HEAD + b"\r\n{")
        sent[0] += 1 << 16
        return True

    with serving(flood) as url, client(url, timeout=600.0, patience=ONCE) as it:
        failure = it.ask(request())
    assert failure.reason == f"{url} sent a reply of more than 3 MB"
    assert sent[0] < 64 << 20


def test_a_reply_that_unpacks_to_too_much_is_cut_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "MOST_BYTES", 3 << 20)
    bomb = Action(body=gzip.compress(b" " * (64 << 20)), headers={"Content-Encoding": "gzip"})
    small = Action(body=gzip.compress(say("B").body), headers={"Content-Encoding": "gzip"})
    other = Action(body=b"x", headers={"Content-Encoding": "br"})
    with ModelServer.playing(bomb, small, other) as server, client(server, patience=ONCE) as it:
        failure, reply, strange = (it.ask(request()) for _ in range(3))
    assert len(bomb.body) < 1 << 20
    assert failure.reason == f"{server.url} sent a reply of more than 3 MB"
    assert reply.content == "B"
    assert strange.reason == f"{server.url} compressed its reply with 'br', which was not asked for"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed_and_its_address_is_named(status: int) -> None:
    with ModelServer.playing(say("A")) as elsewhere:
        there = f"http://me:{KEY}@127.0.0.1:{elsewhere.port}/v1/chat/completions?key={KEY}"
        with ModelServer.playing(fail(status, location=there)) as server, client(server) as it:
            failure = it.ask(request("secret prompt"))
    assert elsewhere.asked == []
    assert (failure.kind, failure.attempts) == ("fatal", 1)
    assert (
        f"redirects to http://127.0.0.1:{elsewhere.port}/v1/chat/completions. Nothing was sent there" in failure.reason
    )
    assert "--base-url" in failure.reason
    assert KEY not in failure.reason


@pytest.mark.parametrize("location", ["http://[", "http://a:99999/", ""])
def test_a_redirect_to_no_address_is_a_failure_as_any_other(location: str) -> None:
    with ModelServer.playing(fail(302, location=location)) as server, client(server) as it:
        failure = it.ask(request())
    assert failure.kind == "fatal"
    assert "redirects to " in failure.reason


def forms(key: str) -> list[str]:
    """The key as it is, and in base64 with anything before it."""
    encoded = [base64.b64encode(before + key.encode() + b" and more").decode() for before in (b"", b"x", b"xy", b"xyz")]
    return [key, *encoded, *(base64.urlsafe_b64encode(key.encode()).decode(), base64.b64encode(key.encode()).decode())]


def test_a_key_that_comes_back_in_any_text_is_hidden_also_in_base64() -> None:
    key = "sk-?>~~" + KEY

    def decide(asked: Asked) -> Action:
        said = asked.prompt
        if said.startswith("fail "):
            return fail(500, said[5:])
        body = json.loads(say(said, finish=said, reasoning_content=said).body) | {"model": said}
        return raw(json.dumps(body).encode())

    with ModelServer(decide) as server, client(server, api_key=key, patience=ONCE) as it:
        for form in forms(key):
            reply, failure = it.ask(request(form)), it.ask(request(f"fail {form}"))
            for text in (reply.content, reply.reasoning, reply.finish_reason, reply.model, failure.reason):
                assert "***" in text
                assert form not in text
                assert key[4:-4] not in text


@pytest.mark.parametrize("after", ["1e308", "nan", "-5"])
def test_a_wait_that_no_server_can_mean_is_bounded(after: str) -> None:
    with ModelServer.playing(fail(429, retry_after=after), say("A")) as server, client(server) as it:
        outcome = it.ask(request())
    if after == "1e308":
        assert outcome.reason.endswith("; it asks to wait a day or more")
        assert outcome.wait <= 86_400
    else:
        assert isinstance(outcome, Reply)


def test_a_lone_surrogate_in_a_reply_is_mended_as_in_prediction_files() -> None:
    body = say("A\\ud83d B").body.replace(b"\\\\ud83d", b"\\ud83d")
    assert b'A\\ud83d B"' in body
    with ModelServer.playing(raw(body)) as server, client(server, patience=ONCE) as it:
        reply = it.ask(request())
    assert reply.content == "A\ufffd B"


def test_a_tls_failure_says_what_it_is_and_respects_the_attempts() -> None:
    """A server that speaks plain HTTP is asked over TLS."""
    patience = Patience(attempts=2, backoff=0.01)
    with (
        ModelServer.playing(say("A")) as server,
        client(server.url.replace("http:", "https:"), patience=patience) as it,
    ):
        failure = it.ask(request())
    assert (failure.kind, failure.attempts) == ("untrusted", 2)
    assert failure.reason.startswith(f"no secure connection to https://127.0.0.1:{server.port}/v1: [SSL")
    assert failure.reason.endswith("does it speak TLS, and is its certificate valid? Check --base-url")
