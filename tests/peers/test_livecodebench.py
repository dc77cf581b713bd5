"""Programs that read standard input under LiveCodeBench's own `testing_util.py`, from the package that PyPI has.

Its version is older than the declared one (28fef95): its `sys.stdin` has no `buffer`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.acceptance.command import grade
from tests.golden.corpora import SHARED

if TYPE_CHECKING:
    from collections.abc import Mapping

pytestmark = [pytest.mark.peers, pytest.mark.usefixtures("shared")]

THEIRS = Path(sys.prefix) / "nvidia-livecodebench/livecodebench/evaluation/testing_util.py"
OTHERWISE = {
    # `sys.stdin.buffer`, which 28fef95 has.
    "5_c1": (True, False),
}
"""Program -> whether it passes here, and there, where the two differ."""
DRIVER = """
import json, runpy, sys
given, say = json.load(sys.stdin), sys.stdout.write
found, _ = runpy.run_path(sys.argv[1])["run_test"](given["task"], given["source"], timeout=6)
say("\\n" + json.dumps(all(one is True for one in found)))
"""


def theirs(task: Mapping[str, Any], source: str) -> bool:
    """Whether a program passes in a process of its own, which it may break."""
    cases = json.dumps({"inputs": task["inputs"], "outputs": task["outputs"]})
    given = json.dumps({"task": {"input_output": cases}, "source": source})
    command = [sys.executable, "-c", DRIVER, str(THEIRS)]
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    return done.stdout.splitlines()[-1:] == ["true"]


def _row(task: Mapping[str, Any]) -> dict[str, Any]:
    """Return a task as LiveCodeBench's data have it."""
    pairs = zip(task["inputs"], task["outputs"], strict=True)
    cases = [{"input": given, "output": expected} for given, expected in pairs]
    row = {"question_id": task["id"], "question_content": "", "starter_code": ""}
    return row | {"public_test_cases": cases, "private_test_cases": []}


def test_programs_that_read_standard_input(tmp_path: Path) -> None:
    if not THEIRS.exists():
        pytest.skip("nvidia-livecodebench could not be installed")
    text = (SHARED / "stdin/tasks.jsonl").read_text()
    tasks = {task["id"]: task for task in map(json.loads, text.splitlines())}
    programs = [json.loads(line) for line in (SHARED / "stdin/programs.jsonl").read_text().splitlines()]
    expected = {one["name"]: theirs(tasks[one["task"]], one["source"]) for one in programs}
    by_task: dict[str, list[dict[str, Any]]] = {}
    for one in programs:
        by_task.setdefault(one["task"], []).append(one)
    records = [
        {"qid": task, "predictions": [f"```python\n{one['source']}\n```" for one in every]}
        for task, every in by_task.items()
    ]
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(_row(task)) + "\n" for task in tasks.values()))
    (tmp_path / "p.json").write_text(json.dumps(records))
    options = ["-b", "livecodebench", "--data", tmp_path / "tasks.jsonl", "-k", "1"]
    done = grade(tmp_path / "p.json", *options, "--missing", "wrong", "--no-cache", "-q")
    assert done.returncode == 0, done.stderr
    samples = json.loads((tmp_path / "p_results.json").read_text())["samples"]
    found = {by_task[s["qid"]][s["sample"]]["name"]: s["official"]["outcome"] == "passed" for s in samples}
    assert {name: (found[name], expected[name]) for name in found if found[name] != expected[name]} == OTHERWISE
