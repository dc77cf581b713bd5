"""Where defaults come from: the configuration table, environment variables; and what shells complete."""

import subprocess
import sys

import pytest

from tests.acceptance.command import grade


@pytest.fixture
def project(sample):
    """A folder with predictions in it, in which nothing is configured."""
    path, folder = sample("vstar")
    return path, folder / "questions.jsonl"


def test_the_table_in_grade_toml_gives_defaults_with_paths_from_where_it_is(project):
    path, data = project
    (path.parent / "questions.jsonl").write_bytes(data.read_bytes())
    (path.parent / "grade.toml").write_text(
        'benchmark = "vstar"\ndata = "questions.jsonl"\nfail-under = ["accuracy=99"]\nquiet = true\noutput = "x.md"\n'
    )
    deeper = path.parent / "a" / "b"
    deeper.mkdir(parents=True)
    said = grade(path, cwd=deeper)
    assert said.returncode == 1
    assert said.stderr.startswith("GATE NOT MET")
    assert (path.parent / "x.md").exists()


def test_the_table_may_be_in_pyproject_and_the_command_line_comes_first(project):
    path, data = project
    (path.parent / "pyproject.toml").write_text('[tool.grade]\nbenchmark = "mmbench"\nfail_under = "accuracy=99"\n')
    said = grade(path, "-b", "vstar", "--data", data, "--fail-under", "accuracy=1", cwd=path.parent)
    assert said.returncode == 0, said.stderr
    assert "GATE MET: accuracy >= 1" in said.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('benchmrk = "vstar"\n', "grade.toml: benchmrk: unknown option"),
        ("benchmark = \n", "grade.toml: Invalid value"),
        ("limit = 5.5\n", "'--limit': '5.5' is not a valid integer range. (from "),
    ],
)
def test_a_table_that_is_wrong_is_never_ignored(project, text, message):
    path, _ = project
    (path.parent / "grade.toml").write_text(text)
    said = grade(path, cwd=path.parent)
    assert said.returncode == 2
    assert message in said.stderr


def test_every_option_has_an_environment_variable(project, monkeypatch):
    path, data = project
    monkeypatch.setenv("GRADE_BENCHMARK", "vstar")
    monkeypatch.setenv("GRADE_DATA", str(data))
    monkeypatch.setenv("GRADE_FAIL_UNDER", "accuracy=1 accuracy=99")
    monkeypatch.setenv("GRADE_QUIET", "1")
    monkeypatch.setenv("GRADE_OUTPUT", "x.md:x.csv")
    said = grade(path, cwd=path.parent)
    assert said.returncode == 1
    assert {"x.md", "x.csv"} <= {file.name for file in path.parent.iterdir()}
    assert [line.partition(":")[0] for line in said.stderr.splitlines()] == ["GATE MET", "GATE NOT MET"]
    assert grade("check", path).returncode == 0


def test_the_variables_of_other_commands_are_named_after_their_options(project, monkeypatch):
    path, data = project
    assert grade(path, "-b", "vstar", "--data", data, "-q").returncode == 0
    results = path.with_name("predictions_results.json")
    monkeypatch.setenv("GRADE_REPORT_OUTPUT", str(path.with_name("x.md")))
    monkeypatch.setenv("GRADE_COMPARE_OUTPUT", str(path.with_name("x.json")))
    assert grade("report", results).returncode == 0
    assert grade("compare", results, results).returncode == 0
    assert path.with_name("x.md").exists()
    assert path.with_name("x.json").exists()


def test_a_bad_value_is_said_to_come_from_the_environment(project, monkeypatch):
    path, _ = project
    monkeypatch.setenv("GRADE_LIMIT", "many")
    said = grade(path)
    assert said.returncode == 2
    assert said.stderr.endswith("(from the environment: GRADE_LIMIT)\n")


def test_a_misspelled_variable_cannot_drop_a_gate(project, monkeypatch):
    path, data = project
    monkeypatch.setenv("GRADE_FAIL_UNDR", "accuracy=99")
    said = grade(path, "-b", "vstar", "--data", data, "-q")
    assert said.returncode == 2
    assert "unknown environment variable: GRADE_FAIL_UNDR" in said.stderr
    assert not path.with_name("predictions_results.json").exists()
    for words in (["run", "--help"], ["--version"], ["list"]):
        other = grade(*words)
        assert (other.returncode, other.stderr) == (0, ""), words


def test_the_version_is_no_setting(project, monkeypatch):
    """A pipeline that exports GRADE_VERSION must not get the version instead of a gate."""
    path, data = project
    monkeypatch.setenv("GRADE_VERSION", "1")
    said = grade(path, "-b", "vstar", "--data", data, "-q", "--fail-under", "accuracy=99")
    assert said.returncode == 1
    assert "GATE NOT MET" in said.stderr


def test_a_table_that_is_wrong_is_no_hindrance_to_what_reads_none(project):
    path, _ = project
    (path.parent / "grade.toml").write_text("[\n")
    for words in (["run", "--help"], ["--version"], ["list"]):
        assert grade(*words, cwd=path.parent).returncode == 0
    assert grade("check", path, cwd=path.parent).returncode == 2


def test_a_benchmarks_folder_beside_the_table_is_found_from_below(project):
    path, data = project
    folder = path.parent / "mine"
    folder.mkdir()
    declaration = (data.parent.parent / "benchmark.toml").read_text()
    (folder / "benchmark.toml").write_text(declaration.replace('id = "vstar"', 'id = "mine"', 1))
    (path.parent / "grade.toml").write_text(f'benchmark = "mine"\ndata = "{data}"\nquiet = true\n')
    (path.parent / "deeper").mkdir()
    said = grade(path, cwd=path.parent / "deeper")
    assert said.returncode == 0, said.stderr


def test_no_two_options_share_an_environment_variable():
    import click

    from grader.cli import main, options_by_name

    def commands(group):
        for command in group.commands.values():
            yield from commands(command) if isinstance(command, click.Group) else [command]

    options = {c.name: options_by_name(c).values() for c in commands(main) if c.name != "check"}
    names = [option.envvar for found in options.values() for option in found]
    assert None not in names
    assert len(names) == len(set(names))


def test_the_shell_completes_commands_and_options():
    def complete(words, current):
        code = "import os; from grader.__main__ import main; main()"
        environment = {"_GRADE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(current)}
        said = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
        )
        return said.stdout.split()

    assert "plain,compare" in complete("grade comp", 1)
    assert complete("grade predic", 1) == ["file,predic"]
    assert complete("grade p.json -b vs", 3) == ["plain,vstar"]


def test_show_takes_benchmark_and_data_from_the_table_as_check_does(project):
    path, data = project
    (path.parent / "questions.jsonl").write_bytes(data.read_bytes())
    (path.parent / "grade.toml").write_text(
        'benchmark = "vstar"\ndata = "questions.jsonl"\nfail-under = "accuracy=1"\n'
    )
    deeper = path.parent / "deeper"
    deeper.mkdir()
    for words in (["show"], ["show", "vstar"]):
        said = grade(*words, cwd=deeper)
        assert said.returncode == 0, said.stderr
        assert "10 questions:" in said.stdout
    assert "label: " in grade("show", "vstar", "0", cwd=deeper).stdout
    other = grade("show", "mmbench", cwd=path.parent).stdout
    assert "questions: The data of mmbench (dev-en) is not on this machine." in other


def test_show_asks_for_a_benchmark_and_says_what_is_wrong_with_the_table_that_it_reads(project):
    path, _ = project
    said = grade("show", cwd=path.parent)
    assert said.returncode == 2
    assert "error: No benchmark given. Name one (`grade list` shows them)" in said.stderr
    (path.parent / "grade.toml").write_text("no-cache = true\n")
    said = grade("show", "vstar", cwd=path.parent)
    assert said.returncode == 2
    assert "no_cache: unknown option" in said.stderr


def test_without_its_data_the_default_benchmark_is_called_so(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    (tmp_path / "p.json").write_text('[{"qid": "1", "predictions": ["A"]}]')
    said = [grade("p.json", *words, cwd=tmp_path).stderr for words in ([], ["-b", "humaneval-v"])]
    assert ["humaneval-v is the default; -b names another benchmark." in each for each in said] == [True, False]
