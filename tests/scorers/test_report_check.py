"""A results file that was edited by hand is refused: its metrics are what its samples give."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import grader
from grader.errors import InputError
from grader.scorers.report_check import read_report
from tests.acceptance.command import grade
from tests.conftest import ROOT, Once

GRADED = {
    "vstar": "questions.jsonl",
    "mmbench": "questions.tsv",
    "mr-ben": "data",
    "pope": "questions.tsv",
    "humaneval": "tasks.jsonl",
}
"""Benchmark -> the data of its sample."""
BENCHMARKS = [*list(GRADED)[:-1], pytest.param("humaneval", marks=pytest.mark.bubblewrap)]


@pytest.fixture
def results(tmp_path: Path, once: Once, own_cache: Path) -> Callable[[str], Path]:
    """Grade a bundled sample, once, and return its results file beside its predictions."""

    def graded(benchmark: str) -> Path:
        sample = ROOT / "benchmarks" / benchmark / "sample"
        replies = sample / "judge_replies.json"
        judged = {"judge_replies": replies} if replies.exists() else {}
        where: dict[str, Any] = {"benchmark": benchmark, "data": sample / GRADED[benchmark], "sandbox": "bubblewrap"}

        def fill(folder: Path) -> None:
            predictions = shutil.copy(sample / "predictions.json", folder / "p.json")
            grader.grade(predictions, write=True, workers=1, **where, **judged)

        shutil.copytree(once(f"to-edit-{benchmark}", fill), tmp_path, dirs_exist_ok=True)
        return tmp_path / "p_results.json"

    return graded


def edited(path: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    made = json.loads(path.read_text())
    change(made)
    path.write_text(json.dumps(made))
    return path


@pytest.mark.parametrize("benchmark", BENCHMARKS)
@pytest.mark.parametrize(
    ("field", "value"),
    [("value", 500.0), ("value", None), ("n", -1), ("group", "category=else"), ("bounds", [0.0, 1.0])],
)
def test_an_edited_metric_is_named(results: Callable[[str], Path], benchmark: str, field: str, value: object) -> None:
    path = edited(results(benchmark), lambda made: made["metrics"][1].update({field: value}))
    metric = json.loads(path.read_text())["metrics"][1]
    said = rf"{metric['name']} \({metric['reading']}.*but its samples give.*(\n.*)*--score-only"
    with pytest.raises(InputError, match=said):
        read_report(path)


def test_a_metric_that_is_listed_again_or_left_out_is_named(results: Callable[[str], Path]) -> None:
    path = results("vstar")
    whole = path.read_bytes()
    edited(path, lambda made: made["metrics"].append({**made["metrics"][0], "value": 99.0}))
    with pytest.raises(InputError, match=r"accuracy \(official\) is 99\.0000"):
        read_report(path)
    path.write_bytes(whole)
    edited(path, lambda made: made["metrics"].pop(0))
    with pytest.raises(InputError, match=r"accuracy \(official\) is none"):
        read_report(path)


def test_samples_that_were_edited_are_seen_by_the_metrics(results: Callable[[str], Path]) -> None:
    def right(made: dict[str, Any]) -> None:
        for sample in made["samples"]:
            sample["careful"] |= {"outcome": "correct", "credit": 1}

    with pytest.raises(InputError, match=r"accuracy \(careful\) is .*samples give 100\.0000"):
        read_report(edited(results("vstar"), right))


@pytest.mark.parametrize(("outcome", "credit"), [("wrong", 1), ("correct", 0), ("unscored", 1)])
def test_an_outcome_contradicts_its_credit(results: Callable[[str], Path], outcome: str, credit: int) -> None:
    def change(made: dict[str, Any]) -> None:
        made["samples"][0]["careful"] |= {"outcome": outcome, "credit": credit}
        made["unscored"] = made["unscored_by_reading"]["careful"] = int(outcome == "unscored")

    with pytest.raises(InputError, match=f"careful: {outcome} with credit {credit}"):
        read_report(edited(results("vstar"), change))


def test_a_command_refuses_it_and_score_only_mends_it(results: Callable[[str], Path], tmp_path: Path) -> None:
    path = edited(results("vstar"), lambda made: made["metrics"][0].update(value=500.0))
    data = ROOT / "benchmarks/vstar/sample/questions.jsonl"
    done = grade("compare", path, path, cwd=tmp_path)
    assert done.returncode == 2
    assert "accuracy (official) is 500.0000" in done.stderr
    assert grade("p.json", "-b", "vstar", "--data", data, "--score-only", "-q", cwd=tmp_path).returncode == 0
    assert read_report(path)
