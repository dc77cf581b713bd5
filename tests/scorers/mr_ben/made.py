"""Rows and responses of Mr-Ben made for tests, and what grading makes of them."""

import json
from pathlib import Path
from typing import Any

from grader.grading import grade
from grader.observer import Silent
from grader.options import Options
from grader.results import Metric, Report, facts_as
from grader.scorers.mr_ben.facts import MrBenRunFacts
from grader.scorers.report_check import read_report
from tests.conftest import ROOT

SAMPLE = ROOT / "benchmarks" / "mr-ben" / "sample"
NAMES = ("Solution Correctness", "First Error Step", "Error Reason")
PROGRAM = "def f(x):\n    y = x + 1\n\n    if y > 3:  # big\n        return `y`\n    return x\n    return x  # again\n"
YES = "Step-by-Step Reasoning: r\nStudent Error Reason Analysis: a\nFinal Decision: Correct"
NO = YES.replace("Correct", "Wrong")


def row(question: str, step: str = "N/A", **more: Any) -> dict[str, Any]:
    """A solution of two steps; wrong where a step is named."""
    return {
        "Question_UUID": question,
        "Sampled_Model": "m",
        "Question": f"What is {question}?",
        "Model_Solution_Steps": ["Step 1: one", "Step 2: two"],
        "Model_Solution_Correctness": "correct" if step == "N/A" else "incorrect",
        "Model_Solution_First_Error_Step": step,
        "Model_Solution_Error_Reason": "two is not it",
        **more,
    }


def folder(path: Path, **subjects: list[dict[str, Any]]) -> Path:
    """Write a folder of subject files."""
    path.mkdir(exist_ok=True)
    for name, rows in subjects.items():
        questions: dict[str, list[dict[str, Any]]] = {}
        for r in rows:
            questions.setdefault(r["Question_UUID"], []).append(r)
        (path / f"{name}.json").write_text(json.dumps(questions))
    return path


def response(verdict: str, step: str = "N/A", reason: str = "N/A") -> str:
    return f"Solution Correctness: {verdict}\nFirst Error Step: {step}\nError Reason: {reason}"


def predictions(place: Path, texts: dict[str, str]) -> Path:
    path = place / "preds.json"
    path.write_text(json.dumps([{"qid": qid, "predictions": [text]} for qid, text in texts.items()]))
    return path


def replies(place: Path, texts: dict[str, str]) -> Path:
    path = place / "replies.json"
    path.write_text(json.dumps(texts))
    return path


def run(path: Path, data: Path | None, *, benchmark: str = "mr-ben", **options: Any) -> Report:
    """Grade, write, and return the report as it was written."""
    graded = grade(path, Options(benchmark=benchmark, data=data, **options), Silent())
    report = read_report(graded.write()[-1])
    assert report == graded.report
    return report


def metrics_of(report: Report, reading: str, group: str | None = None) -> dict[str, float | None]:
    return {
        m.name: None if m.value is None else round(m.value, 6)
        for m in report.metrics
        if (m.reading, m.group) == (reading, group)
    }


def metric(report: Report, name: str, reading: str) -> Metric:
    found = report.metric(name, reading)  # type: ignore[arg-type]
    assert found
    return found


MATH = [row("q1"), row("q2", "2"), row("q3", "1"), row("q4")]
RIGHT = {
    "q1/m": response("correct"),
    "q2/m": response("incorrect", "Step 2", "it is not two"),
    "q3/m": response("incorrect", "Step 2", "it is not two"),
    "q4/m": response("incorrect", "Step 1", "it is not one"),
}


def run_math(place: Path, texts: dict[str, str] = RIGHT, *, judged: str | None = None, **options: Any) -> Report:
    """Grade responses to the rows of MATH. `judged`: the judge's reply about q2/m; of RIGHT, no other row needs one."""
    if judged is not None:
        options["judge_replies"] = replies(place, {"q2/m": judged})
    return run(predictions(place, texts), folder(place / "data", math=MATH), **options)


def facts_of_run(report: Report) -> MrBenRunFacts:
    """What the scorer keeps of a run."""
    return facts_as(MrBenRunFacts, report.facts)


def full_response(correctness: str, step: str, reason: str = "The sign is wrong.") -> str:
    return f"Solution Analysis: Checked.\n{NAMES[0]}: {correctness}\n{NAMES[1]}: {step}\n{NAMES[2]}: {reason}"


def sample_rows() -> dict[str, list[dict[str, object]]]:
    names = ("physics", "math", "coding")
    groups = {name: json.loads((SAMPLE / "data" / f"{name}.json").read_text(encoding="utf-8")) for name in names}
    return {name: [row for rows in group.values() for row in rows] for name, group in groups.items()}
