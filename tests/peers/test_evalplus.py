"""HumanEval under EvalPlus: other tests of the same tasks, so a right program passes both."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.golden import verdicts
from tests.golden.corpora import SHARED, Corpus, as_it_is
from tests.peers.programs import block

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.peers, pytest.mark.usefixtures("shared")]

pytest.importorskip("evalplus", reason="EvalPlus could not be installed")

OTHERWISE = {
    # The program runs its docstring's examples with doctest, which does not load once EvalPlus has put its guards up.
    ("he51", 4): (True, False),
    # EvalPlus has made a string of the only key that is none, which most programs stumble over.
    **{("he95", number): (False, True) for number in range(10)},
}
"""Sample -> whether it passes here, and there, where the two differ."""
PREDICTIONS = SHARED / "humaneval/gpt-3.5-turbo.json"


def passed(results: dict[str, Any], reading: str) -> dict[tuple[str, int], bool]:
    return {(s["qid"], s["sample"]): s[reading]["outcome"] == "passed" for s in results["samples"]}


def evaluated(solutions: dict[str, list[str]], tasks: list[dict[str, Any]], folder: Path) -> dict[str, Any]:
    """Return what their command finds, with limits of time that a busy machine keeps."""
    data, samples = folder / "data.jsonl", folder / "samples.jsonl"
    data.write_text("".join(json.dumps(task) + "\n" for task in tasks))
    lines = [{"task_id": task, "solution": text} for task, texts in solutions.items() for text in texts]
    samples.write_text("".join(json.dumps(line) + "\n" for line in lines))
    options = ["--samples", str(samples), "--base-only", "--i-just-wanna-run", "--parallel", "2"]
    subprocess.run(
        [sys.executable, "-m", "evalplus.evaluate", "--dataset", "humaneval", *options, "--min-time-limit", "6"],
        env=os.environ | {"HUMANEVAL_OVERRIDE_PATH": str(data), "XDG_CACHE_HOME": str(folder)},
        check=True,
    )
    return dict(json.loads((folder / "samples_eval_results.json").read_text()))


def test_base_tests(tmp_path: Path) -> None:
    with gzip.open(SHARED / "humaneval_plus/HumanEvalPlus.jsonl.gz", "rt") as file:
        tasks = [json.loads(line) | {"plus_input": []} for line in file]
    prompts = {task["task_id"]: task["prompt"] for task in tasks}
    records = json.loads(PREDICTIONS.read_text())
    replies = {f"HumanEval/{record['qid'].removeprefix('he')}": record["predictions"] for record in records}
    solutions = {t: [f"{prompts[t]}    pass\n\n{block(text)}" for text in texts] for t, texts in replies.items()}
    found = evaluated(solutions, tasks, tmp_path)["eval"]
    theirs = {
        (f"he{task.removeprefix('HumanEval/')}", number): one["base_status"] == "pass"
        for task, those in found.items()
        for number, one in enumerate(those)
    }
    write = as_it_is(PREDICTIONS, "-b", "humaneval", "--data", SHARED / "humaneval/tasks.jsonl", "-k", "1,10")
    (tmp_path / "ours").mkdir()
    results = verdicts.graded(Corpus(name="humaneval", write=write), tmp_path / "ours")
    for reading in ("official", "careful"):
        ours = passed(results, reading)
        assert ours.keys() == theirs.keys()
        assert {key: (ours[key], theirs[key]) for key in ours if ours[key] != theirs[key]} == OTHERWISE
