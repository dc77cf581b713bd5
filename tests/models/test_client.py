"""The client against a real server that answers well, badly, late, or not at all."""

import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from email.utils import formatdate

import pytest

from grader.errors import InfrastructureError, UsageError
from grader.models.client import ClientStatus, Patience, TroubleReporter
from grader.models.messages import Image, Request, Settings, user
from grader.models.replies import Failure, Reply, Usage
from grader.models.workers import PaceStatus
from tests.models.made import KEY, PIXEL, client, request
from tests.models.server import EMPTY_CHOICES, HANG_UP, Action, Asked, ModelServer, fail, raw, say, truncated

pytestmark = pytest.mark.usefixtures("no_servers")


class Clock:
    """The time that the client sees."""

    def __init__(self) -> None:
        self.now = 1.0

    def monotonic(self) -> float:
        return self.now

    def per_request(self, action: Action, seconds: float) -> Callable[[Asked], Action]:
        """Return a server's decision to do the same at every request, each of which takes some seconds."""

        def decide(asked: Asked) -> Action:
            self.now += seconds
            return action

        return decide


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr("grader.models.client.time", made)
    return made


class TestAsking:
    def test_a_request_holds_messages_with_images_and_every_setting(self) -> None:
        settings = Settings(temperature=0.8, top_p=0.95, max_tokens=9, seed=3, extra={"top_k": 20})
        with ModelServer.playing(say("B", reasoning_content="hm")) as server, client(server) as it:
            reply = it.ask(Request(messages=(user(Image(data=PIXEL), "?"),), settings=settings))
        assert (reply.content, reply.reasoning, reply.finish_reason, reply.attempts) == ("B", "hm", "stop", 1)
        assert reply.usage == Usage(prompt_tokens=11, completion_tokens=2)
        (asked,) = server.asked
        (sent,) = asked.body["messages"]
        assert [part["type"] for part in sent["content"]] == ["image_url", "text"]
        rest = {name: value for name, value in asked.body.items() if name != "messages"}
        assert rest == {"model": "m", "temperature": 0.8, "top_p": 0.95, "max_tokens": 9, "seed": 3, "top_k": 20}

    def test_a_model_that_calls_the_token_limit_otherwise_is_asked_so_from_then_on(self) -> None:
        refusal = fail(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")

        def decide(asked: Asked) -> Action:
            return refusal if "max_tokens" in asked.body else say("B")

        with ModelServer(decide) as server, client(server) as it:
            assert isinstance(it.ask(request(max_tokens=5)), Reply)
            assert isinstance(it.ask(request(max_tokens=5)), Reply)
        assert [asked.body.get("max_completion_tokens") for asked in server.asked] == [None, 5, 5]

    def test_a_refused_setting_is_left_out_only_where_that_was_allowed(self) -> None:
        def decide(asked: Asked) -> Action:
            refusal = fail(400, "Unsupported value", param="temperature")
            return refusal if "temperature" in asked.body else say("B")

        with ModelServer(decide) as server:
            with client(server, optional=frozenset({"temperature"})) as it:
                assert isinstance(it.ask(request(temperature=0)), Reply)
                assert it.endpoint.left_out == {"temperature"}
            with client(server) as it:
                failure = it.ask(request(temperature=0))
        assert (failure.kind, failure.attempts) == ("refused", 1)


class TestTrouble:
    @pytest.mark.parametrize(
        "trouble",
        [
            fail(429),
            fail(503, retry_after="0"),
            fail(429, retry_after=formatdate(0, usegmt=True)),
            truncated(),
            HANG_UP,
            EMPTY_CHOICES,
            say(None),
            say("half", finish="error"),
            raw(b'{"error": {"message": "upstream failed", "code": 502}}'),
        ],
    )
    def test_a_passing_failure_is_asked_again_and_is_never_a_reply(self, trouble: Action) -> None:
        with ModelServer.playing(trouble, trouble, say("A")) as server, client(server) as it:
            reply = it.ask(request())
        assert (reply.content, reply.attempts, len(server.asked)) == ("A", 3, 3)

    def test_a_failure_is_given_up_when_its_time_is_over(self, clock: Clock) -> None:
        patience = Patience(attempts=1000, seconds=10.0, backoff=0.001, longest_backoff=0.001)
        with ModelServer(clock.per_request(fail(500), 3.0)) as server, client(server, patience=patience) as it:
            failure = it.ask(request())
        assert failure.attempts == 5

    def test_a_429_lasts_as_long_as_others_are_answered(self, clock: Clock) -> None:
        patience = Patience(attempts=2, seconds=10.0, backoff=0.01, longest_backoff=0.05)

        def decide(asked: Asked) -> Action:
            if asked.prompt == "other":
                clock.now += 6.0
            return fail(429) if asked.prompt == "unlucky" and clock.now < 60.0 else say("A")

        with ModelServer(decide) as server, client(server, concurrency=2, patience=patience) as it:
            stop = threading.Event()

            def others() -> None:
                while not stop.is_set():
                    it.ask(request("other"))

            thread = threading.Thread(target=others)
            thread.start()
            reply = it.ask(request("unlucky"))
            stop.set()
            thread.join()
        assert isinstance(reply, Reply)

    def test_a_429_that_is_all_there_is_is_given_up(self, clock: Clock) -> None:
        patience = Patience(attempts=2, seconds=10.0, backoff=0.001, longest_backoff=0.001)
        refusal = clock.per_request(fail(429, "slow down"), 3.0)
        with ModelServer(refusal) as server, client(server, patience=patience) as it:
            failure = it.ask(request())
        assert (failure.kind, failure.attempts) == ("busy", 5)

    def test_a_limit_that_429_cut_is_what_the_server_then_sees(self) -> None:
        crowd = 0
        lock = threading.Lock()
        most_served = 3

        def decide(asked: Asked) -> Action:
            nonlocal crowd
            with lock:
                crowd += 1
                refused = crowd > most_served
            if not refused:
                time.sleep(0.01)
            with lock:
                crowd -= 1
            return fail(429) if refused else say("A")

        with (
            ModelServer(decide) as server,
            client(server, concurrency=16, patience=Patience(backoff=0.01)) as it,
            ThreadPoolExecutor(16) as threads,
        ):
            replies = list(threads.map(lambda number: it.ask(request(f"q{number}")), range(200)))
        assert all(isinstance(reply, Reply) for reply in replies)
        # Without the cut, thirteen of sixteen would be refused over and over.
        assert len(server.asked) < 400

    def test_retry_after_is_waited_for_by_every_request(self) -> None:
        times: list[float] = []

        def decide(asked: Asked) -> Action:
            times.append(time.monotonic())
            return fail(429, retry_after="0.4") if asked.number == 0 else say("A")

        with ModelServer(decide) as server, client(server) as it, ThreadPoolExecutor(4) as threads:
            replies = list(threads.map(lambda number: it.ask(request(f"q{number}")), range(4)))
        assert all(isinstance(reply, Reply) for reply in replies)
        assert all(later - times[0] > 0.39 for later in times[1:])

    def test_a_server_too_slow_for_the_timeout_is_a_failure(self) -> None:
        with ModelServer.playing(say("A", delay=9)) as server, client(server, timeout=0.05) as it:
            failure = it.ask(request())
            server.release.set()
        assert failure.reason == f"{server.url} did not reply within 0.05 s (5 attempts)"


class TestHopeless:
    def test_a_server_that_is_not_there_is_given_up_soon_with_what_to_check(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
        with client(url) as it:
            failure = it.ask(request())
            assert it.pace.halted == failure.reason  # type: ignore[union-attr]
        assert (failure.kind, failure.attempts) == ("unreachable", 4)
        assert failure.reason.endswith("(4 attempts); is it running? Check --base-url")

    def test_a_server_that_replied_before_is_waited_for_while_it_restarts(self) -> None:
        patience = Patience(attempts=1000, unreachable_attempts=2, backoff=0.02, longest_backoff=0.05)
        parting = replace(say("A"), headers={"Connection": "close"})
        first = ModelServer.playing(parting)
        port = first.port
        restarted: list[ModelServer] = []

        def restart() -> None:
            while it.status().calls < 4:
                time.sleep(0.01)
            restarted.append(ModelServer.playing(say("B"), port=port))
            restarted[0].__enter__()

        with client(first.url, patience=patience) as it:
            with first:
                assert isinstance(it.ask(request()), Reply)
            restarting = threading.Thread(target=restart)
            restarting.start()
            reply = it.ask(request())
            restarting.join()
        restarted[0].__exit__()
        assert reply.content == "B"
        assert reply.attempts > 2

    # Proxies (LiteLLM, Gemini's compatible address) answer a wrong key with 400.
    @pytest.mark.parametrize("status", [400, 401, 403])
    def test_a_refused_key_ends_the_asking_and_is_not_told(self, status: int) -> None:
        with ModelServer.playing(fail(status, f"Incorrect API key provided: {KEY}")) as server, client(server) as it:
            failure, next_one = it.ask(request()), it.ask(request())
        assert failure.kind == "fatal"
        assert failure.reason == (
            f"The model at {server.url} replied with HTTP {status}: the key in OPENAI_API_KEY was refused. "
            "Set OPENAI_API_KEY."
        )
        assert (next_one.kind, next_one.reason, len(server.asked)) == ("halted", failure.reason, 1)

    def test_a_missing_model_names_the_options_to_check(self) -> None:
        with ModelServer.playing(fail(404, "no such model")) as server, client(server) as it:
            failure = it.ask(request())
        assert failure.kind == "fatal"
        assert failure.reason.endswith("check --model and --base-url")

    def test_a_web_page_with_status_200_ends_the_asking_as_a_404_does(self) -> None:
        page = raw(b"\n<!DOCTYPE html><html><body>Welcome to the proxy</body></html>", "text/html")
        with ModelServer.playing(page) as server, client(server) as it:
            failure, next_one = it.ask(request()), it.ask(request())
        assert (failure.kind, next_one.kind, len(server.asked)) == ("fatal", "halted", 1)  # type: ignore[union-attr]
        assert "replied with a web page, so the address is wrong (it usually ends in /v1); check" in failure.reason

    @pytest.mark.parametrize("trouble", [fail(429, "no credit", code="insufficient_quota"), fail(402, "no credit")])
    def test_an_empty_account_ends_the_asking(self, trouble: Action) -> None:
        with ModelServer.playing(trouble) as server, client(server) as it:
            kinds = [it.ask(request()).kind for _ in range(2)]  # type: ignore[union-attr]
        assert (kinds, len(server.asked)) == (["exhausted", "halted"], 1)

    def test_three_requests_given_up_in_a_row_end_the_asking(self) -> None:
        with ModelServer.playing(fail(500)) as server, client(server) as it:
            kinds = [it.ask(request()).kind for _ in range(5)]  # type: ignore[union-attr]
        assert kinds == ["down", "down", "down", "halted", "halted"]
        assert len(server.asked) == 15


class TestSecrets:
    def test_a_key_that_the_server_repeats_is_nowhere(self) -> None:
        def decide(asked: Asked) -> Action:
            said = asked.headers["authorization"]
            return say(said, reasoning=said) if asked.prompt == "good" else fail(400, said)

        with ModelServer(decide) as server, client(server) as it:
            outcomes = [it.ask(request("good")), it.ask(request("bad"))]
            shown = repr((it, vars(it), vars(it.endpoint), it.status(), outcomes))
        assert KEY not in shown
        assert (outcomes[0].content, outcomes[0].reasoning) == ("Bearer ***", "Bearer ***")

    def test_openai_itself_needs_a_key_and_a_local_server_gets_a_placeholder(self) -> None:
        with pytest.raises(InfrastructureError, match=r"The model at https://api\.openai\.com/v1 needs a key"):
            client("https://api.openai.com/v1", api_key=None)
        with ModelServer.playing(say("A")) as server, client(server, api_key=None) as it:
            it.ask(request())
        assert server.asked[0].headers["authorization"] == "Bearer no-key"

    @pytest.mark.parametrize("key", ["sk-two words-123", "sk-“quoted”-12345"])
    def test_a_key_that_no_header_can_carry_is_refused_untold(self, key: str) -> None:
        with pytest.raises(InfrastructureError, match="contains a blank or a non-ASCII character") as caught:
            client("http://127.0.0.1:1/v1", api_key=key)
        assert key not in str(caught.value)

    @pytest.mark.parametrize("url", ["localhost:8000/v1", "ftp://x/v1", "http://", "http://[::1/v1", "http://x:y/v1"])
    def test_an_address_that_is_none_is_refused(self, url: str) -> None:
        with pytest.raises(UsageError, match="--base-url"):
            client(url)


def test_a_halt_ends_waits_at_once() -> None:
    patience = Patience(backoff=60.0, longest_backoff=60.0)
    with ModelServer.playing(fail(500)) as server, client(server, patience=patience) as it:
        outcomes: list[object] = []
        thread = threading.Thread(target=lambda: outcomes.append(it.ask(request())))
        thread.start()
        while not it.status().waiting:
            time.sleep(0.01)
        it.pace.halt("enough")
        thread.join(60)
    assert outcomes == [Failure(kind="halted", reason="enough", attempts=1)]


def status(trouble: str, *, held: float = 0.0) -> ClientStatus:
    pace = PaceStatus(in_flight=1, limit=4, most=8, held_seconds=held)
    return ClientStatus(pace=pace, calls=1, usage=Usage(), waiting=2, trouble=trouble, gives_up_after=600.0)


def test_one_that_lasts_is_said_and_so_is_its_end() -> None:
    said: list[str] = []
    reporter = TroubleReporter("The judge", said.append, grace=0)
    reporter.look(status("HTTP 500: loading.", held=20.0))
    reporter.look(status("HTTP 500: loading."))
    reporter.look(status(""))
    assert said == [
        "The judge: HTTP 500: loading. Trying again: 2 requests wait. At most 4 are sent at once. The server asks to "
        "wait 20 s. A request is given up after 10 minutes at most.",
        "The judge replies again. 2 requests wait. At most 4 are sent at once.",
    ]


def test_it_is_said_again_while_it_lasts_but_not_at_every_look(clock: Clock) -> None:
    said: list[float] = []
    reporter = TroubleReporter("The judge", lambda _: said.append(clock.now), grace=2.0, every=5.0)
    for _ in range(14):
        reporter.look(status("HTTP 500"))
        clock.now += 1.0
    assert said == [3.0, 8.0, 13.0]
