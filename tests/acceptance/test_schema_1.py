"""Results of schema 1 are scored again. What else reads results reads them as reports of schema 2."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.command import grade

SAMPLE = Path(__file__).resolve().parents[2] / "benchmarks" / "vstar" / "sample"


def _grade(folder: Path, *words: str) -> Any:
    return grade(*words, cwd=folder)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The V* sample, and its results as schema 1 had them: `old_results.json`."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    shutil.copytree(SAMPLE, tmp_path / "v")
    made = _grade(tmp_path / "v", "predictions.json", "-b", "vstar", "--data", "questions.jsonl")
    assert made.returncode == 0, made.stderr
    new = json.loads((tmp_path / "v" / "predictions_results.json").read_text(encoding="utf-8"))
    provenance = new["provenance"]
    old = {name: new[name] for name in ("benchmark", "split", "protocol", "metrics", "unscored", "notes")}
    old["samples"] = [{k: v for k, v in sample.items() if k != "flags"} for sample in new["samples"]]
    same = ("grade", "python", "data", "data_digest", "predictions", "predictions_digest")
    environment = {name: provenance[name] for name in same} | {"position_bias": new["facts"]["position_bias"]}
    text = json.dumps({"schema": 1, **old, "environment": environment})
    (tmp_path / "v" / "old_results.json").write_text(text, encoding="utf-8")
    return tmp_path / "v"


def test_schema_1_is_scored_again_as_schema_2(folder: Path) -> None:
    shutil.copy(folder / "old_results.json", folder / "predictions_results.json")
    again = _grade(folder, "predictions.json", "-b", "vstar", "--data", "questions.jsonl", "--score-only")
    assert again.returncode == 0, again.stderr
    assert json.loads((folder / "predictions_results.json").read_text())["schema"] == 2


def test_a_part_of_schema_1_is_known_by_its_note_and_needs_allow_part(folder: Path) -> None:
    old = json.loads((folder / "old_results.json").read_text(encoding="utf-8"))
    old["notes"] = ["Only a part: --limit or --id leaves 10 of 191 qids."]
    (folder / "predictions_results.json").write_text(json.dumps(old), encoding="utf-8")
    words = (
        "predictions.json",
        "-b",
        "vstar",
        "--data",
        "questions.jsonl",
        "--score-only",
        "--fail-under",
        "accuracy=0",
    )
    gated = _grade(folder, *words)
    assert (gated.returncode, "10 of 191 ids" in gated.stderr) == (2, True)
    assert _grade(folder, *words, "--allow-part").returncode == 0
