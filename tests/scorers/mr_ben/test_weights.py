"""MR-Score's weights: declared, given, and refused."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from grader.errors import InputError, UsageError
from grader.grading import grade
from grader.observer import Silent
from grader.options import Options
from grader.scorers.mr_ben.prompts import chosen, prompt
from tests.scorers.mr_ben.made import (
    MATH,
    NO,
    RIGHT,
    facts_of_run,
    figures,
    folder,
    predictions,
    replies,
    run,
)


def test_weights_come_from_the_declaration_and_then_the_command(tmp_path: Path) -> None:
    data = folder(tmp_path / "data", math=MATH)
    path, judged = predictions(tmp_path, RIGHT), replies(tmp_path, {"q2/m": NO})
    report = run(path, data, judge_replies=judged)
    assert facts_of_run(report).weights == {"mcc": 0.2, "step": 0.3, "reason": 0.5}
    report = run(path, data, judge_replies=judged, settings={"mcc": "0", "step": "1"})
    assert facts_of_run(report).weights == {"mcc": 0, "step": 1, "reason": 0.5}
    assert figures(report, "official")["mr_score"] == 50
    options = Options(benchmark="mr-ben", data=data, score_only=True, settings={"reason": "0"})
    again = grade(path, options, Silent()).report
    assert facts_of_run(again).weights == {"mcc": 0.2, "step": 0.3, "reason": 0}
    (said,) = [note for note in again.notes if "weights" in note]
    assert said.endswith(
        "(the benchmark's are mcc 0.2, step 0.3, reason 0.5). They add up to 0.5, so its highest value is 50."
    )
    again = grade(path, Options(benchmark="mr-ben", data=data, score_only=True), Silent()).report
    assert not [note for note in again.notes if "weights" in note]
    with pytest.raises(UsageError, match="must be more than 0"):
        run(path, data, judge_replies=judged, settings={"mcc": "0", "step": "0", "reason": "0"})
    with pytest.raises(UsageError, match="--set steps: the scorer mr_score has no such setting; it has mcc"):
        run(path, data, judge_replies=judged, settings={"steps": "1"})
    with pytest.raises(UsageError, match="--set step=nan: a weight must be 0 or more"):
        run(path, data, judge_replies=judged, settings={"step": "nan"})


SHOWN = {"Options": "A: x", "Model_Solution_Steps": ["Step 1: a", "", "Step 2: b"]}
DEMONSTRATIONS: dict[str, list[Any]] = {
    "high_school_physics": [
        {"Question": f"q{n}", **SHOWN, "cot_analysis": f"Solution Analysis: c{n}"} for n in range(3)
    ],
    "coding": [{"Question": f"q{n}", "Solution": f"s{n}", "cot_analysis": f"c{n}"} for n in range(3)],
}
PHYSICS = {
    "Subject": "high_school_physics",
    "Question": "Why {so}?",
    "Options": "A: it is\nB: it is not",
    "Model_Solution_Steps": ['Step 1: "one"', "Step 2: it's two"],
}
CODING = {"Subject": "coding", "Question": "Sort it.", "Model_Solution_Steps": "def f(x):\n    return {x}"}


@pytest.mark.parametrize(
    ("row", "shots", "expected"),
    [
        (PHYSICS, 0, "333a7b5503b57a6a"),
        (CODING, 0, "687dcc18af51d797"),
        (PHYSICS, 2, "15dfcf4f5b040d0e"),
        (CODING, 2, "2097a92f80038c01"),
    ],
)
def test_a_row_is_asked_with_the_published_text(row: dict[str, Any], shots: int, expected: str) -> None:
    text = prompt(row, chosen(DEMONSTRATIONS, row, shots))
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == expected


def test_too_few_demonstrations_are_an_error() -> None:
    with pytest.raises(InputError, match="3 demonstrations for 'coding', but --shots is 4"):
        chosen(DEMONSTRATIONS, CODING, 4)
