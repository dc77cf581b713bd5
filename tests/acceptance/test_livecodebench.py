"""LiveCodeBench's official reading gives the verdicts of its harness at 28fef95, which are in livecodebench.json."""

import json
from pathlib import Path

import pytest

from tests.acceptance.command import grade

pytestmark = pytest.mark.bubblewrap

PROGRAMS = json.loads(Path(__file__).with_name("livecodebench.json").read_text())
ROW = {
    "question_id": "sum",
    "question_content": "Add two numbers.",
    "starter_code": "",
    "public_test_cases": [{"input": "1\n2\n", "output": "3"}, {"input": "3\n4\n", "output": "7"}],
    "private_test_cases": [],
}
WRONG = {
    "blank": "error",
    "redirect": "failed",
    "imports only": "failed",
    "syntax": "error",
    "error after": "error",
    "return": "error",
    "input prompt": "failed",
    "nonlocal": "error",
}
"""Programs that fail as scripts."""


def test_official_runs_programs_as_the_harness_does_and_careful_as_scripts(tmp_path: Path) -> None:
    (tmp_path / "tasks.jsonl").write_text(json.dumps(ROW))
    texts = [f"```python\n{one['source']}\n```" for one in PROGRAMS]
    (tmp_path / "p.json").write_text(json.dumps([{"qid": "sum", "predictions": texts}]))
    options = ["--sandbox", "bubblewrap", "--workers", "1", "--no-cache", "-k", "1"]
    done = grade(tmp_path / "p.json", "-b", "livecodebench", "--data", tmp_path / "tasks.jsonl", *options)
    assert done.returncode == 0, done.stderr
    samples = json.loads((tmp_path / "p_results.json").read_text())["samples"]
    names = [one["name"] for one in PROGRAMS]
    official = {name: bool(s["official"]["credit"]) for name, s in zip(names, samples, strict=True)}
    assert official == {one["name"]: one["passed"] for one in PROGRAMS}
    careful = {name: s["careful"]["outcome"] for name, s in zip(names, samples, strict=True)}
    assert careful == dict.fromkeys(names, "passed") | WRONG
