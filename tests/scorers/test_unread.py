"""An official rule that reads nothing says so, and names the rules that read the replies."""

import json
import re
from pathlib import Path
from typing import Any

import grader
from grader.results import Report
from grader.scorers.choice.readers import official_readers
from tests.conftest import ROOT


def graded(folder: Path, benchmark: str | Path, row: dict[str, Any], texts: list[str]) -> Report:
    data, predictions = folder / "data.jsonl", folder / "p.json"
    data.write_text(
        "".join(json.dumps(row | {key: str(n) for key in ("id", "question_id")}) + "\n" for n in range(len(texts)))
    )
    predictions.write_text(json.dumps([{"qid": str(n), "predictions": [text]} for n, text in enumerate(texts)]))
    return grader.grade(predictions, benchmark=str(benchmark), data=data)


def notes(report: Report) -> list[str]:
    return [note.text for note in report.notes if "The official rule" in note.text]


BBH = ROOT / "examples" / "benchmarks" / "bbh"
QUESTION = {"input": "not True is", "target": "False"}


def test_a_rule_that_reads_nothing_names_those_that_read_most(tmp_path: Path) -> None:
    report = graded(tmp_path, BBH, QUESTION, ["False"] * 45 + ["True"] * 15)
    (note,) = notes(report)
    assert note.startswith(
        "The official rule `bbh` reads an answer in 0 of 60 replies, so its values say nothing about the model. These "
        "rules read most of them: "
    )
    assert "`exact`" in note


def test_few_replies_and_a_rule_that_reads_some_say_nothing(tmp_path: Path) -> None:
    assert notes(graded(tmp_path, BBH, QUESTION, ["False"] * 49)) == []
    assert notes(graded(tmp_path, BBH, QUESTION, ["False"] * 58 + ["So the answer is False."] * 2)) == []


def test_replies_without_text_say_nothing_about_a_rule(tmp_path: Path) -> None:
    assert notes(graded(tmp_path, BBH, QUESTION, [""] * 60)) == []
    choices = {"question": "Which?", "options": ["red", "blue"], "answer": "A"}
    assert notes(graded(tmp_path, "mmlu-pro", choices, [" "] * 60)) == []


def test_a_question_without_options_is_tried_with_no_reader(tmp_path: Path) -> None:
    rows = [
        {"question": "Which?", "options": ["red", "blue"], "answer": "A", "question_id": str(n)} for n in range(100)
    ]
    rows[0]["options"] = []
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    path = tmp_path / "p.json"
    path.write_text(json.dumps([{"qid": row["question_id"], "predictions": ["red, I am sure"]} for row in rows]))
    (note,) = notes(grader.grade(path, benchmark="mmlu-pro", data=tmp_path / "data.jsonl"))
    assert "in 0 of 100 replies" in note


def test_a_reader_of_letters_names_the_readers_that_read_most(tmp_path: Path) -> None:
    row = {"question": "Which?", "options": ["red", "blue"], "answer": "A"}
    (note,) = notes(graded(tmp_path, "mmlu-pro", row, ["(A) red, I am sure"] * 60))
    assert "in 0 of 60 replies" in note
    named = re.findall("`([^`]+)`", note.partition("These rules read most of them: ")[2])
    assert 0 < len(named) <= 3
    assert set(named) < set(official_readers()) - {"mmlu-pro"}
