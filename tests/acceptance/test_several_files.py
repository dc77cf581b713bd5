"""`grade A B ...`: one file after the other, and the exit code of the worst."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import grader
from tests.acceptance.command import grade
from tests.conftest import ROOT

VSTAR = ROOT / "benchmarks" / "vstar" / "sample"
WORDS = ["-b", "vstar", "--data", VSTAR / "questions.jsonl"]


@pytest.fixture
def files(tmp_path: Path) -> Callable[..., list[Path]]:
    """Return files with all of the sample's answers, or with the first ones replaced by "A"."""

    def make(**replaced: int) -> list[Path]:
        made = []
        for name, count in replaced.items():
            records = json.loads((VSTAR / "predictions.json").read_text())
            for record in records[:count]:
                record["predictions"] = ["A"]
            path = tmp_path / f"{name}.json"
            path.write_text(json.dumps(records))
            made.append(path)
        return made

    return make


def test_files_that_are_parts_are_one_run_and_tasks_without_predictions_are_left_out(tmp_path: Path) -> None:
    records = json.loads((VSTAR / "predictions.json").read_text())
    for name, part in (("a", records[:3]), ("b", records[5:8])):
        (tmp_path / f"{name}.json").write_text(json.dumps(part))
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    checked = grade("check", *files, "--join", *WORDS, "--missing", "skip")
    assert "6 questions of vstar, 1 sample each" in checked.stdout
    done = grade(*files, "--join", *WORDS, "--missing", "skip")
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[0] == "vstar · test · lmms-eval-0.7.1 · only 6 of 10 tasks"
    (results,) = tmp_path.glob("a_joined_part-*_results.json")
    assert len(grader.read_report(results).samples) == 6


def test_each_file_is_graded_as_it_is_alone(files: Any) -> None:
    first, second = files(first=0, second=6)
    said = grade(first, second, *WORDS)
    assert said.returncode == 0, said.stderr
    for path in (first, second):
        results = path.with_name(f"{path.stem}_results.json")
        alone = grader.grade(path, benchmark="vstar", data=VSTAR / "questions.jsonl")
        assert grader.read_report(results).metrics == alone.metrics
    lines = said.stderr.splitlines()
    assert lines[0] == f"{first}:"
    # Each file has its own table, below its name.
    values = [line.split()[1:3] for line in lines if line.split()[:1] == ["accuracy"] and "by" not in line]
    assert values == [["30.0", "70.0"], ["20.0", "50.0"]]
    assert lines.index(f"{second}:") > lines.index(f"Wrote {first.with_name('first_results.json')}")


def test_the_gate_of_each_file_stands_below_its_name_and_the_worst_decides(files: Any) -> None:
    first, second = files(first=0, second=6)
    said = grade(second, first, *WORDS, "--fail-under", "accuracy=60", "-q")
    assert said.returncode == 1
    assert [line.partition(": accuracy")[0] for line in said.stderr.splitlines()] == [
        f"{second}:",
        "GATE NOT MET",
        f"{first}:",
        "GATE MET",
    ]
    assert grade(first, second, *WORDS, "--fail-under", "accuracy=50", "-q").returncode == 0


def test_quiet_runs_without_a_gate_name_only_the_file_that_fails(files: Any, tmp_path: Path) -> None:
    (first,) = files(first=0)
    (tmp_path / "broken.json").write_text("[")
    said = grade(first, "broken.json", *WORDS, "-q", cwd=tmp_path)
    assert (said.returncode, said.stderr.splitlines()[0]) == (2, "broken.json:")
    assert said.stderr.splitlines()[1].startswith("error: broken.json")


def test_an_invalid_file_costs_no_other_its_results(files: Any, tmp_path: Path) -> None:
    """Bad input (2) is worse than a gate that is not met (1)."""
    (last,) = files(last=6)
    (tmp_path / "broken.json").write_text("[")
    said = grade("broken.json", last, *WORDS, "--fail-under", "accuracy=60", cwd=tmp_path)
    assert said.returncode == 2
    assert "error: broken.json" in said.stderr
    assert "GATE NOT MET" in said.stderr
    assert [path.name for path in tmp_path.glob("*_results.json")] == ["last_results.json"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["first.json", "./first.json"], "first.json and another file would write the same first_results.json"),
        (["first.json", "second.json", "-o", "all.md"], "-o names one report, but there are several prediction files"),
    ],
)
def test_no_file_replaces_what_another_one_wrote(files: Any, tmp_path: Path, words: list[str], message: str) -> None:
    files(first=0, second=6)
    said = grade(*words, *WORDS, cwd=tmp_path)
    assert said.returncode == 2
    assert message in " ".join(said.stderr.split())
    assert not list(tmp_path.glob("*_results.json"))


def test_each_file_is_tried_without_a_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sample = ROOT / "benchmarks" / "humaneval-v" / "sample"
    for name in ("first", "second"):
        shutil.copy(sample / "predictions.json", tmp_path / f"{name}.json")
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere.sock")
    said = grade("first.json", "second.json", "--data", sample / "tasks.jsonl", "--sandbox", "docker", cwd=tmp_path)
    assert said.returncode == 3
    where = "at unix:///nowhere.sock, which DOCKER_HOST names (No such file or directory)"
    assert said.stderr.count(f"error: No Docker engine answers {where}. Start or restart it") == 2
