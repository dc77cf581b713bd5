"""The Python API is the command's grading: the same figures, typed, nothing printed, nothing written unasked."""

import importlib
import json
import re
import subprocess
import sys

import pytest

import grader
from grader.errors import InputError, UsageError
from grader.options import Options
from tests.tables import each


def test_a_file_is_graded_as_the_command_grades_it(sample, capsys):
    path, folder = sample("vstar")
    report = grader.grade(path, benchmark="vstar", data=str(folder / "questions.jsonl"))
    metric = report.metric("accuracy", "careful")
    assert (metric.value, metric.n) == (70.0, 10)
    assert report.metric("typo", "careful") is None
    assert [p.name for p in path.parent.iterdir()] == ["predictions.json"]
    assert capsys.readouterr() == ("", "")


def test_texts_need_no_file(sample):
    path, folder = sample("vstar")
    texts = {record["qid"]: (text for text in record["predictions"]) for record in json.loads(path.read_text())}
    report = grader.grade(texts, benchmark="vstar", data=folder / "questions.jsonl")
    assert report.metrics == grader.grade(path, benchmark="vstar", data=folder / "questions.jsonl").metrics


def test_the_command_handles_ctrl_c_before_it_imports_what_takes_time():
    code = "import grader.__main__, sys; print(sorted(name for name in sys.modules if name.startswith('grader')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['grader', 'grader.__main__']\n"


def test_what_it_writes_reads_back_and_compares(sample):
    path, folder = sample("vstar")
    report = grader.grade(path, benchmark="vstar", data=folder / "questions.jsonl", write=True)
    again = grader.read_report(path.with_name("predictions_results.json"))
    assert again.metrics == report.metrics
    compared = grader.compare(report, again)
    assert "Both runs graded the same outputs." in compared.notes
    assert {row.difference.value for row in compared.metrics} == {0.0}


@each(
    ("option", "message"),
    [
        ({"benchmrk": "vstar"}, "'benchmrk'; did you mean benchmark?"),
        ({"id": "q1"}, "'id'; it is `ids` here, a list"),
        ({"fail_under": "accuracy=75"}, "'fail_under'; only the command has gates; look at report.metric("),
        ({"output": "x.html"}, "'output'; only the command writes reports: write=True"),
    ],
)
def test_an_option_that_does_not_exist_is_a_usage_error_that_says_what_to_do(option, message):
    with pytest.raises(UsageError) as caught:
        grader.grade("p.json", **option)
    assert f"grade() has no option {message}" in str(caught.value)


def test_a_value_that_an_option_does_not_have_is_answered_with_its_values():
    with pytest.raises(UsageError, match=r"'maybe' - at `\$\.missing`; the values are error, wrong, skip$"):
        grader.grade("p.json", missing="maybe")


def test_the_document_lists_every_keyword_and_no_other(root):
    section = (root / "docs/python.md").read_text()
    listed = [line.partition(", told")[0] for line in section.splitlines() if line.startswith("- ")]
    named = {name for line in listed for name in re.findall(r"`([a-z_]+)`", line)}
    assert named == {*Options.__struct_fields__, "observer"}


def test_the_document_has_the_public_names_and_the_example_of_a_scorer_uses_no_other(root):
    page = (root / "docs/python.md").read_text()
    shown = set(re.findall(r"^::: (grader[.\w]*)$", page, re.M))
    assert {name for name in shown if name.count(".") == 1} - {"grader.errors"} == {
        f"grader.{name}" for name in grader.__all__
    }
    modules = set(re.findall(r"`(grader(?:\.[a-z_]+)+)`", page.partition("## For your own scorer")[2]))
    for name in modules - {"grader.integrations.trl", "grader.integrations.verl", "grader.integrations.openrlhf"}:
        importlib.import_module(name)
    plugin = (root / "tests/scorers/plugin/grade_numeric/__init__.py").read_text()
    for example in (plugin, (root / "docs/own-scorer.md").read_text()):
        assert set(re.findall(r"from (grader\.[\w.]+) import", example)) <= modules


def test_the_architecture_fits_one_screen_and_names_what_is_there(root):
    lines = (root / "ARCHITECTURE.md").read_text().splitlines()
    assert len(lines) <= 60
    assert max(map(len, lines)) <= 120
    for name in re.findall(r"`([\w/]+(?:\.py|/))`", "\n".join(lines)):
        there = [*(root / "grader").rglob(name), *(root / "sandbox_image").rglob(name), *root.glob(name)]
        assert there, name


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ({"zz": ["A"]}, "predictions['zz']: no qid of the file is a question of the benchmark"),
        ({"0": ["A"], "zz": ["A"]}, "predictions['zz']: the benchmark has no question"),
        ({"0": ["A"], "1": []}, "predictions['1']: the list is empty"),
        ({"0": ["A"]}, "predictions: 9 of 10 questions without a prediction"),
    ],
)
def test_what_is_wrong_with_texts_is_said_of_the_argument_and_of_no_file(sample, texts, said):
    _, folder = sample("vstar")
    with pytest.raises(InputError) as caught:
        grader.grade(texts, benchmark="vstar", data=folder / "questions.jsonl")
    assert caught.value.problems[0].startswith(said)
    assert "<stdin>" not in str(caught.value)


def test_bad_values_and_bad_files_are_the_errors_of_the_command(sample, tmp_path):
    path, _ = sample("vstar")
    with pytest.raises(UsageError, match="sandbox"):
        grader.grade(path, sandbox="none")
    with pytest.raises(InputError):
        grader.grade(tmp_path / "absent.json", benchmark="vstar")


@pytest.mark.parametrize(
    "texts",
    ["A", None, [b"A"], {"A": 1}, ["\ud800"]],
    ids=["text", "none", "list of bytes", "mapping", "half a character"],
)
def test_what_is_no_list_of_texts_is_refused_and_never_graded_by_the_character(sample, texts):
    _, folder = sample("vstar")
    with pytest.raises(InputError, match=r"^predictions\['0'\]: "):
        grader.grade({"0": texts}, benchmark="vstar", data=folder / "questions.jsonl", missing="wrong")


@each("predictions", [None, [{"qid": "0", "predictions": ["A"]}]])
def test_what_is_neither_a_path_nor_a_mapping_is_a_type_error(predictions):
    with pytest.raises(TypeError, match="a file's path or"):
        grader.grade(predictions, benchmark="vstar")


@pytest.mark.parametrize(
    "option",
    [{"limit": 0}, {"k": [1, -2]}, {"workers": 257}, {"timeout": float("nan")}, {"memory": "1k"}, {"data": 5},
     {"ids": "q1"}, {"cache": "no"}],
)  # fmt: skip
def test_a_value_out_of_its_range_is_a_usage_error(sample, option):
    path, folder = sample("vstar")
    with pytest.raises(UsageError):
        grader.grade(path, **{"benchmark": "vstar", "data": folder / "questions.jsonl"} | option)


def test_compare_takes_reports_and_one_of_the_readings(sample):
    path, folder = sample("vstar")
    report = grader.grade(path, benchmark="vstar", data=folder / "questions.jsonl")
    with pytest.raises(TypeError, match=r"takes two reports, not 'a\.json'; read_report\(path\) reads one"):
        grader.compare("a.json", report)
    with pytest.raises(UsageError, match="expected 'official' or 'careful', not 'both'"):
        grader.compare(report, report, reading="both")
