"""The judge against a server in trouble: what it repeats, says, and gives up on."""

import gc
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from grader.errors import InfrastructureError
from grader.judge import JudgeReply
from grader.judge.client import ReplyCache, cache_key
from tests.conftest import ROOT
from tests.judge.made import KEY, Watcher, judge, question, questions
from tests.models.server import Action, Asked, ModelServer, fail, say

pytestmark = pytest.mark.usefixtures("no_servers")


class TestTrouble:
    def test_a_passing_failure_is_repeated_and_is_no_try(self) -> None:
        with ModelServer.playing(fail(429), say("A")) as server, judge(server) as it:
            assert it.ask([question()]) == {"q1": JudgeReply(text="A")}
            assert it.provenance().calls == 2
        assert [asked.temperature for asked in server.asked] == [0, 0]

    def test_a_token_limit_that_went_into_reasoning_is_told(self) -> None:
        with ModelServer.playing(say(None, finish="length", reasoning="hm")) as server, judge(server) as it:
            reply = it.ask([question()])["q1"]
        assert reply.error == (
            "no readable reply in 3 tries; the last time, the reply has only reasoning: it was cut at the token limit"
        )


class TestHopeless:
    def test_a_judge_that_refuses_ten_requests_in_a_row_is_asked_no_more(self) -> None:
        watcher = Watcher()
        with (
            ModelServer.playing(fail(400, "no such parameter")) as server,
            judge(server, observer=watcher, concurrency=4) as it,
        ):
            replies = it.ask(questions(273))
            made = it.provenance()
        assert 10 <= len(server.asked) < 10 + 4
        reason = f"10 tasks in a row failed, the last: {server.url} replied with HTTP 400: no such parameter"
        assert replies["q272"].error == made.last_error == reason
        assert (made.questions, made.failed, made.unreadable) == (273, 273, 0)
        assert watcher.warnings == [f"{reason}; 273 of 273 questions have no reply"]

    def test_a_judge_that_is_not_there_leaves_its_questions_without_a_reply(self) -> None:
        watcher = Watcher()
        with judge("http://127.0.0.1:9/v1", observer=watcher) as it:
            it.ask(questions(3))
        (said,) = watcher.warnings
        assert said.startswith("no connection to http://127.0.0.1:9/v1: ")
        assert said.endswith("; is it running? Check --judge-base-url; 3 of 3 questions have no reply")
        assert it.provenance().calls == 0

    def test_replies_that_cannot_be_read_are_counted_apart(self) -> None:
        def decide(asked: Asked) -> Action:
            return fail(400) if asked.prompt.endswith("q1") else say("hm")

        with ModelServer(decide) as server, judge(server, concurrency=1) as it:
            it.ask(questions(3))
            made = it.provenance()
        assert (made.questions, made.failed, made.unreadable) == (3, 3, 2)
        assert made.last_error == "no readable reply in 3 tries; the last was 'hm'"

    def test_a_refused_key_fails_at_once_and_is_not_told(self) -> None:
        with (
            ModelServer.playing(fail(401, f"Incorrect API key provided: {KEY}")) as server,
            judge(server) as it,
            pytest.raises(InfrastructureError) as caught,
        ):
            it.ask(questions(100))
        assert str(caught.value) == (
            f"The judge at {server.url} replied with HTTP 401: the key in OPENAI_API_KEY was refused. "
            "Set OPENAI_API_KEY, or grade without a judge, or with --judge-replies FILE."
        )
        assert len(server.asked) <= 8

    def test_a_judge_that_fails_during_requests_leaves_no_connection_open(self) -> None:
        for _ in range(10):  # the requests that go on are in other moments each time
            with (
                ModelServer.playing(fail(401)) as server,
                judge(server) as it,
                pytest.raises(InfrastructureError),
            ):
                it.ask(questions(8))
        # Python warns of a socket that nobody has closed, and pytest turns this into an error.
        gc.collect()

    def test_ctrl_c_ends_the_process_at_once_and_keeps_what_was_answered(self, tmp_path: Path) -> None:
        slow = threading.Event()

        def decide(asked: Asked) -> Action:
            if asked.prompt.endswith("q2"):
                slow.set()
                return say("A", delay=3600)
            return say("A")

        code = (
            "import sys; from pathlib import Path; from grader.judge import *; from grader.judge.client import *\n"
            "from grader.judge.client import *\n"
            "asked = [JudgeQuestion(qid=f'q{n}', prompt=f'prompt of q{n}', accept=bool) for n in range(9)]\n"
            "cache = ReplyCache(Path(sys.argv[2]))\n"
            "with OpenAIJudge(model='m', cache=cache, base_url=sys.argv[1], concurrency=1) as j:\n"
            "  try: j.ask(asked)\n"
            "  except KeyboardInterrupt: sys.exit(130)"
        )
        path = tmp_path / "c"
        with ModelServer(decide) as server:
            command = [sys.executable, "-W", "error", "-c", code, server.url, str(path)]
            with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as child:
                assert slow.wait(200)
                child.send_signal(signal.SIGINT)
                _, stderr = child.communicate(timeout=200)
            assert (child.returncode, stderr) == (130, "")
            keys = [cache_key(server.url, "m", f"prompt of q{n}") for n in range(9)]
        with ReplyCache(path) as cache:
            assert set(cache.replies(keys)) == set(keys[:2])
