"""The self-test: every bundled sample has the outcomes of its `expected.json`, and a wrong one ends with 3."""

import json
from pathlib import Path

import pytest

from grader import selftest
from grader.cli import run
from grader.scorers import declarations, registry
from tests.acceptance.command import grade
from tests.acceptance.test_code_benchmarks import MOCKED, TWICE, with_tasks
from tests.conftest import ROOT

HUMANEVAL = ROOT / "benchmarks" / "humaneval" / "sample" / "tasks.jsonl"


SLOW = {"humaneval-v", "vstar", "mmbench", "mr-ben", "humaneval", "mbpp-plus"}
"""For `make test-slow`: golden verdicts hold those of four, and HumanEval and MBPP+ are graded as others are."""


def executes(benchmark: str) -> bool:
    return registry.scorer(declarations.load(benchmark).scoring).runs_programs


@pytest.mark.parametrize(
    "benchmark",
    [
        pytest.param(
            name,
            marks=[
                *([pytest.mark.bubblewrap, pytest.mark.xdist_group("bubblewrap")] if executes(name) else []),
                *([pytest.mark.slow] if name in SLOW else []),
            ],
        )
        for name in declarations.names()
    ],
)
def test_a_bundled_sample_is_graded_as_expected(benchmark: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["selftest", "-b", benchmark, "--sandbox", "bubblewrap"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    where = "bubblewrap" if executes(benchmark) else "-"
    records = json.loads((ROOT / "benchmarks" / benchmark / "sample" / "predictions.json").read_text())
    count = sum(len(record["predictions"]) for record in records)
    assert line.startswith(f"{benchmark:<16}{where:<12}{count} samples as expected")


def test_each_outcome_that_differs_is_named_with_the_expected_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from grader.scorers.choice import careful

    sound = careful.read_choice
    monkeypatch.setattr(
        careful, "read_choice", lambda text, options, question="", **_: sound("no answer", options, question)
    )
    assert run(["selftest", "-b", "mmstar"]) == 3
    said = capsys.readouterr()
    assert said.out == (
        "mmstar          -           3 outcomes of 3 samples DIFFER: 0 #0 careful no_answer (expected correct); "
        "1 #0 careful no_answer (expected correct); 2 #0 careful no_answer (expected correct)\n"
    )
    assert said.err.startswith("This machine does not grade correctly.")


@pytest.mark.bubblewrap
@pytest.mark.xdist_group("bubblewrap")
def test_the_reference_solutions_of_own_data_must_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [json.loads(line) for line in HUMANEVAL.read_text().splitlines()]
    rows[1]["canonical_solution"] = "    return None\n"
    data = tmp_path / "tasks.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ["selftest", "-b", "humaneval", "--sandbox", "bubblewrap", "--data"]
    assert run([*words, str(HUMANEVAL)]) == 0
    assert run([*words, str(data)]) == 3
    right, wrong = capsys.readouterr().out.splitlines()
    assert right == "humaneval       bubblewrap  2 samples as expected"
    assert "sample/1 #0 official" in wrong
    assert "sample/1 #0 careful" in wrong
    assert "sample/0" not in wrong


@pytest.mark.bubblewrap
@pytest.mark.xdist_group("bubblewrap")
def test_a_task_that_no_machine_judges_is_named_and_is_no_fault_of_this_one(tmp_path: Path) -> None:
    path = with_tasks(tmp_path, TWICE, MOCKED)
    done = grade("selftest", "-b", path.parent, "--sandbox", "bubblewrap")
    assert done.returncode == 0, done.stderr
    assert "2 samples as expected (1 task not judged carefully: mocked: the tests pass a value that" in done.stdout
    assert done.stderr == ""


def test_data_without_a_benchmark_or_without_solutions_are_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["selftest", "--data", str(HUMANEVAL)]) == 2
    questions = ROOT / "benchmarks" / "vstar" / "sample" / "questions.jsonl"
    assert run(["selftest", "-b", "vstar", "--data", str(questions)]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert first == "error: --data belongs to one benchmark: name it with -b."
    assert second == "error: vstar: there is nothing to test, because the data has no reference solutions."


def test_programs_are_tested_in_every_sandbox_that_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.sandbox.choice.available_backends", lambda: ["docker", "bubblewrap"])
    planned = [(options.benchmark, options.sandbox) for options in selftest.plan(None, None, "auto")]
    assert len(planned) == sum(2 if executes(name) else 1 for name in declarations.names())
    assert [place for name, place in planned if name == "humaneval-v"] == ["docker", "bubblewrap"]
    assert [options.sandbox for options in selftest.plan("humaneval-v", None, "docker")] == ["docker"]


def test_without_a_sandbox_nothing_is_graded_and_the_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere.sock")
    said = grade("selftest", "-b", "mbpp", "--sandbox", "docker")
    assert said.returncode == 3
    assert said.stdout.startswith("mbpp            docker      not graded: No Docker engine answers")
