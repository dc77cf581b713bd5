"""`grade leaderboard` as a user runs it."""

import json
import shutil

import pytest

from tests.acceptance.command import grade
from tests.made_runs import BENCHMARKS


@pytest.fixture
def runs(once):
    """Two results files of V*: the sample's, and one whose outputs are all "A"."""
    sample = BENCHMARKS / "vstar" / "sample"

    def fill(folder):
        records = json.loads((sample / "predictions.json").read_text())
        always = [{"qid": record["qid"], "predictions": ["A"], "model": "always A"} for record in records]
        for name, given in (("first", records), ("other", always)):
            (folder / f"{name}.json").write_text(json.dumps(given))
        said = grade("first.json", "other.json", "-b", "vstar", "--data", sample / "questions.jsonl", cwd=folder)
        assert said.returncode == 0, said.stderr

    folder = once("leaderboard-runs", fill)
    return folder / "first_results.json", folder / "other_results.json"


def test_models_are_ranked_and_every_format_is_written(runs, tmp_path):
    first, second = runs
    outputs = [tmp_path / f"board{ending}" for ending in (".json", ".csv", ".md", ".html")]
    given = [word for path in outputs for word in ("-o", path)]
    said = grade("leaderboard", f"My model={first}", second, *given, "-o", "-", "--reading", "official", "-q")
    assert (said.returncode, said.stderr) == (0, "")
    assert all(path.stat().st_size > 200 for path in outputs)
    assert json.loads(said.stdout)["reading"] == "official"
    (board,) = json.loads(outputs[0].read_text())["boards"]
    assert {run.get("name") or run["model"] for run in board["runs"]} == {"My model", "always A"}
    assert board["rankings"]["official"]["comparisons"] == 1


def test_wrong_use_says_what_to_do(runs, tmp_path):
    first, second = runs
    for words, message in (
        ([first, first], "is given twice"),
        ([first, tmp_path], "is a folder; name the `_results.json` in it"),
        ([f"A={tmp_path / 'gone.json'}"], "does not exist"),
        ([first, "--published", "--reading", "careful"], "--published needs --reading official"),
    ):
        said = grade("leaderboard", *words)
        assert (said.returncode, message in said.stderr) == (2, True)
    shutil.copy(first, tmp_path / "x=1_results.json")
    assert grade("leaderboard", tmp_path / "x=1_results.json", second).returncode == 0
