"""Splits whose answers may be withheld: scored where the data has them, else a submission."""

import json
from pathlib import Path

import pytest

from grader.errors import InputError
from grader.grading import grade
from grader.observer import Silent
from grader.options import Options
from grader.results import Report


def _grade(folder: Path, answers: list[str], split: str = "test-en") -> Report:
    """Grade two questions of two passes each, all answered with A."""
    lines = ["index\tquestion\tA\tB\tanswer\tsplit"]
    lines += [
        f"{index}\tWhich?\t{'red|blue' if index < 1000 else 'blue|red'}\t{answer}\ttest".replace("|", "\t")
        for index, answer in zip((1, 2, 1000001, 1000002), answers, strict=True)
    ]
    data = folder / "MMBench_TEST_EN.tsv"
    data.write_text("\n".join(lines), encoding="utf-8")
    path = folder / "p.json"
    letters = {"1": "A", "2": "A", "1000001": "B", "1000002": "A"}
    path.write_text(json.dumps([{"qid": q, "predictions": [a]} for q, a in letters.items()]), encoding="utf-8")
    return grade(path, Options(benchmark="mmbench", data=data, split=split), Silent()).report


def test_a_test_split_with_answers_is_scored_and_says_whose_answers_these_are(tmp_path: Path) -> None:
    report = _grade(tmp_path, ["A", "A", "B", "B"])
    found = report.metric("circular_accuracy", "careful")
    assert (found.value, found.n) == (50.0, 2)
    assert any(
        "test-en is scored with the answers that this copy of its data has" in note.text for note in report.notes
    )


@pytest.mark.parametrize("withheld", ["", "nan", "None", "N/A"])
def test_an_answer_column_without_answers_makes_a_submission(tmp_path: Path, withheld: str) -> None:
    report = _grade(tmp_path, [withheld] * 4)
    assert (report.metrics, report.samples) == ([], [])
    assert any("submission" in note.text for note in report.notes)


def test_answers_of_some_rows_alone_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="2 rows without an answer, but the others have one: 2, 1000002"):
        _grade(tmp_path, ["A", "nan", "B", ""])
