"""The composite action: what it runs, run here with the words a workflow would give."""

from __future__ import annotations

import json
import re
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


def results_of(output: str) -> str:
    """The value of the output `results`, as GitHub reads it; empty if there is none."""
    found = re.fullmatch(r"(?:results<<(\w+)\n(.*)\n\1\n)?exit-code=\d\n", output, re.DOTALL)
    assert found
    return found[2] or ""


@pytest.fixture
def history(run, tmp_path):
    """Grade, and then keep and show the history, as the action does; return what the folder then has."""

    def start(predictions: str, arguments: str, step: str = "1") -> dict[str, dict]:
        _, output = run(predictions, arguments, tmp_path)
        more = {"name": "history", "RESULTS": results_of(output), "HISTORY": "kept here", "STEP": step}
        said, _ = run("", "", tmp_path, **more)
        assert said.returncode == 0, said.stderr
        return {one.name: json.loads(one.read_text()) for one in (tmp_path / "kept here").glob("*.json")}

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
    assert output.endswith("\nexit-code=1\n")
    assert results_of(output) == str(path.with_name("predictions_results.json"))
    assert "accuracy" in (tmp_path / "summary").read_text()


def test_a_file_name_is_never_code(run, tmp_path):
    said, output = run("$(touch hacked); `touch hacked`", "; touch hacked", tmp_path)
    assert said.returncode == 2
    assert output == "exit-code=2\n"
    assert not (tmp_path / "hacked").exists()


@pytest.mark.parametrize("name", ["list", "--help", "--version", "-h"])
def test_a_file_name_is_never_a_subcommand_or_an_option(run, tmp_path, name):
    """Each of these would end in 0, which is a gate that is met."""
    said, output = run(name, "", tmp_path)
    assert (said.returncode, output) == (2, "exit-code=2\n"), said.stderr


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


def test_the_history_keeps_the_results_of_every_run_and_shows_them(history, sample, tmp_path):
    path, folder = sample("vstar")
    words = f"-b vstar --data {folder / 'questions.jsonl'}"
    for step in ("7", "12"):
        kept = history(str(path), words, step)
    assert sorted(kept) == ["step_12_results.json", "step_7_results.json"]
    assert (tmp_path / "kept here" / "history.html").is_file()
    assert "| 12 |" in (tmp_path / "summary").read_text()


@pytest.mark.parametrize("more", ["--output-dir elsewhere", "-q --force"])
def test_the_history_has_the_results_of_this_run_whatever_their_name_is(history, sample, tmp_path, more):
    """Beside the predictions are the results of another run, which has the name that results usually have."""
    path, folder = sample("vstar")
    (tmp_path / "elsewhere").mkdir()
    words = f"-b vstar --data {folder / 'questions.jsonl'}"
    assert grade(path, *words.split(), cwd=tmp_path).returncode == 0
    usual = path.with_name("predictions_results.json")
    usual.write_text(usual.read_text().replace('"predictions.json"', '"another run"'))
    (kept,) = history(str(path), f"{words} {more}").values()
    assert kept["provenance"]["predictions"] == "predictions.json"


def test_a_run_that_was_refused_adds_nothing_to_the_history(history, sample, tmp_path):
    path, folder = sample("vstar")
    words = f"-b vstar --data {folder / 'questions.jsonl'}"
    assert grade(path, *words.split(), cwd=tmp_path).returncode == 0
    path.write_text("[]")
    assert history(str(path), words, "1; touch hacked") == {}
    assert not (tmp_path / "hacked").exists()


def test_a_part_of_the_tasks_is_not_added_to_the_history(history, sample):
    path, folder = sample("vstar")
    assert history(str(path), f"-b vstar --data {folder / 'questions.jsonl'} --limit 4") == {}
    assert history(str(path), f"-b vstar --data {folder / 'questions.jsonl'}").keys() == {"step_1_results.json"}


def test_of_several_files_the_history_keeps_none_and_says_why(run, sample, tmp_path):
    path, folder = sample("vstar")
    other = path.with_name("other.json")
    other.write_bytes(path.read_bytes())
    said, output = run(str(path), f"{other} -b vstar --data {folder / 'questions.jsonl'}", tmp_path)
    written = [str(one.with_name(f"{one.stem}_results.json")) for one in (path, other)]
    assert results_of(output).splitlines() == written
    assert [line for line in said.stderr.splitlines() if line.startswith("Wrote ")] == [f"Wrote {w}" for w in written]
    said, _ = run("", "", tmp_path, name="history", RESULTS=results_of(output), HISTORY="kept", STEP="1")
    assert said.returncode == 0, said.stderr
    assert "not added to the history" in said.stdout
    assert list((tmp_path / "kept").iterdir()) == []
