"""The command around the grading: help, lists, checks, errors, exit codes."""

import re

import click
import pytest

from tests.acceptance.command import grade


def test_the_list_of_commands_fits_on_a_narrow_terminal_and_cuts_no_description(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    said = grade("--help").stdout
    assert "Exit codes" in said
    commands = said.partition("\nCommands:\n")[2].partition("\n\n")[0].splitlines()
    assert commands[0].split(maxsplit=1) == ["run", "Grade PREDICTIONS; `run` can be left out."]
    assert [line for line in commands if not re.fullmatch(r"  [a-z]+ +[A-Z].*[^.]\.", line)] == []


def test_a_slip_in_a_command_is_answered_with_the_command(tmp_path):
    said = grade("chek", "predictions.json", cwd=tmp_path)
    assert (said.returncode, said.stderr) == (
        2,
        "error: 'chek' is neither a command nor a file. Did you mean `grade check`?\n",
    )
    (tmp_path / "chek").write_text("[]")
    assert "Did you mean" not in grade("chek", cwd=tmp_path).stderr
    assert "Did you mean `grade --help`?" in grade("help", cwd=tmp_path).stderr


def test_without_b_the_benchmark_that_the_files_look_like_is_named(sample):
    path, folder = sample("vstar")
    said = grade(path, "--data", folder / "questions.jsonl")
    assert said.returncode == 2
    assert said.stderr.splitlines()[-1].endswith("look like those of vstar: did you mean -b vstar?")
    assert not path.with_name("predictions_results.json").exists()


def test_help_imports_only_the_command_line():
    import subprocess
    import sys

    code = "import sys; from grader.cli import run; run(['--help']); print(*sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names = said.stdout.splitlines()[-1].split()
    assert not {"numpy", "docker", "datasets", "rich", "pylint", "openai", "pyarrow", "msgspec"}.intersection(names)
    own = {name for name in names if name.startswith("grader.") and not name.startswith("grader.commands")}
    assert own == {
        "grader.cli",
        "grader.errors",
        "grader.files",
        "grader.files.user_files",
        "grader.reports",
        "grader.reports.formats",
        "grader.resources",
    }


OTHERS = re.compile(
    r"^\s*(\$ )?(vllm|pip|docker|podman|apt-get|python3?|make|pytest) |^    - pip|OpenRLHF"
    r"|\bray start|tests/bench/"
)
"""A line with a command of another program."""


def test_every_option_of_the_documents_exists(root):
    from grader.cli import main

    groups = [main, *(c for c in main.commands.values() if isinstance(c, click.Group))]
    real = {
        name
        for group in groups
        for command in group.commands.values()
        for parameter in command.params
        for name in (*parameter.opts, *parameter.secondary_opts)
        if name.startswith("--")
    }
    option = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
    documents = [root / "README.md", *(root / "docs").glob("*.md")]
    of_grade = [line for path in documents for line in path.read_text().splitlines() if not OTHERS.search(line)]
    assert set(option.findall("\n".join(of_grade))) - real - {"--help", "--version"} == set()


@pytest.mark.parametrize(
    ("words", "helps"), [(["compare"], "Missing argument '[A=]A_RESULTS'. See `grade compare --help`.")]
)
def test_a_missing_word_is_answered_with_the_next_step(words, helps, tmp_path):
    (tmp_path / "p.json").touch()
    said = grade(*words, cwd=tmp_path)
    assert (said.returncode, helps in said.stderr) == (2, True), said.stderr


def test_check_tells_what_a_file_holds_and_grades_nothing(sample):
    path, folder = sample("vstar")
    said = grade("check", path, "-b", "vstar", "--data", folder / "questions.jsonl")
    assert said.returncode == 0, said.stderr
    assert "questions of vstar" in said.stdout
    assert "1 answer was cut off before the end" in said.stdout
    assert sorted(p.name for p in path.parent.iterdir()) == ["predictions.json"]


def test_nowhere_to_run_code_is_exit_3_and_says_how_to_get_a_sandbox(sample, monkeypatch):
    path, folder = sample("humaneval-v")
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent.sock")
    monkeypatch.setenv("PATH", "/nonexistent")
    said = grade(path, "--data", folder / "tasks.jsonl")
    assert said.returncode == 3
    assert "apt-get install bubblewrap" in said.stderr
    assert not path.with_name("predictions_results.json").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [(["--judge-model", "x", "-b", "humaneval-v"], "--judge-model: the benchmark humaneval-v (-b) does not use it")],
)
def test_an_option_that_means_nothing_for_the_benchmark_is_refused(sample, words, message):
    path, folder = sample("vstar")
    said = grade(path, "-b", "vstar", "--data", folder / "questions.jsonl", *words)
    assert said.returncode == 2
    assert message in said.stderr
    assert not path.with_name("predictions_results.json").exists()
