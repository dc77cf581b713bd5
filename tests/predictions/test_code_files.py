"""Files with programs as LiveCodeBench, bigcode-evaluation-harness and OpenCompass write them."""

# ruff: noqa: E501 - a whole case on one line is easier to compare with its neighbours

import json
from pathlib import Path

import pytest

from grader.errors import InputError
from grader.predictions.read import read_predictions

FENCED = "```python\nx = 1\n```"


@pytest.mark.parametrize(
    ("content", "made_by", "records"),
    [
        ([{"question_id": "abc_1", "output_list": ["So: x", "y"], "code_list": ["x", ""]}], "livecodebench", {"abc_1": ["So: x", "y"]}),
        ([{"question_id": "abc_1", "code_list": ["x = 1"]}], "livecodebench", {"abc_1": [FENCED]}),
        ([["x = 1", FENCED], ["x = 1"]], "bigcode", {"0": [FENCED, f"````python\n{FENCED}\n````"], "1": [FENCED]}),
        ({"0": {"origin_prompt": "Q", "prediction": "So: x", "gold": ""}, "1": {"prediction": ["a", "b"]}}, "opencompass", {"0": ["So: x"], "1": ["a", "b"]}),
        # MathVista's scored files have what was made of the response besides.
        ({"1": {"response": "It is 2.", "prediction": "2"}, "2": {"response": "?", "prediction": None}}, "mathvista", {"1": ["It is 2."], "2": ["?"]}),
    ],
)  # fmt: skip
def test_a_file_of_programs_is_read(
    content: object, made_by: str, records: dict[str, list[str]], tmp_path: Path
) -> None:
    (tmp_path / "p.json").write_text(json.dumps(content))
    file = read_predictions(tmp_path / "p.json")
    assert (file.format, {record.qid: record.predictions for record in file.records}) == (made_by, records)


def test_positions_are_those_of_the_rows_if_there_are_as_many(tmp_path: Path) -> None:
    (tmp_path / "generations.json").write_text(json.dumps([["x"], ["y"]]))
    file = read_predictions(tmp_path / "generations.json")
    assert [record.qid for record in file.with_task_ids(["HumanEval/0", "HumanEval/1"]).records] == ["HumanEval/0", "HumanEval/1"]  # fmt: skip
    with pytest.raises(InputError, match="the data has 3"):
        file.with_task_ids(["a", "b", "c"])


def test_what_is_no_list_of_programs_is_named(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text(json.dumps([{"question_id": "a", "code_list": [{}]}]))
    with pytest.raises(InputError, match=r"code_list: expected a text or a list of texts, found a list"):
        read_predictions(tmp_path / "p.json")
