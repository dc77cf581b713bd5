"""Self-tests from end to end, with a real sandbox where programs run."""

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from grader.cli import run
from grader.errors import InputError
from grader.grading import grade
from grader.observer import Silent
from grader.options import Options
from grader.scorers import declarations
from grader.selftest.plan import sample_data
from grader.selftest.run import busy, selftest
from tests.conftest import ROOT

TASKS = ROOT / "benchmarks/humaneval-v/sample/tasks.jsonl"
VSTAR = ROOT / "benchmarks/vstar/sample"


@pytest.fixture(autouse=True)
def _own_receipts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep receipts apart from the user's; what the sandbox has fetched stays shared."""
    (tmp_path / "selftests").mkdir()
    monkeypatch.setattr("grader.receipts.folder", lambda: tmp_path / "selftests")


def tasks(path: Path, tests: dict[str, str]) -> Path:
    """Write some of the sample's tasks, with other tests where the text is not empty."""
    rows = [json.loads(line) for line in TASKS.read_text().splitlines()]
    chosen = [
        row | ({"test_script": tests[row["qid"]]} if tests[row["qid"]] else {}) for row in rows if row["qid"] in tests
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in chosen))
    return path


# One worker: to start a sandbox costs more than the few programs of a task.
QUICK: dict[str, Any] = {"sandbox": "bubblewrap", "timeout": 0.5, "workers": 1}


@pytest.mark.bubblewrap
@pytest.mark.xdist_group("bubblewrap")
def test_weak_tests_are_named_and_a_later_run_splits_its_metric_by_the_strength_of_the_tests(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tasks(tmp_path / "tasks.jsonl", {"q1": "", "q3": "def test():\n    pass\n\ntest()\n"})
    options = Options(data=data, cache=False, **QUICK)
    predictions = tmp_path / "p.json"
    predictions.write_text(json.dumps([{"qid": qid, "predictions": ["no code"]} for qid in ("q1", "q3")]))
    earlier = grade(predictions, options, Silent())
    earlier.write()
    assert not any("test_strength" in (metric.group or "") for metric in earlier.report.metrics)
    outcome = selftest([options], Silent())
    (tested,) = outcome.tested
    assert [problem.what for problem in tested.problems] == []
    assert outcome.passed
    strengths = {strength.qid: strength for strength in tested.strengths}
    assert (strengths["q1"].is_weak, strengths["q3"].is_weak, strengths["q3"].stub_passes) == (False, True, True)
    report = grade(predictions, options, Silent()).report
    again = grade(predictions, msgspec.structs.replace(options, score_only=True), Silent()).report
    assert (again.metrics, again.notes) == (report.metrics, report.notes)
    levels = {metric.group: metric.n for metric in report.metrics if "test_strength" in (metric.group or "")}
    assert levels["test_strength=weak"] == 1
    assert len(levels) == 2
    assert levels.keys() <= {f"test_strength={level}" for level in ("strong", "partial", "weak")}
    assert any(note.startswith("A pass shows little where") and ": q3 (" in note for note in report.notes)
    assert run(["show", "humaneval-v", "q3", "--data", str(data)]) == 0
    shown = capsys.readouterr().out
    assert "what the tests let pass:\n" in shown
    assert "\n  a program without a body\n" in shown


def test_all_built_in_benchmarks_are_tested_but_those_without_answers(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(declarations, "names", lambda: ["gsm8k", "livecodebench", "pope"])
    assert run(["selftest"]) == 0
    said = capfd.readouterr().err
    assert "Not tested, because the built-in sample has no answers: livecodebench.\n" in said
    counts = "gsm8k 27 of 27 correct answers are read, pope 36 of 36 correct answers are read"
    assert f"This machine grades correctly: {counts};" in said
    assert run(["selftest", "-b", "livecodebench"]) == 2
    assert "livecodebench: there is nothing to test" in capfd.readouterr().err


def test_results_beside_the_sample_are_not_taken_for_its_data(tmp_path: Path) -> None:
    (tmp_path / "sample").mkdir()
    for name in ("tasks.jsonl", "predictions.json", "predictions_results.json", "predictions_executed.json"):
        (tmp_path / "sample" / name).write_text("")
    declared = msgspec.structs.replace(declarations.load("humaneval-v"), folder=str(tmp_path))
    assert sample_data(declared) == tmp_path / "sample" / "tasks.jsonl"
    (tmp_path / "sample" / "more.jsonl").write_text("")
    with pytest.raises(InputError, match=r"several files could be the data: more\.jsonl, tasks\.jsonl"):
        sample_data(declared)


def test_load_on_purpose_ends_with_its_block() -> None:
    with busy(wanted=True) as pids:
        assert pids
        assert all(Path(f"/proc/{pid}").exists() for pid in pids)
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    with busy(wanted=False) as none:
        assert none == []
