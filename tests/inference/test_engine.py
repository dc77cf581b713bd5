"""A run against a real server: what it asks, keeps, leaves out, and why it stops."""

import json
from pathlib import Path
from typing import Any

import pytest

from grader.inference.engine import Engine
from grader.inference.log import Log
from grader.inference.output import Missing, summarize
from grader.inference.plan import Conversation, Plan
from tests.inference.made import Watcher, plan, run, step
from tests.models.made import client
from tests.models.server import Action, Asked, ModelServer, fail, say


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "out_requests.jsonl"


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
    assert line.pop("at").endswith("+00:00")
    assert len(line.pop("prompt_sha256")) == 64
    assert line == {
        "qid": "q1",
        "sample": 1,
        "stage": "answer",
        "model": "m",
        "settings": {"temperature": 0.8, "seed": 1},
        "prompt": "ask q1",
        "images": [],
        "content": "B",
        "reasoning": "hm",
        "finish_reason": "stop",
        "usage": {"prompt_tokens": 11, "completion_tokens": 2},
        "attempts": 1,
        "error": None,
        "error_kind": "",
        "served_model": "served",
        "choices": 1,
    }


def test_what_failed_is_a_line_without_content_and_is_missing_with_its_reason(path: Path) -> None:
    troubles = {
        "ask q0": fail(400, "too long"),
        "ask q1": say(None, finish="length", reasoning="hm"),
        "ask q2": say(""),
    }
    with ModelServer(lambda request: troubles.get(request.prompt, say("A"))) as server:
        assert run(plan(4), path, server) == ""
    assert {line["qid"]: (line["content"], line["error_kind"], line["reasoning"]) for line in lines(path)} == {
        "q0": (None, "refused", ""),
        "q1": (None, "reasoning_only", "hm"),
        "q2": (None, "empty", ""),
        "q3": ("A", "", ""),
    }
    with Log(path) as log:
        summary = summarize(plan(4).conversations, log)
    assert (summary.done, summary.samples, summary.complete) == (1, 4, False)
    assert summary.missing == [
        Missing(qid="q0", sample=0, kind="refused", reason=f"{server.url} replied with HTTP 400: too long"),
        Missing(qid="q1", sample=0, kind="reasoning_only", reason="reasoning used up the token limit"),
        Missing(qid="q2", sample=0, kind="empty", reason="the reply is empty (3 attempts)"),
    ]


def test_an_empty_reply_is_an_answer_only_where_that_was_asked_for(path: Path) -> None:
    with ModelServer.playing(say("")) as server:
        run(plan(1), path, server, accept_empty=True)
    assert lines(path)[0]["content"] == ""


class TestStages:
    def two_stages(self, samples: int = 2) -> Plan:
        steps = (
            step("describe", "description", temperature=0.8),
            step("code for {description}", "code", temperature=0),
        )
        conversations = [Conversation(qid="q", sample=sample, steps=steps) for sample in range(samples)]
        return Plan(conversations=tuple(conversations), models={"model": "m"})

    def test_a_step_is_asked_with_the_answer_of_the_one_before(self, path: Path) -> None:
        def decide(request: Asked) -> Action:
            return say("<think>hm</think>a spiral" if request.prompt == "describe" else "```python```")

        with ModelServer(decide) as server:
            run(self.two_stages(1), path, server)
        assert [request.prompt for request in server.asked] == ["describe", "code for a spiral"]
        assert [(line["stage"], line["content"]) for line in lines(path)] == [
            ("description", "<think>hm</think>a spiral"),
            ("code", "```python```"),
        ]

    def test_a_failed_step_is_asked_again_with_the_kept_answer_of_the_one_before(self, path: Path) -> None:
        def decide(request: Asked) -> Action:
            return say("a spiral") if request.prompt == "describe" else fail(400)

        with ModelServer(decide) as server:
            run(self.two_stages(1), path, server)
        with ModelServer.playing(say("done")) as server:
            run(self.two_stages(1), path, server)
        assert [request.prompt for request in server.asked] == ["code for a spiral"]


class TestStops:
    def test_ten_refusals_from_the_start_stop_the_run(self, path: Path) -> None:
        with ModelServer.playing(fail(400, "no images here")) as server:
            reason = run(plan(50), path, server, concurrency=1)
        assert reason.startswith("the first 10 requests were all refused, the last: ")
        assert reason.endswith("HTTP 400: no images here")
        assert len(server.asked) == 10

    def test_a_budget_of_tokens_ends_the_run_and_counts_earlier_runs(self, path: Path) -> None:
        with ModelServer.playing(say("A")) as server:  # 13 tokens each
            reason = run(plan(50), path, server, concurrency=1, max_total_tokens=30)
            assert reason == "the budget of 30 tokens is spent (39 counted); raise --max-total-tokens"
            assert run(plan(50), path, server, concurrency=1, max_total_tokens=40) != ""
            assert len(server.asked) == 4
            assert run(plan(50), path, server, concurrency=1) == ""
        assert len(server.asked) == 50

    def test_a_server_that_counts_no_tokens_is_held_to_an_estimate(self, path: Path) -> None:
        with ModelServer.playing(say("x" * 74, tokens=None)) as server:  # 80 characters with the prompt
            reason = run(plan(9), path, server, concurrency=1, max_total_tokens=50)
        assert "(60 estimated, because the server does not count them)" in reason
        assert len(server.asked) == 3

    def test_an_interrupt_keeps_what_was_answered_and_asks_nothing_more(self, path: Path) -> None:
        class Interrupting(Watcher):
            def progress(self, progress: Any) -> None:
                if progress.done >= 3:
                    raise KeyboardInterrupt

        with ModelServer.playing(say("A", delay=0.2)) as server:
            with pytest.raises(KeyboardInterrupt):
                run(plan(500), path, server, concurrency=2, watcher=Interrupting())
            assert len(server.asked) < 50
        kept = [line["qid"] for line in lines(path)]
        assert len(kept) >= 3
        assert len(set(kept)) == len(kept)


def test_progress_counts_earlier_runs_failures_and_tokens(path: Path) -> None:
    with ModelServer.playing(say("A")) as server:
        run(plan(2), path, server)
    watcher = Watcher()
    with ModelServer(lambda request: fail(400) if request.prompt == "ask q3" else say("A")) as server:
        run(plan(5), path, server, watcher=watcher)
    last = watcher.shown[-1]
    assert (last.total, last.before, last.done, last.failed, last.in_flight) == (5, 2, 2, 1, 0)
    assert (last.usage.prompt_tokens, last.usage.completion_tokens) == (22, 4)
    assert last.seconds_left == 0


def test_a_coder_model_is_asked_by_its_own_client_for_its_own_steps(path: Path) -> None:
    steps = (step("describe", "description"), step("code for {description}", "code"))
    steps = (steps[0], type(steps[1])(**{**_fields(steps[1]), "role": "coder"}))
    whole = Plan(
        conversations=(Conversation(qid="q", sample=0, steps=steps),), models={"model": "seer", "coder": "writer"}
    )
    with (
        ModelServer.playing(say("a spiral")) as seer,
        ModelServer.playing(say("done")) as writer,
        Log(path) as log,
        client(seer, model="seer") as model,
        client(writer, model="writer") as coder,
    ):
        assert Engine(whole, log, {"model": model, "coder": coder}).run(whole.conversations, concurrency=2) == ""
    assert [request.body["model"] for request in seer.asked] == ["seer"]
    assert [(request.body["model"], request.prompt) for request in writer.asked] == [("writer", "code for a spiral")]
    assert [line["model"] for line in lines(path)] == ["seer", "writer"]


def _fields(record: Any) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__struct_fields__}


def test_truncated_and_identical_samples_are_counted(path: Path) -> None:
    long = "the same text again and again, " * 5

    def decide(request: Asked) -> Action:
        return say(long, finish="length" if request.prompt == "ask q0" else "stop")

    with ModelServer(decide) as server:
        run(plan(2, 3, temperature=0.8, max_tokens=16), path, server)
    with Log(path) as log:
        summary = summarize(plan(2, 3, temperature=0.8, max_tokens=16).conversations, log)
    assert (summary.truncated, summary.requests, summary.limits) == ({"answer": 3}, {"answer": 6}, {"answer": 16})
    assert summary.identical == 4
