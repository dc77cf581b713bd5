"""From responses to samples: a response that is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.errors import InputError
from grader.grading import grade
from grader.observer import Silent
from grader.options import Options
from grader.results import READINGS
from tests.scorers.mr_ben.made import (
    MATH,
    RIGHT,
    YES,
    figures,
    folder,
    predictions,
    replies,
    run,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_a_row_without_a_prediction_is_an_error_or_wrong(tmp_path: Path) -> None:
    data = folder(tmp_path / "data", math=MATH)
    texts = {qid: text for qid, text in RIGHT.items() if qid != "q1/m"}
    path, judged = predictions(tmp_path, texts), replies(tmp_path, {"q2/m": YES})
    with pytest.raises(InputError, match=r'1 of 4 rows without a prediction: "q1/m"'):
        run(path, data, judge_replies=judged)
    report = run(path, data, judge_replies=judged, missing="wrong")
    assert [s.qid for s in report.samples] == ["q1/m", "q2/m", "q3/m", "q4/m"]
    absent = report.samples[0]
    assert (absent.careful.outcome, absent.careful.detail) == ("no_answer", "there is no prediction")
    for reading in READINGS:
        got = figures(report, reading)
        assert (got["recall"], got["parse_success_rate"], got["acc_reason"]) == (0, 75, 50)
    assert report.notes == ["1 of 4 rows have no prediction and count as wrong."]
    again = grade(path, Options(benchmark="mr-ben", data=data, score_only=True), Silent()).report
    assert again == report
