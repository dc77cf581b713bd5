"""A model on a real server that answers well, badly, late, or not at all."""

import base64
import contextlib
import hashlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from email.utils import formatdate

import msgspec
import pytest

from grader.errors import InfrastructureError, UsageError
from grader.models import transport
from grader.models.messages import Image, user
from grader.models.model import Request, RequestRecord
from grader.models.replies import Usage
from tests.models.made import KEY, PIXEL, model, request
from tests.models.server import EMPTY_CHOICES, HANG_UP, Action, Asked, ModelServer, fail, raw, say, truncated

pytestmark = pytest.mark.usefixtures("no_servers")


class TestAsking:
    def test_a_request_holds_messages_with_images_and_every_setting_and_its_record_stands_for_all(self) -> None:
        settings = {"temperature": 0.8, "max_tokens": 9, "seed": 3, "top_p": None, "chat_template_kwargs": {"x": False}}
        asked = Request(
            qid="q",
            sample=1,
            stage="code",
            messages=(user(Image(data=PIXEL, detail="low"), "?"),),
            settings=settings,
            extra_settings={"mode": "v2c"},
        )
        with ModelServer.playing(say("B", reasoning_content="hm")) as server, model(server) as it:
            record = it.ask(asked)
        sent_settings = {name: value for name, value in settings.items() if value is not None}
        (sent,) = server.asked
        assert (sent.path, sent.headers["authorization"]) == ("/v1/chat/completions", f"Bearer {KEY}")
        assert [part["type"] for part in sent.body["messages"][0]["content"]] == ["image_url", "text"]
        assert sent.body == {"model": "m", "messages": sent.body["messages"], **sent_settings}
        assert record.seconds > 0
        assert msgspec.structs.replace(record, seconds=0) == RequestRecord(
            qid="q",
            sample=1,
            stage="code",
            model="m",
            settings={
                **sent_settings,
                "mode": "v2c",
                "images": [hashlib.sha256(PIXEL).hexdigest()],
                "image_detail": "low",
            },
            prompt="?",
            content="B",
            reasoning="hm",
            finish_reason="stop",
            usage=Usage(prompt_tokens=11, completion_tokens=2),
            attempts=1,
        )

    def test_a_model_that_calls_the_token_limit_otherwise_is_asked_so_from_then_on(self) -> None:
        refusal = fail(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
        with (
            ModelServer(lambda asked: refusal if "max_tokens" in asked.body else say("B")) as server,
            model(server) as it,
        ):
            assert [it.ask(request(max_tokens=5)).attempts for _ in range(2)] == [2, 1]
            it.ask(request(max_tokens=5, max_completion_tokens=9))
        assert [asked.body.get("max_completion_tokens") for asked in server.asked] == [None, 5, 5, 9]

    def test_a_refused_temperature_is_left_out_only_where_that_was_allowed(self) -> None:
        refusal = fail(400, "Unsupported value", param="temperature")
        with ModelServer(lambda asked: refusal if "temperature" in asked.body else say("B")) as server:
            with model(server, can_go_without_temperature=True) as it:
                assert it.ask(request(temperature=0)).content == "B"
                assert it.has_no_temperature
            with model(server) as it:
                record = it.ask(request(temperature=0))
        assert (record.content, record.attempts) == (None, 1)


class TestTrouble:
    @pytest.mark.parametrize(
        "trouble",
        [
            fail(429),
            fail(503, retry_after="0.1"),
            fail(429, retry_after=formatdate(0, usegmt=True)),
            truncated(),
            HANG_UP,
        ],
    )
    def test_a_passing_failure_is_asked_again_by_the_sdk(self, trouble: Action) -> None:
        with ModelServer.playing(trouble, trouble, say("A")) as server, model(server) as it:
            record = it.ask(request())
        assert (record.content, record.attempts, len(server.asked), it.last_problem) == ("A", 3, 3, "")

    @pytest.mark.parametrize(
        ("trouble", "attempts", "said"),
        [
            (fail(429, "slow down"), 3, "URL replied with HTTP 429: slow down"),
            (fail(429, "pay", code="insufficient_quota"), 1, "URL replied with HTTP 429: pay"),
            (HANG_UP, 3, "the connection to URL failed: "),
            (fail(400, "too\nlong \x1b[31m"), 1, "URL replied with HTTP 400: too long [31m"),
            (fail(403, "blocked"), 1, "URL replied with HTTP 403: blocked"),
            (fail(404, "no m"), 1, "URL replied with HTTP 404: no m; check the model's name and --base-url ("),
            (Action(status=400), 1, "URL replied with HTTP 400: no explanation"),
            (raw(b"<html>", "text/html"), 1, "a reply that is not a chat completion; the address usually ends in /v1"),
            (raw(b""), 1, "a reply that is not a chat completion"),
            (EMPTY_CHOICES, 1, "the reply has no choices"),
            (say(None), 1, "the reply is empty"),
            (say(None, finish="length"), 1, "the reply is empty: it was cut at the token limit"),
        ],
    )  # fmt: skip
    def test_a_failure_is_a_record_without_content_that_says_why(
        self, trouble: Action, attempts: int, said: str
    ) -> None:
        with ModelServer.playing(trouble, trouble, trouble, say("A")) as server, model(server) as it:
            record, later = it.ask(request()), it.ask(request())
        assert (record.content, record.attempts) == (None, attempts)
        assert record.error is not None
        assert record.error.startswith(said.replace("URL", server.url))
        assert (later.content is None) == (attempts == 1)
        assert it.stopped == "" or it.stopped == "the model is closed"

    def test_a_reply_that_takes_too_long_is_not_asked_again(self) -> None:
        with ModelServer.playing(say("A", delay=60)) as server, model(server, timeout=0.3) as it:
            record = it.ask(request())
            server.release.set()
        assert (record.error, record.attempts, len(server.asked)) == (f"{server.url} did not reply within 0.3 s", 1, 1)

    def test_a_retry_after_that_is_too_long_for_the_sdk_is_waited_for_up_to_an_hour(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        waits: list[float] = []
        with ModelServer.playing(fail(429, retry_after="300"), say("A")) as server, model(server) as it:
            monkeypatch.setattr(it._is_over, "wait", waits.append)
            record = it.ask(request())
        assert (record.content, record.attempts, waits) == ("A", 2, [300.0])
        for after, times in (("1700", 3), ("4000", 1), ("1e308", 1)):
            with ModelServer.playing(fail(429, "no", retry_after=after)) as server, model(server) as it:
                monkeypatch.setattr(it._is_over, "wait", waits.append)
                record = it.ask(request())
            assert (record.content, record.attempts) == (None, times)
            assert record.error is not None
            assert record.error.startswith(f"{server.url} replied with HTTP 429: no (it asks to wait ")

    def test_ten_tasks_that_fail_in_a_row_stop_the_asking_and_a_reply_between_them_does_not(self) -> None:
        def decide(asked: Asked) -> Action:
            return say("A") if asked.number == 15 else fail(404, "no m")

        with ModelServer(decide) as server, model(server) as it:
            records = [it.ask(request(str(number // 2))) for number in range(42)]
        assert len(server.asked) == 35
        assert [record.attempts for record in records] == [1] * 35 + [0] * 7
        assert records[-1].error == it.stopped
        assert it.stopped.startswith(f"10 tasks in a row failed, the last: {server.url} replied with HTTP 404: no m")

    @pytest.mark.parametrize("action", [fail(429, retry_after="3000"), fail(429), HANG_UP], ids=str)
    def test_a_request_ends_without_an_outcome_when_the_model_is_closed(self, action: Action) -> None:
        def close(_asked: Asked) -> Action:
            it.close()
            return action

        with ModelServer(close) as server, model(server) as it:
            record = it.ask(request())
        assert (record.attempts, record.error) == (0, "the model is closed")
        assert len(server.asked) == 1

    def test_closing_ends_a_long_wait(self) -> None:
        with ModelServer.playing(fail(429, retry_after="3000")) as server, model(server) as it:
            records: list[RequestRecord] = []
            waiting = threading.Thread(target=lambda: records.append(it.ask(request())))
            waiting.start()
            while not server.asked:
                time.sleep(0.01)
            it.close()
            waiting.join(60)
        assert [record.attempts for record in records] == [0]

    def test_a_server_that_was_never_reached_is_asked_once(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        with model(url) as it:
            records = [it.ask(request()) for _ in range(2)]
        said = f"no connection to {url}: [Errno 111] Connection refused; is it running? Check --base-url"
        assert [(record.error, record.attempts) for record in records] == [(said, 0)] * 2

    def test_a_server_without_tls_is_told(self) -> None:
        with ModelServer.playing(say("A")) as server, model(server.url.replace("http:", "https:")) as it:
            record = it.ask(request())
        assert record.error is not None
        assert record.error.startswith(f"no connection to https://127.0.0.1:{server.port}/v1: [SSL")

    @pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
    def test_a_redirect_is_not_followed_and_its_address_is_named(self, status: int) -> None:
        with ModelServer.playing(say("A")) as elsewhere:
            there = f"http://me:{KEY}@127.0.0.1:{elsewhere.port}/v1/chat/completions?key={KEY}"
            with ModelServer.playing(fail(status, location=there)) as server, model(server) as it:
                record = it.ask(request("secret prompt"))
        assert elsewhere.asked == []
        assert record.error == (
            f"{server.url} replied with HTTP {status}: it redirects to "
            f"http://127.0.0.1:{elsewhere.port}/v1/chat/completions, where nothing was sent; is that --base-url?"
        )


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"


@contextlib.contextmanager
def serving(send: Callable[[socket.socket], object]) -> Iterator[str]:
    """A server that sends to each connection what it likes, after a whole request; yields its address."""
    ended = threading.Event()

    def serve(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            received = b""
            while b"\r\n\r\n" not in received:
                received += connection.recv(65536)
            connection.sendall(HEAD + b"Content-Length: 100000000\r\n\r\n{")
            while not ended.is_set():
                send(connection)

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


def drip(connection: socket.socket) -> None:
    """Send a byte now and then."""
    connection.sendall(b" ")
    time.sleep(0.1)


def test_a_reply_that_drips_ends_when_the_time_is_over() -> None:
    """The library's own time-out is a limit of silence, and there is none."""
    with serving(drip) as url, model(url, timeout=0.5) as it:
        record = it.ask(request())
    assert (record.error, record.attempts) == (f"{url} did not reply within 0.5 s", 1)


def test_a_reply_without_an_end_is_cut_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "MAX_BYTES", 3 << 20)
    with serving(lambda connection: connection.sendall(b" " * (1 << 16))) as url, model(url) as it:
        record = it.ask(request())
    assert (record.error, record.attempts) == (f"the connection to {url} failed: a reply of more than 3 MB", 1)


class TestSecrets:
    def test_a_key_that_the_server_repeats_is_nowhere(self) -> None:
        def decide(asked: Asked) -> Action:
            said = asked.headers["authorization"]
            return say(said, reasoning=said, finish=said) if asked.prompt == "good" else fail(400, said)

        with ModelServer(decide) as server, model(server) as it:
            records = [it.ask(request("good")), it.ask(request("bad"))]
            shown = repr((it, vars(it), records))
        assert KEY not in shown
        assert (records[0].content, records[0].reasoning, records[0].finish_reason) == ("Bearer ***",) * 3

    @pytest.mark.parametrize("key", ["EMPTY", "whatever", "placeholder"])
    def test_a_word_in_place_of_a_key_is_left_in_replies(self, key: str) -> None:
        reply = f"def {key}(): ..."
        with ModelServer.playing(say(reply)) as server, model(server, api_key=key) as it:
            assert it.ask(request()).content == reply

    def test_the_password_of_an_address_is_sent_and_nowhere_else(self) -> None:
        def decide(asked: Asked) -> Action:
            return fail(400, base64.b64decode(asked.headers["authorization"].partition(" ")[2]).decode())

        with ModelServer(decide) as server, model(server.url.replace("//", "//me:password-1234@")) as it:
            record = it.ask(request())
            shown = repr((it, vars(it), record))
        assert "password-1234" not in shown

    def test_a_refused_key_ends_everything_and_is_not_told(self) -> None:
        with (
            ModelServer.playing(fail(401, f"Incorrect API key provided: {KEY}")) as server,
            model(server) as it,
            pytest.raises(InfrastructureError) as caught,
        ):
            it.ask(request())
        assert str(caught.value) == (
            f"The model at {server.url} replied with HTTP 401: the key in OPENAI_API_KEY was refused. "
            "Set OPENAI_API_KEY."
        )

    def test_openai_itself_needs_a_key_and_a_local_server_gets_a_placeholder(self) -> None:
        with pytest.raises(InfrastructureError, match=r"The model at https://api\.openai\.com/v1 needs a key"):
            model("https://api.openai.com/v1", api_key=None)
        with ModelServer.playing(say("A")) as server, model(server, api_key=None) as it:
            it.ask(request())
        assert server.asked[0].headers["authorization"] == "Bearer no-key"

    @pytest.mark.parametrize("key", ["sk-two words-123", "sk-“quoted”-12345"])
    def test_a_key_that_no_header_can_carry_is_refused_untold(self, key: str) -> None:
        with pytest.raises(InfrastructureError, match="contains a blank or a non-ASCII character") as caught:
            model("http://127.0.0.1:1/v1", api_key=key)
        assert key not in str(caught.value)

    @pytest.mark.parametrize("url", ["localhost:8000/v1", "ftp://x/v1", "http://", "http://[::1/v1", "http://x:y/v1"])
    def test_an_address_that_is_none_is_refused(self, url: str) -> None:
        with pytest.raises(UsageError, match="--base-url"):
            model(url)
