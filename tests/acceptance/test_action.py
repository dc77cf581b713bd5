"""The composite action: what it runs, run here with the words a workflow would give."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml


@pytest.fixture
def action(root):
    return yaml.safe_load((root / "action.yml").read_text())


@pytest.fixture
def run(action, tmp_path):
    """Run a step of the action with the command of this checkout; return the process and what it put out."""
    steps = {step["id"]: step for step in action["runs"]["steps"] if "id" in step}
    place = tmp_path / "runner" / "grade" / "bin" / "grade"
    place.parent.mkdir(parents=True)
    place.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m grader "$@"\n')
    place.chmod(0o755)

    def start(
        predictions: str, arguments: str, cwd: Path, **inputs: str
    ) -> tuple[subprocess.CompletedProcess[str], str]:
        output, summary = tmp_path / "output", tmp_path / "summary"
        output.write_text("")
        environment = {
            "PATH": "/usr/bin:/bin",
            "RUNNER_TEMP": str(tmp_path / "runner"),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(summary),
            "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
            "PREDICTIONS": predictions,
            "ARGUMENTS": arguments,
            "POLICY": inputs.get("policy", ""),
            "RESULTS": inputs.get("results", ""),
        }
        script = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", steps["grade"]["run"]]
        said = subprocess.run(script, env=environment, capture_output=True, text=True, cwd=cwd, check=False)
        return said, output.read_text()

    return start


def results_of(output: str) -> str:
    """The value of the output `results`, as GitHub reads it; empty if there is none."""
    found = re.fullmatch(r"(?:results<<(\w+)\n(.*)\n\1\n)?exit-code=\d\n", output, re.DOTALL)
    assert found
    return found[2] or ""


def test_it_passes_words_with_blanks_and_gives_the_exit_code_on(run, sample, tmp_path):
    path, folder = sample("vstar")
    place = tmp_path / "a folder"
    place.mkdir()
    data = place / "the questions.jsonl"
    data.write_bytes((folder / "questions.jsonl").read_bytes())
    words = f"-b vstar --data 'a folder/{data.name}' --fail-under accuracy=99"
    said, output = run(str(path), words, tmp_path)
    assert said.returncode == 1, said.stderr
    assert "GATE NOT MET" in said.stderr
    assert output.endswith("\nexit-code=1\n")
    assert results_of(output) == str(path.with_name("predictions_results.json"))
    assert "accuracy" in (tmp_path / "summary").read_text()


def test_a_file_name_is_never_code(run, tmp_path):
    said, output = run("$(touch hacked); `touch hacked`", "; touch hacked", tmp_path)
    assert said.returncode == 2
    assert output == "exit-code=2\n"
    assert not (tmp_path / "hacked").exists()


@pytest.mark.parametrize("name", ["list", "--help"])
def test_a_file_name_is_never_a_subcommand_or_an_option(run, tmp_path, name):
    """Each of these would end in 0, which is a gate that is met."""
    said, output = run(name, "", tmp_path)
    assert (said.returncode, output) == (2, "exit-code=2\n"), said.stderr


def test_inputs_of_the_action_are_those_it_uses(action):
    text = str(action["runs"])
    assert all(f"inputs.{name}" in text for name in action["inputs"])


def test_a_quote_that_is_not_closed_drops_no_gate(run, sample, tmp_path):
    path, folder = sample("vstar")
    words = f"-b vstar --data {folder / 'questions.jsonl'} "
    for gate in ("'--fail-under accuracy=99", '"--fail-under" "accuracy=99'):
        said, output = run(str(path), words + gate, tmp_path)
        assert (said.returncode, output) == (2, "exit-code=2\n")
        assert "a quote in them is not closed" in said.stderr
    lines = "-b vstar\n--data\n" + f"{folder / 'questions.jsonl'}\n--fail-under accuracy=99\n"
    assert run(str(path), lines, tmp_path)[0].returncode == 1


def test_a_policy_is_decided_over_the_results_that_a_pattern_names(run, sample, tmp_path):
    path, folder = sample("vstar")
    assert run(str(path), f"-b vstar --data {folder / 'questions.jsonl'}", tmp_path)[0].returncode == 0
    policy = tmp_path / "-policy.toml"
    policy.write_text('[[gate]]\nbenchmark = "vstar"\nmetric = "accuracy"\nat_least = 99\n')
    said, output = run("", "-q", tmp_path, policy="-policy.toml", results=f"'{path.parent}/'*_results.json")
    assert (said.returncode, output) == (1, "exit-code=1\n")
    assert said.stderr.startswith("GATE NOT MET: vstar: accuracy >= 99")


def test_what_could_not_be_decided_is_an_error_on_the_page_and_in_the_summary(run, tmp_path):
    said, output = run("", "", tmp_path, policy="p.toml", results="nothing_*.json")
    assert (said.returncode, output) == (2, "exit-code=2\n")
    assert "::error title=grade::bad input; the log says what to correct" in said.stderr
    assert "grade: exit code 2: bad input" in (tmp_path / "summary").read_text()
