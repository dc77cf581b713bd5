"""Results of schema 1 are scored again. What else reads results reads them as reports of schema 2."""

import json
import shutil
from pathlib import Path

from tests.acceptance.command import grade

TESTS = Path(__file__).resolve().parents[1]
SAMPLE = TESTS.parent / "benchmarks" / "vstar" / "sample"


def test_schema_1_is_scored_again_and_a_part_of_it_is_known_by_its_note(tmp_path: Path) -> None:
    shutil.copy(SAMPLE / "predictions.json", tmp_path)
    results = tmp_path / "predictions_results.json"
    old = json.loads((TESTS / "results" / "schema_1" / "vstar_results.json").read_text())
    words = [tmp_path / "predictions.json", "-b", "vstar", "--data", SAMPLE / "questions.jsonl", "--score-only"]
    old["notes"] = ["Only a part: --limit or --id leaves 10 of 191 qids."]
    results.write_text(json.dumps(old))
    gated = grade(*words, "--fail-under", "accuracy=0")
    assert (gated.returncode, "10 of 191 ids" in gated.stderr) == (2, True), gated.stderr
    assert grade(*words, "--fail-under", "accuracy=0", "--allow-part").returncode == 0
    old["notes"] = []
    results.write_text(json.dumps(old))
    again = grade(*words)
    assert again.returncode == 0, again.stderr
    assert json.loads(results.read_text())["schema"] == 2
