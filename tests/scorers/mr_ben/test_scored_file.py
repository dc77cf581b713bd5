"""Official result files of Mr-Ben, and the keys of rows."""

from __future__ import annotations

import pytest

from grader.scorers.mr_ben.scored_file import ScoredFile, from_scored_file, row_qids
from tests.scorers.mr_ben.made import sample_rows


def test_a_second_row_with_the_same_key_gets_a_number() -> None:
    rows = [{"Question_UUID": "u", "Sampled_Model": model} for model in ("a", "b", "a", "a")]
    assert row_qids(rows) == ["u/a", "u/b", "u/a#2", "u/a#3"]


def test_an_official_scored_file_is_taken_apart() -> None:
    row = {"Question_UUID": "u", "Sampled_Model": "a", "Model_Solution_Correctness": "incorrect"}
    answered = {"Evaluation_Result": {"evaluated_model": "m", "evaluation_raw_response": "said", "error_reason": ""}}
    judged = {"Error_Reason_Correctness_Analysis": {"scoring_model": "j", "scoring_raw_response": "Final Decision: x"}}
    failed = {"Evaluation_Result": {"evaluated_model": "m", "evaluation_raw_response": ""}}
    data = {
        "physics": [row | answered | judged | {"Need_Error_Reason_Review": True, "Query_Prompt": "p"}, row | failed],
        "math": [{**row, "Sampled_Model": "b"}],
    }
    assert from_scored_file(data) == ScoredFile(
        rows={"physics": [row, row], "math": [{**row, "Sampled_Model": "b"}]},
        predictions={"u/a": "said", "u/a#2": ""},
        judge_replies={"u/a": "Final Decision: x"},
        models=["m"],
        judges=["j"],
    )


@pytest.mark.parametrize(
    "data",
    [None, [], {}, {"u": []}, {"u": [1]}, {"a": {"b": 1}}, [{"qid": "q", "predictions": ["x"]}], sample_rows()],
    ids=["null", "array", "empty", "no rows", "no records", "objects", "prediction file", "benchmark data"],
)
def test_anything_else_is_not_a_scored_file(data: object) -> None:
    assert from_scored_file(data) is None
