"""The prediction file that a log becomes."""

import json
from pathlib import Path
from typing import Any

from grader.inference import output
from grader.inference.log import Log
from grader.inference.plan import Conversation, Plan
from grader.predictions.read import read_predictions
from tests.inference.made import plan, run, step
from tests.models.server import Action, Asked, ModelServer, fail, say


def made(whole: Plan, server: ModelServer, folder: Path) -> list[dict[str, Any]]:
    """Run a plan and return the prediction file's records."""
    path = folder / "out_requests.jsonl"
    run(whole, path, server)
    with Log(path) as log:
        output.write(folder / "out.json", whole, log)
    read_predictions(folder / "out.json")
    return json.loads((folder / "out.json").read_text())


def test_a_record_a_task_holds_its_samples_in_order_and_what_belongs_to_them(tmp_path: Path) -> None:
    def decide(request: Asked) -> Action:
        seed = request.body["seed"]
        return say(f"sample {seed}", finish="length" if seed == 1 else "stop", delay=0.02 * (3 - seed))

    with ModelServer(decide) as server:
        records = made(plan(2, 3), server, tmp_path)
    assert records == [
        {
            "qid": f"q{task}",
            "prompt": f"ask q{task}",
            "predictions": ["sample 0", "sample 1", "sample 2"],
            "model": "m",
            "settings": records[task]["settings"],
            "finish_reasons": ["stop", "length", "stop"],
            "samples": [0, 1, 2],
        }
        for task in range(2)
    ]
    assert records[0]["settings"] == records[1]["settings"]
    assert "seed" not in records[0]["settings"]


def test_a_failed_sample_is_left_out_and_a_task_without_any_has_no_record(tmp_path: Path) -> None:
    def decide(request: Asked) -> Action:
        failed = request.prompt == "ask q0" or request.body["seed"] == 1
        return fail(400) if failed else say("A")

    with ModelServer(decide) as server:
        (record,) = made(plan(2, 3), server, tmp_path)
    assert (record["qid"], record["predictions"], record["samples"]) == ("q1", ["A", "A"], [0, 2])


def test_reasoning_is_no_part_of_a_prediction_and_a_stop_text_ends_it_after_that(tmp_path: Path) -> None:
    content = "<think>first\n```\nsecond</think>\n```python\ndef solution(): pass\n```\nThat is all."
    stopped = step("ask")
    stopped = type(stopped)(**{n: getattr(stopped, n) for n in stopped.__struct_fields__} | {"stop": "\n```\n"})
    whole = Plan(conversations=(Conversation(qid="q", sample=0, steps=(stopped,)),), model="m")
    with ModelServer.playing(say(content)) as server:
        (record,) = made(whole, server, tmp_path)
    assert record["predictions"] == ["```python\ndef solution(): pass"]
    assert json.loads((tmp_path / "out_requests.jsonl").read_text())["content"] == content


def test_truncated_samples_are_counted(tmp_path: Path) -> None:
    def decide(request: Asked) -> Action:
        cut = "length" if request.body["seed"] else "MAX_TOKENS"  # some servers have another word for it
        return say("A", finish=cut if request.prompt == "ask q0" else "stop")

    whole = plan(2, 3, max_tokens=16)
    with ModelServer(decide) as server:
        run(whole, tmp_path / "log.jsonl", server)
    with Log(tmp_path / "log.jsonl") as log:
        assert output.summarize(whole.conversations, log).truncated == {"answer": 3}
        assert output.write(tmp_path / "out.jsonl", whole, log) == 6
