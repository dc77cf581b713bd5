"""`grade A B ...`: one table, one report, gates by file, and the gravest exit code."""

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import junitparser
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


def test_each_file_has_its_results_and_the_table_a_row_for_each(files: Any) -> None:
    first, second = files(first=0, second=6)
    said = grade(first, second, *WORDS)
    assert said.returncode == 0, said.stderr
    for path in (first, second):
        results = path.with_name(f"{path.stem}_results.json")
        alone = grader.grade(path, benchmark="vstar", data=VSTAR / "questions.jsonl")
        assert grader.read_report(results).metrics == alone.metrics
    rows = [line.split() for line in said.stderr.splitlines() if " accuracy " in line]
    assert [(row[0], row[2:4]) for row in rows] == [
        ("first.json", ["30.0", "70.0"]),
        ("second.json", ["20.0", "50.0"]),
    ]


def test_gates_are_decided_by_file_and_the_gravest_code_wins(files: Any) -> None:
    first, second = files(first=0, second=6)
    said = grade(second, first, *WORDS, "--fail-under", "accuracy=60", "-q")
    assert said.returncode == 1
    lines = said.stderr.splitlines()
    assert [line[: line.index(": accuracy")] for line in lines] == [f"GATE NOT MET: {second}", f"GATE MET: {first}"]
    assert grade(first, second, *WORDS, "--fail-under", "accuracy=50", "-q").returncode == 0


def test_one_report_has_all_files(files: Any, tmp_path: Path) -> None:
    first, second = files(first=0, second=6)
    outputs = [tmp_path / f"all{ending}" for ending in (".json", ".csv", ".md", ".xml")]
    words = [word for output in outputs for word in ("-o", output)]
    assert grade(first, second, *WORDS, "--fail-under", "accuracy=60", *words).returncode == 1
    runs = json.loads(outputs[0].read_text())["runs"]
    assert [(run["file"], run["exit_code"], run["gates"][0]["state"]) for run in runs] == [
        (str(first), 0, "met"),
        (str(second), 1, "failed"),
    ]
    assert [len(run["report"]["samples"]) for run in runs] == [10, 10]
    rows = list(csv.DictReader(outputs[1].read_text().splitlines()))
    assert [row["file"] for row in rows] == [str(first)] * 10 + [str(second)] * 10
    markdown = outputs[2].read_text()
    assert markdown.count("## grade:") == 2
    assert markdown.index("not met") < markdown.index("## grade:")
    suites = list(junitparser.JUnitXml.fromfile(str(outputs[3])))
    assert {suite.name.partition(": ")[0] for suite in suites} == {str(first), str(second)}
    assert sum(suite.failures for suite in suites) > 0


def test_nothing_is_graded_while_one_file_is_wrong_and_every_problem_is_said(files: Any, tmp_path: Path) -> None:
    (first,) = files(first=0)
    for name in ("broken", "odd"):
        (tmp_path / f"{name}.json").write_text('[{"qid": "0"}]' if name == "odd" else "[")
    said = grade(first, tmp_path / "broken.json", tmp_path / "odd.json", *WORDS)
    assert said.returncode == 2
    assert "broken.json" in said.stderr
    assert "odd.json" in said.stderr
    assert not list(tmp_path.glob("*_results.json"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["first.json", "-"], "Standard input (-) cannot be graded together with other files"),
        (["first.json", "./first.json"], "would write the same"),
        (
            ["first.json", "second.json", "-o", "all.html"],
            "`grade report A_results.json B_results.json -o all.html` shows their runs side by side",
        ),
        (["first.json", "second.json", "-o", "second.json"], "reads or writes that file itself"),
    ],
)
def test_what_cannot_be_done_together_is_refused(files: Any, tmp_path: Path, words: list[str], message: str) -> None:
    files(first=0, second=6)
    said = grade(*words, *WORDS, cwd=tmp_path, stdin="[]")
    assert said.returncode == 2
    assert message in " ".join(said.stderr.split())
    assert not list(tmp_path.glob("*_results.json"))


@pytest.mark.bubblewrap
def test_programs_of_several_files_are_graded_in_the_same_sandboxes(tmp_path: Path) -> None:
    """Both files have the same verdicts as alone, and the second call of the linter finds it running."""
    sample = ROOT / "benchmarks" / "humaneval-v" / "sample"
    records = json.loads((sample / "predictions.json").read_text())[:2]
    for name, order in (("first", 1), ("second", -1)):
        chosen = [{"qid": record["qid"], "predictions": record["predictions"][:2][::order]} for record in records]
        (tmp_path / f"{name}.json").write_text(json.dumps(chosen))
    words = ["--data", sample / "tasks.jsonl", "--sandbox", "bubblewrap", "--no-cache", "--workers", "1"]
    words += [word for record in records for word in ("--id", record["qid"])]
    said = grade("first.json", "second.json", *words, "-o", "-", "-q", cwd=tmp_path)
    assert said.returncode == 0, said.stderr
    first, second = (run["report"]["samples"] for run in json.loads(said.stdout)["runs"])
    assert [s["careful"]["outcome"] for s in first] == ["passed"] * 4
    assert [s["official"]["outcome"] for s in second] == ["passed"] * 4


def test_a_file_that_infrastructure_cannot_grade_ends_with_3_and_costs_no_other_its_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a sandbox no program can be graded; the table says so for each file."""
    sample = ROOT / "benchmarks" / "humaneval-v" / "sample"
    for name in ("first", "second"):
        shutil.copy(sample / "predictions.json", tmp_path / f"{name}.json")
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere.sock")
    words = ["--data", sample / "tasks.jsonl", "--sandbox", "docker", "-o", "all.json"]
    said = grade("first.json", "second.json", *words, cwd=tmp_path)
    assert said.returncode == 3
    assert said.stderr.count("json: No Docker engine answers (") == 2
    assert [run["exit_code"] for run in json.loads((tmp_path / "all.json").read_text())["runs"]] == [3, 3]
