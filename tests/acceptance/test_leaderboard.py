"""`grade leaderboard` as a user runs it."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.acceptance.command import grade


@pytest.fixture
def runs(sample, tmp_path):
    """Two results files of V*: the sample's, and one whose outputs are all "A"."""
    path, folder = sample("vstar")
    records = json.loads(path.read_text())
    other = tmp_path / "other.json"
    other.write_text(
        json.dumps([{"qid": record["qid"], "predictions": ["A"], "model": "always A"} for record in records])
    )
    for one in (path, other):
        assert grade(one, "-b", "vstar", "--data", folder / "questions.jsonl").returncode == 0
    return tmp_path / "predictions_results.json", tmp_path / "other_results.json"


def test_models_are_ranked_and_every_format_is_written(runs, tmp_path):
    first, second = runs
    outputs = [tmp_path / f"board{ending}" for ending in (".json", ".csv", ".md", ".tex", ".html")]
    given = [word for path in outputs for word in ("-o", path)]
    said = grade("leaderboard", f"My model={first}", second, *given)
    assert said.returncode == 0, said.stderr
    assert "My model" in said.stderr
    assert "always A" in said.stderr
    assert all(path.stat().st_size > 200 for path in outputs)
    (board,) = json.loads(outputs[0].read_text())["boards"]
    assert {run.get("name") or run["model"] for run in board["runs"]} == {"My model", "always A"}
    assert board["rankings"][0]["comparisons"] == 1


def test_json_goes_to_standard_output_and_prose_does_not(runs):
    said = grade("leaderboard", *runs, "-o", "-", "--reading", "official", "-q")
    assert (said.returncode, said.stderr) == (0, "")
    assert json.loads(said.stdout)["reading"] == "official"


def test_wrong_use_says_what_to_do(runs, tmp_path):
    first, second = runs
    said = grade("leaderboard", first, first)
    assert (said.returncode, "is given twice" in said.stderr) == (2, True)
    said = grade("leaderboard", first, tmp_path)
    assert (said.returncode, "is a folder; name the `_results.json` in it" in said.stderr) == (2, True)
    said = grade("leaderboard", f"A={tmp_path / 'gone.json'}")
    assert (said.returncode, "does not exist" in said.stderr) == (2, True)
    said = grade("leaderboard", first, second, "-o", first)
    assert (said.returncode, "reads or writes that file itself" in said.stderr) == (2, True)
    odd = tmp_path / "x=1_results.json"
    shutil.copy(first, odd)
    assert grade("leaderboard", odd, second).returncode == 0
