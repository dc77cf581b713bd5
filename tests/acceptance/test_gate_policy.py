"""`grade gate`: one decision over the results of several benchmarks."""

import json
import shutil

import pytest

from tests.acceptance.command import grade

POLICY = """
[[gate]]
benchmark = "mmbench"
metric = "circular_accuracy"
at_least = "50"
max_drop = "3 %"

[[gate]]
benchmark = "vstar"
metric = "accuracy"
at_least = 60
confident = true

[[gate]]
benchmark = "humaneval-v"
metric = "pass@1"
at_least = 10

[[gate]]
benchmark = "mr-ben"
metric = "mr_score"
at_least = 99
advisory = true
"""


@pytest.fixture
def checkpoint(sample, once, tmp_path):
    """A folder with the results of three benchmarks, its baseline in `base`, and the policy."""
    data = {"vstar": "questions.jsonl", "mmbench": "questions.tsv", "mr-ben": "data"}

    def run(shared):
        for benchmark, name in data.items():
            path, folder = sample(benchmark)
            target = shutil.copy(path, shared / f"{benchmark}.json")
            replies = folder / "judge_replies.json"
            judge = ["--judge-replies", replies] if replies.exists() else []
            said = grade(target, "-b", benchmark, "--data", folder / name, "--missing", "wrong", *judge, "-q")
            assert said.returncode == 0, said.stderr

    shared = once("three-benchmarks", run)
    (tmp_path / "base").mkdir()
    for results in shared.glob("*_results.json"):
        shutil.copy(results, tmp_path / results.name)
        shutil.copy(results, tmp_path / "base" / results.name)
    (tmp_path / "policy.toml").write_text(POLICY)
    return tmp_path


def states(folder, *words):
    """Return the exit code, and the state of each gate."""
    said = grade("gate", folder / "policy.toml", *words, "-o", "-", "-q")
    return said.returncode, [gate["state"] for gate in json.loads(said.stdout)["gates"]]


def test_three_benchmarks_are_one_decision(checkpoint):
    files, base = sorted(checkpoint.glob("*_results.json")), ["--baseline", checkpoint / "base"]
    # The results of HumanEval-V are missing; V* has ten questions; Mr-Ben is advisory.
    assert states(checkpoint, *files, *base) == (3, ["met", "met", "inconclusive", "blocked", "not met"])
    (checkpoint / "policy.toml").write_text(POLICY.replace("at_least = 10\n", "at_least = 10\nadvisory = true\n"))
    assert states(checkpoint, *files, *base)[0] == 4
    shutil.copy(checkpoint / "vstar_results.json", checkpoint / "again_results.json")
    two = sorted(checkpoint.glob("*_results.json"))
    assert states(checkpoint, *two, *base) == (3, ["met", "met", "blocked", "blocked", "not met"])


def test_the_decision_is_a_table_a_line_a_gate_and_every_format(checkpoint):
    files = sorted(checkpoint.glob("*_results.json"))
    outputs = [word for name in ("g.md", "g.xml", "g.csv", "g.html") for word in ("-o", checkpoint / name)]
    said = grade("gate", checkpoint / "policy.toml", *files, "--baseline", checkpoint / "base", *outputs)
    assert said.stderr.splitlines()[-1] == "GATES: 1 blocked, 1 inconclusive, 2 met"
    assert "⚠️ blocked" in said.stderr
    junit = (checkpoint / "g.xml").read_text()
    assert 'tests="5"' in junit
    assert 'errors="2" failures="0" skipped="1"' in junit
    assert "| ❌ not met | `mr-ben: mr_score >= 99 (careful) (advisory)` |" in (checkpoint / "g.md").read_text()


def test_what_cannot_be_is_exit_2(checkpoint):
    files, policy = sorted(checkpoint.glob("*_results.json")), checkpoint / "policy.toml"
    without = grade("gate", policy, *files)
    assert (without.returncode, without.stderr) == (
        2,
        "error: policy.toml has a gate with max_drop, which needs --baseline FOLDER.\n",
    )
    same = grade("gate", policy, checkpoint / "base" / "vstar_results.json", "--baseline", checkpoint / "base")
    assert same.returncode == 2
    assert "is also in the folder of the baseline" in same.stderr
    policy.write_text(POLICY.replace("pass@1", "accuracy").replace("humaneval-v", "mr-ben"))
    unknown = grade("gate", policy, *files, "--baseline", checkpoint / "base")
    assert unknown.returncode == 2
    assert "This report has no metric 'accuracy'; it has mr_score" in unknown.stderr
