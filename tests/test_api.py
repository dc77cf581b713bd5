"""The Python API is the command's grading: the same figures, typed, nothing printed, nothing written unasked."""

from __future__ import annotations

import json

import pytest

import grader
from grader.errors import InputError, UsageError


def test_a_file_is_graded_as_the_command_grades_it(sample, capsys):
    path, folder = sample("vstar")
    report = grader.grade(path, benchmark="vstar", data=str(folder / "questions.jsonl"))
    metric = report.metric("accuracy", "careful")
    assert metric is not None
    assert (metric.value, metric.n) == (70.0, 10)
    assert [p.name for p in path.parent.iterdir()] == ["predictions.json"]
    assert capsys.readouterr() == ("", "")


def test_texts_need_no_file(sample):
    path, folder = sample("vstar")
    texts = {record["qid"]: record["predictions"] for record in json.loads(path.read_text())}
    report = grader.grade(texts, benchmark="vstar", data=folder / "questions.jsonl")
    assert report.metrics == grader.grade(path, benchmark="vstar", data=folder / "questions.jsonl").metrics


def test_what_it_writes_reads_back_and_compares(sample):
    path, folder = sample("vstar")
    report = grader.grade(path, benchmark="vstar", data=folder / "questions.jsonl", write=True)
    again = grader.read_report(path.with_name("predictions_results.json"))
    assert again.metrics == report.metrics
    compared = grader.compare(report, again)
    assert compared.notes == ["Both runs graded the same outputs."]
    assert {row.difference.value for row in compared.metrics} == {0.0}


def test_an_option_that_does_not_exist_is_a_type_error(sample):
    path, _ = sample("vstar")
    with pytest.raises(TypeError, match="grade\\(\\) has no option 'benchmrk'; it has benchmark, split"):
        grader.grade(path, benchmrk="vstar")


def test_bad_values_and_bad_files_are_the_errors_of_the_command(sample, tmp_path):
    path, _ = sample("vstar")
    with pytest.raises(UsageError, match="sandbox"):
        grader.grade(path, sandbox="none")
    with pytest.raises(InputError):
        grader.grade(tmp_path / "absent.json", benchmark="vstar")
