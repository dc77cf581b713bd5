"""Tasks without predictions, under `--missing wrong`, in a log in which two filters made programs of each reply."""

import json
from pathlib import Path

import pytest

import grader
from grader.errors import UsageError
from grader.scorers.execution.metrics import curve
from tests.own import own

DECLARED = """
scoring = "execution"
columns = { id = "id", signature = "stub", tests = "tests" }
protocols.p.assembly = "plain"
"""
ROWS = [{"id": f"q{n}", "stub": "def f(x):\n    pass\n", "tests": "assert f(2) == 4"} for n in range(20)]
REPLY = "```python\ndef f(x):\n    return x + x\n```"


def log(folder: Path) -> Path:
    """A log that answers the first of the rows; the tests of the second one are missing."""
    path = own(folder, DECLARED, [ROWS[0], {**ROWS[1], "tests": None}, *ROWS[2:]], {})
    made = {"first": REPLY, "last": "pass"}
    records = [
        {"doc_id": 0, "doc": {"question_id": "q0"}, "resps": [[REPLY]], "filtered_resps": [text], "filter": name}
        for name, text in made.items()
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.mark.bubblewrap
def test_a_missing_task_fails_for_each_filter_and_one_whose_row_is_broken_is_not_judged(tmp_path: Path) -> None:
    path = log(tmp_path)
    report = grader.grade(path, benchmark=tmp_path, missing="wrong", sandbox="bubblewrap", write=True)
    assert curve(report) is None, "each task has one sample"
    assert grader.grade(path, benchmark=tmp_path, score_only=True).metrics == report.metrics
    with pytest.raises(UsageError, match="pass@2 needs at least 2 samples of every task"):
        grader.grade(path, benchmark=tmp_path, score_only=True, k=2)
    values = {(m.reading, m.group): (m.value, m.n) for m in report.metrics if m.name == "pass@1"}
    passes = {"filter=first": 100, "filter=last": 0, None: 50}
    assert values == {
        (reading, group): (pytest.approx(passed / n), n)
        for reading, n in (("official", 20), ("careful", 19))
        for group, passed in passes.items()
    }


def test_what_two_filters_made_of_a_reply_are_not_two_samples(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="pass@2 needs at least 2 samples of every task"):
        grader.grade(log(tmp_path), benchmark=tmp_path, missing="wrong", sandbox="bubblewrap", k=2)
