"""Whoever forgets `-b` is told which benchmark the files look like, and nothing is graded on that."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from grader.data.load import column_names
from grader.errors import GradeError, InputError
from grader.predictions.read import read_predictions
from grader.scorers import declarations
from grader.scorers.lookalikes import hinting

if TYPE_CHECKING:
    from pathlib import Path

DATA = {
    "humaneval": "tasks.jsonl",
    "humaneval-v": "tasks.jsonl",
    "vstar": "questions.jsonl",
    "mmbench": "questions.tsv",
    "mr-ben": "data",
}


def said(root: Path, declared: str, own: str, *, data: bool, error: GradeError | None = None) -> str:
    """What an error becomes where the files are those of another benchmark than the declared one."""
    sample = root / "benchmarks" / own / "sample"
    file = read_predictions(sample / "predictions.json")
    raised = InputError(["wrong"]) if error is None else error
    with (
        pytest.raises(type(raised)) as caught,
        hinting(
            declarations.load(declared), file, sample / DATA[own] if data else None, declarations.bundled, column_names
        ),
    ):
        raise raised
    return str(caught.value)


@pytest.mark.parametrize("own", sorted(DATA))
@pytest.mark.parametrize("declared", sorted(DATA))
def test_data_and_predictions_name_the_benchmark_that_was_meant_and_never_the_one_that_was_given(
    root: Path, declared: str, own: str
) -> None:
    text = said(root, declared, own, data=True)
    if declared == own:
        assert text == "wrong"
    else:
        wanted = f"The data and the predictions look like those of {own}: did you mean -b {own}?"
        assert text == f"wrong\n{wanted}"


def test_predictions_alone_name_every_benchmark_whose_ids_they_could_have(root: Path) -> None:
    text = said(root, "humaneval-v", "vstar", data=False)
    assert text == ("wrong\nThe predictions look like those of mmbench or vstar: did you mean -b mmbench or -b vstar?")
    assert said(root, "humaneval-v", "humaneval-v", data=False) == "wrong"


def test_ids_that_are_nobodys_are_no_hint(root: Path, tmp_path: Path) -> None:
    path = tmp_path / "predictions.json"
    path.write_text(json.dumps([{"qid": "Zebra!", "predictions": ["x"]}]))
    with (
        pytest.raises(InputError) as caught,
        hinting(declarations.load("vstar"), read_predictions(path), None, declarations.bundled, column_names),
    ):
        raise InputError(["wrong"])
    assert caught.value.problems == ["wrong"]


@pytest.mark.parametrize("name", declarations.names())
def test_the_ids_of_every_bundled_sample_match_its_pattern(root: Path, name: str) -> None:
    import re

    pattern = declarations.load(name).id_pattern
    records = read_predictions(root / "benchmarks" / name / "sample" / "predictions.json").records
    assert all(re.fullmatch(pattern, record.qid) for record in records)
