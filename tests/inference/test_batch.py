"""Asking through a batch service's files."""

import json
from pathlib import Path
from typing import Any

import pytest

from grader.inference import batch
from grader.inference.log import Log
from grader.inference.plan import Conversation, Plan, Step
from grader.models.messages import Image, Settings, user
from tests.inference.made import plan, step
from tests.models.made import PIXEL
from tests.models.server import say


@pytest.fixture
def log(tmp_path: Path):
    with Log(tmp_path / "out_requests.jsonl") as opened:
        yield opened


def written(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def reply(custom_id: str, content: str | None = "A", *, status: int = 200, error: object = None) -> dict[str, Any]:
    """A line of a batch service, as vLLM's run-batch and OpenAI write it."""
    body: dict[str, Any] = json.loads(say(content).body) if status == 200 else {"error": {"message": "no"}}
    response = None if error else {"status_code": status, "request_id": "r", "body": body}
    return {"id": "b", "custom_id": custom_id, "response": response, "error": error}


def put(path: Path, *lines: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_a_batch_file_holds_each_request_as_it_would_be_sent(tmp_path: Path, log: Log) -> None:
    seen = Step(
        stage="answer",
        build=lambda _: (user(Image(data=PIXEL), "?"),),
        settings=Settings(temperature=0.0, max_tokens=16, extra={"top_k": 1}),
    )
    whole = Plan(conversations=(Conversation(qid="q", sample=0, steps=(seen,)),), models={"model": "m"})
    done = batch.write(tmp_path / "in.jsonl", whole, whole.conversations, log)
    assert (done.requests, done.later, done.bytes) == (1, 0, (tmp_path / "in.jsonl").stat().st_size)
    (line,) = written(tmp_path / "in.jsonl")
    messages = line["body"].pop("messages")
    assert [part["type"] for part in messages[0]["content"]] == ["image_url", "text"]
    assert (line.pop("method"), line.pop("url")) == ("POST", "/v1/chat/completions")
    assert line.pop("custom_id").startswith("grade-")
    assert line == {"body": {"model": "m", "temperature": 0.0, "max_tokens": 16, "top_k": 1}}


def test_replies_in_any_order_come_to_the_samples_that_were_asked(tmp_path: Path, log: Log) -> None:
    whole = plan(3, 2)
    batch.write(tmp_path / "in.jsonl", whole, whole.conversations, log)
    asked = written(tmp_path / "in.jsonl")
    replies = [reply(line["custom_id"], f"{line['body']['messages'][0]['content']} #{line['body']['seed']}")
               for line in reversed(asked)]  # fmt: skip
    taken = batch.take(put(tmp_path / "out.jsonl", *replies), whole, whole.conversations, log)
    assert (taken.replies, taken.failures, taken.known, taken.problems) == (6, 0, 0, [])
    assert {key: kept.content for key, kept in log.replies.items()} == {
        (f"q{task}", sample, "answer"): f"ask q{task} #{sample}" for task in range(3) for sample in range(2)
    }


def test_failures_duplicates_and_strangers_are_no_samples(tmp_path: Path, log: Log) -> None:
    whole = plan(4)
    batch.write(tmp_path / "in.jsonl", whole, whole.conversations, log)
    ids = [line["custom_id"] for line in written(tmp_path / "in.jsonl")]
    path = put(
        tmp_path / "out.jsonl",
        reply(ids[0], "first"),
        reply(ids[0], "second"),
        reply(ids[1], status=400),
        reply(ids[2], error={"code": "expired"}),
        reply(ids[3], None),
        reply("grade-of-another-run"),
    )
    with path.open("a") as file:
        file.write("{nonsense}\n")
    taken = batch.take(path, whole, whole.conversations, log)
    assert (taken.replies, taken.failures, taken.known, len(taken.problems)) == (1, 3, 1, 2)
    assert [kept.content for kept in log.replies.values()] == ["first"]
    assert {key[0]: failure.error_kind for key, failure in log.failures.items()} == {
        "q1": "refused",
        "q2": "down",
        "q3": "empty",
    }
    assert taken.problems[0] == f"{path}:6: custom_id 'grade-of-another-run': this command has no such request"
    # What failed is in the next batch file, and only that.
    assert batch.write(tmp_path / "in.jsonl", whole, whole.conversations, log).requests == 3


def test_a_reply_to_other_settings_or_prompts_is_a_strangers(tmp_path: Path, log: Log) -> None:
    before, now = plan(1, temperature=0.8), plan(1, temperature=0.5)
    batch.write(tmp_path / "in.jsonl", before, before.conversations, log)
    (line,) = written(tmp_path / "in.jsonl")
    taken = batch.take(put(tmp_path / "out.jsonl", reply(line["custom_id"])), now, now.conversations, log)
    assert (taken.replies, len(taken.problems), log.replies) == (0, 1, {})


def test_a_later_step_is_written_once_the_one_before_has_its_reply(tmp_path: Path, log: Log) -> None:
    steps = (step("describe", "description"), step("code for {description}", "code"))
    whole = Plan(conversations=(Conversation(qid="q", sample=0, steps=steps),), models={"model": "m"})
    for prompt, later in (("describe", 1), ("code for a spiral", 0)):
        done = batch.write(tmp_path / "in.jsonl", whole, whole.conversations, log)
        (line,) = written(tmp_path / "in.jsonl")
        assert (done.requests, done.later, line["body"]["messages"][0]["content"]) == (1, later, prompt)
        batch.take(put(tmp_path / "out.jsonl", reply(line["custom_id"], "a spiral")), whole, whole.conversations, log)
    assert batch.write(tmp_path / "in.jsonl", whole, whole.conversations, log).requests == 0
