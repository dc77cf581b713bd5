"""A run against a real server: what it asks, keeps, leaves out, and why it stops."""

import json
from pathlib import Path
from typing import Any

import pytest

from grader.inference.log import Log
from grader.inference.output import Missing, summarize
from grader.observer import Silent
from tests.inference.made import plan, run, two_stages
from tests.models.server import Action, Asked, ModelServer, fail, say

pytestmark = pytest.mark.usefixtures("no_servers")


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def asked(server: ModelServer) -> list[tuple[str, int]]:
    return sorted((request.prompt.removeprefix("ask "), request.body["seed"]) for request in server.asked)


def test_every_sample_is_one_request_with_a_seed_of_its_own_and_one_line(path: Path) -> None:
    with ModelServer.playing(say("B", reasoning="hm")) as server:
        assert run(plan(3, 2, temperature=0.8), path, server) == ""
    expected = [(f"q{task}", sample) for task in range(3) for sample in range(2)]
    assert asked(server) == expected
    assert sorted((line["qid"], line["sample"]) for line in lines(path)) == expected
    line = next(line for line in lines(path) if (line["qid"], line["sample"]) == ("q1", 1))
    assert line.pop("seconds") >= 0
    assert line == {
        "qid": "q1",
        "sample": 1,
        "stage": "answer",
        "model": "m",
        "settings": {"temperature": 0.8, "seed": 1},
        "prompt": "ask q1",
        "content": "B",
        "reasoning": "hm",
        "finish_reason": "stop",
        "usage": {"prompt_tokens": 11, "completion_tokens": 2},
        "attempts": 1,
        "error": None,
    }


def test_what_failed_is_a_line_without_content_and_is_missing_with_its_reason(path: Path) -> None:
    troubles = {"ask q0": fail(400, "too long"), "ask q1": say(None, reasoning="hm"), "ask q2": say("")}
    with ModelServer(lambda request: troubles.get(request.prompt, say("A"))) as server:
        assert run(plan(4), path, server) == ""
    assert {line["qid"]: (line["content"], line["reasoning"]) for line in lines(path)} == {
        "q0": (None, ""),
        "q1": (None, "hm"),
        "q2": (None, ""),
        "q3": ("A", ""),
    }
    with Log(path) as log:
        summary = summarize(plan(4).conversations, log)
    assert (summary.done, summary.samples) == (1, 4)
    assert summary.missing == [
        Missing(qid="q0", sample=0, reason=f"{server.url} replied with HTTP 400: too long"),
        Missing(qid="q1", sample=0, reason="the reply has only reasoning"),
        Missing(qid="q2", sample=0, reason="the reply is empty"),
    ]


class TestStages:
    def test_a_step_is_asked_with_the_answer_of_the_one_before(self, path: Path) -> None:
        def decide(request: Asked) -> Action:
            return say("<think>hm</think>a spiral" if request.prompt == "describe" else "```python```")

        with ModelServer(decide) as server:
            run(two_stages(), path, server)
        assert [request.prompt for request in server.asked] == ["describe", "code for a spiral"]
        assert [(line["stage"], line["content"]) for line in lines(path)] == [
            ("description", "<think>hm</think>a spiral"),
            ("code", "```python```"),
        ]

    def test_a_failed_step_is_asked_again_with_the_kept_answer_of_the_one_before(self, path: Path) -> None:
        with ModelServer.playing(say("a spiral"), fail(400)) as server:
            run(two_stages(), path, server)
        with ModelServer.playing(say("done")) as server:
            run(two_stages(), path, server)
        assert [request.prompt for request in server.asked] == ["code for a spiral"]

    def test_a_coder_model_is_asked_for_its_own_steps(self, path: Path) -> None:
        with ModelServer.playing(say("a spiral")) as server, ModelServer.playing(say("done")) as coder:
            assert run(two_stages(coder="coder"), path, server, coder=coder) == ""
        assert [request.body["model"] for request in server.asked] == ["m"]
        assert [(each.body["model"], each.prompt) for each in coder.asked] == [("coder", "code for a spiral")]
        assert [line["model"] for line in lines(path)] == ["m", "coder"]


class TestStops:
    def test_ten_failures_in_a_row_stop_the_run_and_the_next_one_begins_behind_them(self, path: Path) -> None:
        with ModelServer.playing(fail(400, "no images here")) as server:
            reason = run(plan(30), path, server, concurrency=1)
            assert reason.startswith("10 tasks in a row failed, the last: ")
            for _ in range(2):
                run(plan(30), path, server, concurrency=1)
            assert asked(server) == sorted((f"q{number}", 0) for number in range(30))
            run(plan(30), path, server, concurrency=1)
        assert [request.prompt for request in server.asked[30:]] == [f"ask q{number}" for number in range(10)]

    def test_a_run_that_stops_keeps_the_replies_to_requests_under_way(self, path: Path) -> None:
        with ModelServer(lambda asked: say("A", delay=0.5) if asked.prompt == "ask q0" else fail(404)) as server:
            assert run(plan(30), path, server, concurrency=2).startswith("10 tasks in a row failed")
        assert [line["qid"] for line in lines(path) if line["content"] is not None] == ["q0"]

    def test_requests_that_no_server_got_are_no_lines(self, path: Path) -> None:
        with ModelServer.playing(say("A")) as gone:
            pass
        assert run(plan(3), path, gone).startswith("no connection to ")
        assert lines(path) == []

    def test_an_interrupt_keeps_what_was_answered_and_asks_nothing_more(self, path: Path) -> None:
        class Interrupting(Silent):
            done = 0

            def advance(self, steps: int = 1, *, passed: int = 0) -> None:
                self.done += 1
                if self.done >= 3:
                    raise KeyboardInterrupt

        with ModelServer.playing(say("A", delay=0.2)) as server:
            with pytest.raises(KeyboardInterrupt):
                run(plan(500), path, server, concurrency=2, observer=Interrupting())
            assert len(server.asked) < 50
        kept = [line["qid"] for line in lines(path)]
        assert len(kept) >= 3
        assert len(set(kept)) == len(kept)


def test_progress_counts_the_requests_that_are_left(path: Path) -> None:
    class Counting(Silent):
        said: list[object] = []

        def phase(self, name: str, total: int | None) -> None:
            self.said.append((name, total))

        def advance(self, steps: int = 1, *, passed: int = 0) -> None:
            self.said.append(steps)

    with ModelServer.playing(say("A")) as server:
        run(plan(2), path, server)
        run(plan(5), path, server, observer=Counting())
    assert Counting.said == [("requests", 3), 1, 1, 1]
