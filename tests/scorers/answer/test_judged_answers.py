"""A judge for short answers: when it is asked, its grades in both readings, and declarations that cannot be."""

import json
from pathlib import Path
from typing import Any

import pytest

from grader.errors import GradeError, InputError, UsageError
from grader.grading import grade
from grader.observer import Silent
from grader.options import Options
from grader.results import Report
from tests.own import TEXTS, own

DECLARED = f"""
{TEXTS.replace("exact", "judge")}
judge_prompt = "Q: {{question}} G: {{gold}} A: {{answer}}. A, B or C?"
judge_grades = {{ correct = "A", wrong = "B", no_answer = "C" }}
"""


def graded(folder: Path, judge: dict[str, str] | None, *, declared: str = DECLARED, **replies: str) -> Report:
    """Grade replies to questions whose answer is Paris."""
    rows = [{"id": qid, "question": "Which city?", "answer": "Paris"} for qid in replies]
    file = own(folder, declared, rows, {qid: [text] for qid, text in replies.items()})
    recorded = folder / "judge.json"
    recorded.write_text(json.dumps(judge))
    given: dict[str, Any] = {} if judge is None else {"judge_replies": recorded}
    return grade(file, Options(benchmark=str(folder), **given), Silent()).report


def outcomes(report: Report) -> dict[str, tuple[str, str]]:
    return {s.qid: (s.official.outcome.value, s.careful.outcome.value) for s in report.samples}


def test_the_judge_decides_officially_and_carefully_only_what_rules_cannot(tmp_path: Path) -> None:
    found = graded(
        tmp_path,
        {"same": "B", "other": "A", "prose": "C", "empty": "A"},
        same="Paris",
        other="The city of light",
        prose="I have been to many places in my life, and it was one of those.",
        empty="",
    )
    assert outcomes(found) == {
        "same": ("wrong", "correct"),
        "other": ("correct", "correct"),
        "prose": ("no_answer", "no_answer"),
        "empty": ("correct", "no_answer"),
    }
    assert found.samples[1].careful.rule == "judge"


def test_a_grade_is_the_first_one_officially_and_a_word_carefully(tmp_path: Path) -> None:
    found = graded(tmp_path, {"a": "CORRECT", "b": "I say: A", "c": "?"}, a="Lutetia", b="Lutetia", c="Lutetia")
    assert outcomes(found) == {
        "a": ("no_answer", "unscored"),
        "b": ("correct", "correct"),
        "c": ("no_answer", "unscored"),
    }


def test_without_a_judge_nothing_is_scored_officially_and_a_note_says_so(tmp_path: Path) -> None:
    found = graded(tmp_path, None, same="Paris", other="The city of light")
    assert outcomes(found) == {"same": ("unscored", "correct"), "other": ("unscored", "wrong")}
    assert any(note.text.startswith("No judge: 2 samples are unscored officially") for note in found.notes)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{gold}", "", "the placeholder {gold} is missing"),
        ("judge_grades", "#", "judge_prompt and judge_grades belong together"),
        ('wrong = "B"', 'wrong = "A"', "judge_grades needs a name for `correct`, another one for `wrong`"),
        ('correct = "A"', 'correct = ""', "judge_grades needs a name for `correct`"),
        ('correct = "A", ', "", "judge_grades needs a name for `correct`"),
        ("judge_prompt", "#", "rule = 'judge' needs a judge_prompt and judge_grades"),
        ('kind = "text"', 'kind = "text"\ntolerance = nan', "tolerance = nan: expected a number from 0 to below 1"),
        ('kind = "text"', 'kind = "text"\ntolerance = 4', "tolerance = 4.0: expected a number from 0 to below 1"),
        ('kind = "text"', 'kind = "text"\ncounted_in = "a"', "counted_in = 'a': there is no such column in `groups`"),
    ],
)
def test_a_bad_declaration_is_an_error(old: str, new: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(GradeError) as caught:
        graded(tmp_path, {}, declared=DECLARED.replace(old, new), same="Paris")
    assert message in str(caught.value)
    assert isinstance(caught.value, InputError)


def test_a_benchmark_without_a_prompt_takes_no_judge(tmp_path: Path) -> None:
    lines = [line for line in DECLARED.splitlines() if not line.startswith("judge_")]
    declared = "\n".join(lines).replace('"judge"', '"exact"')
    with pytest.raises(UsageError, match="--judge-replies: the benchmark own"):
        graded(tmp_path, {}, declared=declared, same="Paris")
