"""The whole command: a part never replaces the whole, judged results stay, and one grading writes a file at a time."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from grader.files.claims import Claims
from tests.acceptance.command import grade
from tests.made_runs import BENCHMARKS


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the V* sample, without a configuration table or key of the user's."""
    shutil.copytree(BENCHMARKS / "vstar" / "sample", tmp_path / "v")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return tmp_path / "v"


def _run(folder: Path, *words: str, benchmark: str = "vstar", data: str = "questions.jsonl") -> Any:
    return grade("predictions.json", "-b", benchmark, "--data", data, *words, cwd=folder)


def _n(path: Path) -> int:
    report = json.loads(path.read_text(encoding="utf-8"))
    return int(next(m["n"] for m in report["metrics"] if m["group"] is None))


def test_a_part_has_files_of_its_own_and_the_whole_stays(folder: Path) -> None:
    assert _run(folder).returncode == 0
    whole = (folder / "predictions_results.json").read_bytes()
    assert _run(folder, "--limit", "2").returncode == 0
    for ids in ("31", "13"):
        assert _run(folder, *(word for qid in ids for word in ("--id", qid))).returncode == 0
    assert _run(folder, "--id", "3").returncode == 0
    assert (folder / "predictions_results.json").read_bytes() == whole
    parts = sorted(folder.glob("predictions_part-*_results.json"))
    assert sorted(map(_n, parts)) == [1, 2, 2], "ids in any order are the same part"
    for path in parts:
        made = json.loads(path.read_text(encoding="utf-8"))
        assert made["part"] == {"n": _n(path), "of": 10, "ids_hash": path.name.split("-")[1].split("_")[0]}
    assert json.loads(whole)["part"] is None


def test_score_only_scores_the_whole_and_a_part_only_with_its_own_words(folder: Path) -> None:
    _run(folder)
    _run(folder, "--limit", "2")
    again = _run(folder, "--score-only", "-o", "again.json")
    assert again.returncode == 0, again.stderr
    assert _n(folder / "again.json") == 10
    gated = _run(folder, "--score-only", "--fail-under", "accuracy=99")
    assert (gated.returncode, ", n 10)" in gated.stderr) == (1, True)
    again = _run(folder, "--score-only", "--limit", "2", "-o", "part.json")
    assert again.returncode == 0, again.stderr
    assert _n(folder / "part.json") == 2
    absent = _run(folder, "--score-only", "--limit", "4")
    assert (absent.returncode, "grade it once without --score-only" in absent.stderr) == (2, True)


def test_score_only_checks_the_data_also_without_the_predictions(folder: Path) -> None:
    assert _run(folder).returncode == 0
    (folder / "predictions.json").unlink()
    assert _run(folder, "--score-only").returncode == 0
    questions = (folder / "questions.jsonl").read_text()
    (folder / "changed.jsonl").write_text(questions.replace('"label": "B"', '"label": "A"'))
    said = {"changed.jsonl": "is not the data that was graded", "absent.jsonl": "this file does not exist"}
    for name, problem in said.items():
        refused = _run(folder, "--score-only", data=name)
        assert (refused.returncode, problem in refused.stderr) == (2, True), refused.stderr


def test_a_page_of_a_run_that_is_scored_again_has_the_data_beside_it_as_a_report_has(folder: Path) -> None:
    assert _run(folder).returncode == 0
    for words in (("predictions.json", "-b", "vstar", "--score-only"), ("report", "predictions_results.json")):
        made = grade(*words, "-o", "page.html", cwd=folder)
        assert (made.returncode, "does not show" in made.stderr) == (0, False), made.stderr


@pytest.mark.parametrize("predictions", ["{", None])
def test_score_only_without_results_says_so_whatever_lies_beside(folder: Path, predictions: str | None) -> None:
    (folder / "predictions").write_text("another file")
    if predictions is not None:
        (folder / "predictions.json").write_text(predictions)
    refused = _run(folder, "--score-only")
    assert "there is no predictions_results.json beside predictions.json" in refused.stderr


def test_a_file_of_positions_is_scored_again_and_shown_with_the_ids_of_its_tasks(folder: Path) -> None:
    questions = [json.loads(line) for line in (folder / "questions.jsonl").read_text().splitlines()]
    replies = {item["qid"]: item["predictions"][0] for item in json.loads((folder / "predictions.json").read_text())}
    rows = {
        position: {"origin_prompt": "?", "prediction": replies[str(question["question_id"])]}
        for position, question in enumerate(questions)
    }
    (folder / "predictions.json").write_text(json.dumps(rows))
    for question in questions:
        question["question_id"] = f"q{question['question_id']}"
    (folder / "questions.jsonl").write_text("\n".join(map(json.dumps, questions)))
    assert _run(folder).returncode == 0
    again = _run(folder, "--score-only")
    assert again.returncode == 0, again.stderr
    results = ("--results", "predictions_results.json", "--data", "questions.jsonl")
    shown = grade("show", "vstar", "q1", *results, cwd=folder)
    assert replies["1"] in shown.stdout, shown.stderr
    assert _run(folder, "--limit", "2").returncode == 0
    part = next(folder.glob("*_part-*_results.json"))
    reported = grade("report", part, "--data", "questions.jsonl", "-o", "part.html", cwd=folder)
    assert "names tasks by their positions, and only a part of them was graded" in reported.stderr


def test_a_gate_on_a_part_says_that_it_is_one(folder: Path) -> None:
    for more in ([], ["--score-only"]):
        done = _run(folder, "--limit", "2", "--fail-under", "accuracy=0", *more)
        assert done.returncode == 0, done.stderr
        assert "GATE MET: accuracy >= 0 (careful): on a part, 2 of 10 tasks: it is" in done.stderr


def test_everything_that_is_written_goes_to_the_output_folder(folder: Path, tmp_path: Path) -> None:
    before = sorted(path.name for path in folder.iterdir())
    page = tmp_path / "new" / "out" / "r.html"
    made = _run(folder, "--output-dir", str(page.parent), "-o", str(page))
    assert made.returncode == 0, made.stderr
    assert sorted(path.name for path in folder.iterdir()) == before
    assert sorted(path.name for path in page.parent.iterdir()) == ["predictions_results.json", "r.html"]
    again = _run(folder, "--score-only", "--output-dir", str(tmp_path / "new" / "out"))
    assert again.returncode == 0, again.stderr
    blocked = _run(folder, "--output-dir", str(folder / "predictions.json" / "x"))
    assert (blocked.returncode, "--output-dir" in blocked.stderr) == (2, True)


def test_judged_results_are_not_replaced_by_unjudged_ones(tmp_path: Path) -> None:
    folder = tmp_path / "m"
    shutil.copytree(BENCHMARKS / "mr-ben" / "sample", folder)
    words = {"benchmark": "mr-ben", "data": "data"}
    assert _run(folder, "--judge-replies", "judge_replies.json", **words).returncode == 0
    judged = (folder / "predictions_results.json").read_bytes()
    refused = _run(folder, **words)
    assert (refused.returncode, "remove the results" in refused.stderr) == (2, True)
    assert (folder / "predictions_results.json").read_bytes() == judged
    assert _run(folder, "--score-only", **words).returncode == 0
    assert _run(folder, "--limit", "2", **words).returncode == 0
    assert _run(folder, "--judge-replies", "judge_replies.json", **words).returncode == 0
    (folder / "predictions_results.json").unlink()
    assert _run(folder, **words).returncode == 0
    assert json.loads((folder / "predictions_results.json").read_text())["provenance"].get("judge") is None


def test_a_second_grading_of_the_same_files_is_refused(folder: Path) -> None:
    with Claims() as claims:
        claims.take(folder / "predictions_results.json")
        refused = _run(folder)
        assert refused.returncode == 2
        assert f"Another run of grade is writing predictions_results.json now (process {os.getpid()}" in refused.stderr
        assert not (folder / "predictions_results.json").exists()
        assert _run(folder, "--limit", "1").returncode == 0
    assert _run(folder).returncode == 0
    assert not list(folder.glob(".*.lock"))
