"""The judge against a real server: what it asks, keeps, and never tells."""

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from grader.errors import InfrastructureError
from grader.judge import JudgeReply
from grader.judge.client import ReplyCache, cache_key
from tests.conftest import ROOT
from tests.judge.made import KEY, Watcher, judge, question, questions
from tests.models.server import Action, Asked, ModelServer, fail, say

pytestmark = pytest.mark.usefixtures("no_servers")


class TestAsking:
    def test_a_question_is_one_request_at_temperature_zero(self) -> None:
        with ModelServer.playing(say("B")) as server, judge(server) as it:
            replies = it.ask([question()])
            cost = it.provenance()
        assert replies == {"q1": JudgeReply(text="B")}
        (asked,) = server.asked
        assert asked.path == "/v1/chat/completions"
        assert asked.body == {"model": "m", "messages": [{"role": "user", "content": "prompt of q1"}], "temperature": 0}
        assert asked.headers["authorization"] == f"Bearer {KEY}"
        assert (cost.calls, cost.prompt_tokens, cost.completion_tokens) == (1, 11, 2)

    def test_threads_ask_as_many_at_once_as_allowed_and_only_the_caller_reports_progress(self) -> None:
        watcher = Watcher()

        def decide(asked: Asked) -> Action:
            return say("ABCD"[int(asked.prompt.removeprefix("prompt of q")) % 4], delay=0.03)

        with ModelServer(decide) as server, judge(server, concurrency=4, observer=watcher) as it:
            replies = it.ask(questions(20))
        assert server.most_at_once == 4
        assert [reply.text for reply in replies.values()] == list("ABCD" * 5)
        assert list(replies) == [f"q{number}" for number in range(20)]
        assert (watcher.phases, watcher.done, watcher.messages) == ([("judge", 20)], 20, [])
        assert watcher.threads == {threading.get_ident()}

    def test_equal_prompts_are_asked_once_and_each_question_reads_the_reply_itself(self) -> None:
        prompts = [question("a", "same"), question("b", "same"), question("c", "same", lambda text: text == "B")]
        with ModelServer.playing(say("A"), say("B")) as server, judge(server) as it:
            replies = it.ask(prompts)
        assert replies == {
            "a": JudgeReply(text="A"),
            "b": JudgeReply(text="A", cached=True),
            "c": JudgeReply(text="B"),
        }

    def test_a_model_that_takes_no_temperature_is_asked_without(self) -> None:
        def decide(asked: Asked) -> Action:
            refusal = fail(400, "Unsupported value: 'temperature'", param="temperature")
            return say("A") if asked.temperature is None else refusal

        watcher = Watcher()
        with ModelServer(decide) as server, judge(server, concurrency=1, observer=watcher) as it:
            replies = it.ask(questions(3))
        assert [reply.text for reply in replies.values()] == ["A", "A", "A"]
        assert it.provenance().calls == len(server.asked) == 4
        assert watcher.messages == ["m accepts no temperature: it judged at its default temperature"]


class TestUnreadableReplies:
    def test_three_tries_vary_the_temperature_then_the_question_has_no_reply(self) -> None:
        with ModelServer.playing(say("hm"), say("well"), say("who\nknows")) as server, judge(server) as it:
            replies = it.ask([question()])
            cost = it.provenance()
        assert (cost.calls, cost.failed, cost.unreadable) == (3, 1, 1)
        assert (cost.prompt_tokens, cost.completion_tokens) == (33, 6)
        error = "no readable reply in 3 tries; the last was 'who knows'"
        assert replies == {"q1": JudgeReply(text=None, error=error, unreadable="who\nknows")}
        assert [asked.temperature for asked in server.asked] == [0.0, 0.5, 1.0]

    @pytest.mark.parametrize("empty", [say(None), say("  "), say(None, reasoning="hm"), say("", finish="length")])
    def test_an_empty_reply_is_unreadable_whatever_accept_says(self, empty: Action) -> None:
        with ModelServer.playing(empty, say("A")) as server, judge(server) as it:
            assert it.ask([question(accept=lambda text: True)])["q1"] == JudgeReply(text="A")


class TestCache:
    def test_a_second_run_asks_only_what_is_new(self, tmp_path: Path) -> None:
        path = tmp_path / "judge.sqlite3"
        with ModelServer.playing(say("A")) as server:
            with judge(server, cache=ReplyCache(path)) as it:
                it.ask(questions(3))
            watcher = Watcher()
            with judge(server, cache=ReplyCache(path), observer=watcher) as it:
                replies = it.ask(questions(5))
                cost = it.provenance()
        assert (cost.calls, cost.cached, cost.prompt_tokens, cost.completion_tokens) == (2, 3, 22, 4)
        assert [reply.cached for reply in replies.values()] == [True, True, True, False, False]
        assert watcher.done == 5

    def test_endpoint_model_and_prompt_each_make_another_key(self) -> None:
        keys = {cache_key("e", "m", "p"), cache_key("f", "m", "p"), cache_key("e", "n", "p"), cache_key("e", "m", "q")}
        keys |= {cache_key("em", "", "p"), cache_key("e", "mp", "")}
        assert len(keys) == 6

    def test_a_run_from_the_cache_needs_no_key_and_no_sdk(self, tmp_path: Path) -> None:
        with ReplyCache(tmp_path / "c") as cache:
            cache.keep_reply(cache_key("https://api.openai.com/v1", "m", "prompt of q1"), "A")
            code = (
                "import sys; from pathlib import Path; from grader.judge import *; from grader.judge.client import *\n"
                "from grader.judge.client import *\n"
                "with OpenAIJudge(model='m', cache=ReplyCache(Path(sys.argv[1]))) as judge:\n"
                "  print(judge.ask([JudgeQuestion(qid='q1', prompt='prompt of q1', accept=bool)])['q1'].text)\n"
                "print('openai' in sys.modules)"
            )
            done = subprocess.run(
                [sys.executable, "-c", code, cache.path], cwd=ROOT, capture_output=True, text=True, check=False
            )
        assert (done.stdout, done.stderr) == ("A\nFalse\n", "")

    def test_a_busy_file_is_waited_for(self, tmp_path: Path) -> None:
        with (
            ReplyCache(tmp_path / "c") as cache,
            closing(sqlite3.connect(cache.path, check_same_thread=False)) as other,
        ):
            other.execute("BEGIN IMMEDIATE")
            timer = threading.Timer(0.2, other.rollback)
            timer.start()
            cache.keep_reply(b"k", "A")
            timer.join()
            assert (cache.replies([b"k"]), cache.problem) == ({b"k": "A"}, "")

    @pytest.mark.parametrize(
        ("spoil", "said"),
        [
            (lambda path: path.write_text("no database" * 99), "was damaged"),
            (lambda path: path.mkdir(), "cannot be used"),
        ],
    )
    def test_an_unusable_file_is_told_and_does_without(
        self, tmp_path: Path, spoil: Callable[[Path], object], said: str
    ) -> None:
        path = tmp_path / "judge.sqlite3"
        spoil(path)
        watcher = Watcher()
        with ModelServer.playing(say("A")) as server, judge(server, cache=ReplyCache(path), observer=watcher) as it:
            assert it.ask([question()])["q1"].text == "A"
        (message,) = watcher.messages
        assert said in message


class TestSecrets:
    def test_a_key_that_the_endpoint_repeats_is_nowhere(self, tmp_path: Path) -> None:
        def decide(asked: Asked) -> Action:
            said = asked.headers["authorization"]
            return say(said) if asked.prompt.endswith("q0") else fail(400, said)

        cache = ReplyCache(tmp_path / "c")
        with ModelServer(decide) as server, judge(server, cache=cache) as it:
            replies = it.ask([question("q0", accept=bool), question("q1")])
            shown = repr((it, vars(it), vars(it._server), it.provenance(), replies))
        assert KEY not in shown
        assert replies["q0"].text == "Bearer ***"
        assert not [file for file in tmp_path.iterdir() if KEY.encode() in file.read_bytes()]

    def test_the_key_comes_from_the_environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\n")
        with ModelServer.playing(say("A")) as server, judge(server, api_key=None) as it:
            it.ask([question()])
        assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"

    def test_a_local_endpoint_gets_a_placeholder_and_a_refusal_says_that_no_key_is_set(self) -> None:
        with (
            ModelServer.playing(fail(401)) as server,
            judge(server, api_key=None) as it,
            pytest.raises(InfrastructureError, match="HTTP 401: OPENAI_API_KEY is not set"),
        ):
            it.ask([question()])
        assert server.asked[0].headers["authorization"] == "Bearer no-key"
