"""From rows to tasks: their names, and names that no row has."""

import json
from pathlib import Path
from typing import Any

import pytest

from grader.errors import DataUnavailableError, GradeError, InputError, UsageError
from grader.predictions.layouts import mr_ben, row_qids
from grader.scorers import declarations
from grader.scorers.mr_ben import tasks
from tests.scorers.mr_ben.made import MATH, RIGHT, folder, predictions, run, sample_rows
from tests.tables import each


def test_a_row_that_the_benchmark_has_not_is_named(tmp_path: Path) -> None:
    data = folder(tmp_path / "data", math=MATH)
    path = predictions(tmp_path, RIGHT | {"q1/n": "x"})
    with pytest.raises(InputError, match=r'the benchmark has no row "q1/n"'):
        run(path, data)


ROW = {
    "Question_UUID": "q",
    "Sampled_Model": "m",
    "Model_Solution_Steps": ["Step 1: one"],
    "Model_Solution_Correctness": "correct",
    "Model_Solution_First_Error_Step": "N/A",
}
MR_BEN = declarations.load("mr-ben")


def load(place: Path | None) -> list[dict[str, Any]]:
    return tasks.load(MR_BEN, "test", place).rows


def test_a_row_knows_its_subject_and_keeps_all_its_fields(tmp_path: Path) -> None:
    (tmp_path / "math.json").write_text("\ufeff" + json.dumps({"q": [ROW | {"More": [1]}]}), encoding="utf-8")
    (tmp_path / "other.json").write_text("{")
    assert load(tmp_path) == [ROW | {"More": [1], "subject": "math"}]


def test_one_subject_file_may_be_named_alone(tmp_path: Path) -> None:
    (tmp_path / "coding.json").write_text(json.dumps({"q": [ROW | {"Model_Solution_Steps": "x = 1"}]}))
    (tmp_path / "math.json").write_text("{")
    rows = load(tmp_path / "coding.json")
    assert [(row["subject"], row["Model_Solution_Steps"]) for row in rows] == [("coding", "x = 1")]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "math.json: Input data was truncated; expected {question id: [rows]}"),
        ('{"q": [{"n": ' + 9_999 * "[",
         "math.json: maximum recursion depth exceeded while deserializing an object; expected {question id: [rows]}"),
        ("[]", "math.json: Expected `object`, got `array`; expected {question id: [rows]}"),
        (json.dumps({"q": [{}]}),
         "math.json: $.q[0]: missing Question_UUID, Sampled_Model, Model_Solution_Steps, Model_Solution_Correctness, "
         "Model_Solution_First_Error_Step"),
        (json.dumps({"q": [ROW, ROW | {"Model_Solution_Correctness": "maybe"}]}),
         "math.json: $.q[1]: Model_Solution_Correctness is 'maybe'"),
        (json.dumps({"q": [ROW | {"Model_Solution_Steps": [1]}]}),
         "math.json: $.q[0]: Model_Solution_Steps is neither a text nor a list of texts"),
    ],
)  # fmt: skip
def test_a_file_that_is_wrong_is_said_to_be(tmp_path: Path, content: str, problem: str) -> None:
    (tmp_path / "math.json").write_text(content)
    with pytest.raises(InputError) as caught:
        load(tmp_path)
    assert caught.value.problems == [problem]


def test_a_key_that_stands_twice_is_refused(tmp_path: Path) -> None:
    row = json.dumps(ROW)
    (tmp_path / "math.json").write_text(f'{{"q": [{row}],\n"q": [{row}]}}')
    with pytest.raises(InputError) as caught:
        load(tmp_path)
    twice = 'the key "q" is a duplicate in one object'
    assert caught.value.problems == [f"{tmp_path}/math.json:1: $: {twice}"]


def test_a_place_without_subjects_is_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text("{}")
    for place, error, words in (
        (tmp_path, UsageError, "contains none of biology.json, math.json, "),
        (tmp_path / "gone", UsageError, "there is no such folder; expected a folder with biology.json, math.json, ..."),
        (tmp_path / "other.json", UsageError, "this is a file; expected a folder with biology.json, math.json, ..."),
        (
            None,
            DataUnavailableError,
            "give the folder of its subject files (biology.json, math.json, physics.json, ...)",
        ),
    ):
        with pytest.raises(GradeError) as caught:
            load(place)
        assert type(caught.value) is error
        assert words in str(caught.value)


def test_a_second_row_with_the_same_key_gets_a_number() -> None:
    rows = [{"Question_UUID": "u", "Sampled_Model": model} for model in ("a", "b", "a", "a")]
    assert row_qids(rows) == ["u/a", "u/b", "u/a#2", "u/a#3"]


@each(
    "data", [None, [], {}, {"u": []}, {"u": [1]}, {"a": {"b": 1}}, [{"qid": "q", "predictions": ["x"]}], sample_rows()]
)
def test_anything_else_is_not_a_scored_file(data: object) -> None:
    assert mr_ben(data) is None
