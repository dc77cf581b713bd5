"""The published prompts of Mr-Ben, letter by letter: hashes of what its own functions make of the same rows."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from grader.errors import InputError
from grader.scorers.mr_ben.prompts import SAMPLING, chosen, prompt

DEMONSTRATIONS: dict[str, list[Any]] = {
    "high_school_physics": [
        {
            "Question": f"q{number}",
            "Options": "A: x",
            "Model_Solution_Steps": ["Step 1: a", "", "Step 2: b"],
            "cot_analysis": f"Solution Analysis: c{number}",
        }
        for number in range(3)
    ],
    "coding": [
        {"Question": f"q{number}", "Solution": f"s{number}", "cot_analysis": f"c{number}"} for number in range(3)
    ],
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


def test_it_is_greedy_without_a_token_limit() -> None:
    assert SAMPLING.settings(1).fields() == {"temperature": 0.0, "top_p": 0.9}
