"""Logs of inspect_ai: a real one (0.3.285, a mock model, reduced to what matters), as `.json` and packed as `.eval`."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from grader.errors import InputError
from grader.predictions.read import read_predictions

if sys.version_info >= (3, 14):
    import zipfile
else:
    from backports.zstd import zipfile

LOG = Path(__file__).parents[1] / "files" / "inspect_ai_log.json"


def log(**changes: Any) -> dict[str, Any]:
    return json.loads(LOG.read_text()) | changes


def packed(
    path: Path, made: dict[str, Any], *, headers: tuple[str, ...] = ("_journal/start.json", "header.json")
) -> Path:
    """Write a log as inspect_ai packs it: a header, one file a sample, zstd."""
    with zipfile.ZipFile(path, "w", compression=zipfile.ZIP_ZSTANDARD) as archive:
        head = {name: made[name] for name in ("version", "status", "eval", "plan")}
        archive.writestr(headers[0], json.dumps(head))
        # Samples are packed as they end, which is in no order.
        for sample in reversed(made["samples"]):
            archive.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
        for name in headers[1:]:
            archive.writestr(name, json.dumps(head))
    return path


@pytest.fixture(params=["json", "eval"])
def written(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    def write(made: dict[str, Any]) -> Path:
        path = tmp_path / f"log.{request.param}"
        if request.param == "eval":
            return packed(path, made)
        path.write_text(json.dumps(made, indent=1))
        return path

    return write


def first_text(path: Path) -> str:
    (record,) = [record for record in read_predictions(path).records if record.qid == "0"]
    return record.predictions[0]


def test_a_sample_is_a_qid_and_its_epochs_are_its_predictions(written: Any) -> None:
    found = read_predictions(written(log()))
    assert (found.format, found.warnings) == ("inspect_ai", [])
    assert {record.qid: record.predictions for record in found.records} == {
        "0": ["Answer: (A)", "Answer: (C)"],
        "1": ["Answer: (B)", "Answer: (D)"],
        "2": ["", ""],
    }
    assert {record.fields["model"] for record in found.records} == {"mockllm/model"}


def test_why_the_model_stopped_and_what_failed_are_kept(written: Any) -> None:
    endings = {record.qid: record.endings for record in read_predictions(written(log())).records}
    assert [ending.is_cut for ending in endings["0"] or []] == [False, True]
    assert [ending.error for ending in endings["2"] or []] == ["RuntimeError('Rate limit reached')"] * 2


def test_long_texts_that_are_attachments_are_put_back(written: Any) -> None:
    made = log()
    sample = made["samples"][0]
    sample["output"]["completion"] = "attachment://abc"
    sample["attachments"] = {"abc": "a long text"}
    assert first_text(written(made)) == "a long text"
    sample["output"]["completion"] = "abc"
    assert first_text(written(made)) == "abc"


def test_a_message_in_parts_gives_its_text_without_reasoning(written: Any) -> None:
    made = log()
    output = made["samples"][0]["output"]
    del output["completion"]
    output["choices"][0]["message"]["content"] = [
        {"type": "reasoning", "reasoning": "hm"},
        {"type": "text", "text": "one"},
        {"type": "text", "text": "two"},
    ]
    assert first_text(written(made)) == "one\ntwo"


def shuffled(made: dict[str, Any], share: float) -> dict[str, Any]:
    """Turn the options of the second epoch around in a share of ten tasks."""
    (first, *_) = made["samples"]
    samples = []
    for number in range(40):
        for epoch in (1, 2):
            options = ["one", "two", "three"][:: -1 if epoch == 2 and number < share * 40 else 1]
            samples.append(first | {"id": number, "epoch": epoch, "input": f"How many, {number}?", "choices": options})
    return made | {"samples": samples}


def test_epochs_with_options_in_other_orders_do_not_answer_one_task(written: Any) -> None:
    assert read_predictions(written(shuffled(log(), 0))).conflicts == {}
    assert [*read_predictions(written(shuffled(log(), 0.025))).conflicts] == ["0"]
    with pytest.raises(InputError, match=r"40 of 40 ids stand for different tasks.*with its options in one order"):
        read_predictions(written(shuffled(log(), 1)))


def test_the_task_of_a_sample_has_whole_messages_and_its_one_target(written: Any) -> None:
    made = log()
    made["samples"] = made["samples"][:1]
    parts = [{"role": "system", "content": "Be good."}, {"role": "user", "content": "attachment://q"}]
    made["samples"][0] |= {"input": parts, "target": ["B"], "attachments": {"q": "Which?"}, "choices": ["x", "y"]}
    (record,) = read_predictions(written(made)).records
    assert record.fields["doc"] == {"question": "Be good.\nWhich?", "options": ["x", "y"], "answer": "B"}


def test_a_log_without_samples_and_a_damaged_one_say_so(written: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is an inspect_ai log without samples"):
        read_predictions(written(log(samples=[])))
    whole = packed(tmp_path / "whole.eval", log()).read_bytes()
    cut = tmp_path / "cut.eval"
    cut.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"is not a readable inspect_ai log \(.+\); was it cut off\?"):
        read_predictions(cut)
    broken = tmp_path / "broken.json"
    broken.write_text(json.dumps(log(samples=[{"id": []}])))
    with pytest.raises(InputError, match=r"\$\.id: expected an id, found a list"):
        read_predictions(broken)
