"""The composite action: what it runs, run here with the words a workflow would give."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.acceptance.command import grade


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
        predictions: str, arguments: str, cwd: Path, *, name: str = "grade", **more: str
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
            **more,
        }
        script = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", steps[name]["run"]]
        said = subprocess.run(script, env=environment, capture_output=True, text=True, cwd=cwd, check=False)
        return said, output.read_text()

    return start


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
    assert output == "exit-code=1\n"
    assert "accuracy" in (tmp_path / "summary").read_text()


def test_a_file_name_is_never_code(run, tmp_path):
    said, output = run("$(touch hacked); `touch hacked`", "; touch hacked", tmp_path)
    assert said.returncode == 2
    assert output == "exit-code=2\n"
    assert not (tmp_path / "hacked").exists()


def test_without_arguments_it_grades_with_the_defaults(run, tmp_path):
    (tmp_path / "p.json").write_text("[]")
    said, _ = run("p.json", "", tmp_path)
    assert said.returncode == grade("p.json", cwd=tmp_path).returncode == 2


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


def test_the_history_keeps_the_results_of_every_run_and_shows_them(run, sample, tmp_path):
    path, folder = sample("vstar")
    words = f"-b vstar --data {folder / 'questions.jsonl'}"
    for step in ("7", "12"):
        assert run(str(path), words, tmp_path)[0].returncode == 0
        said, _ = run(str(path), "", tmp_path, name="history", HISTORY="kept here", STEP=step)
        assert said.returncode == 0, said.stderr
    kept = sorted(one.name for one in (tmp_path / "kept here").iterdir())
    assert kept == ["history.html", "step_12_results.json", "step_7_results.json"]
    assert "| 12 |" in (tmp_path / "summary").read_text()


def test_a_run_that_was_refused_adds_nothing_to_the_history(run, tmp_path):
    said, _ = run("p.json", "", tmp_path, name="history", HISTORY="kept", STEP="1; touch hacked")
    assert said.returncode == 0, said.stderr
    assert list((tmp_path / "kept").iterdir()) == []
    assert not (tmp_path / "hacked").exists()
