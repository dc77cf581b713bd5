"""The bundled samples of MMLU-Pro, MMMU and MMStar: letters of both readings, worked out by hand."""

import shutil
from pathlib import Path

import pytest

import grader
from tests.conftest import ROOT

EXPECTED = {
    "mmlu-pro": ({"1": "B", "2": None, "3": "C", "4": "B"}, {"1": "B", "2": "D", "3": "C", "4": "B"}),
    "mmmu": ({"1": None, "2": "A", "3": "A"}, {"1": "B", "2": None, "3": "A"}),
    "mmstar": ({"0": None, "1": "B", "2": "C"}, {"0": "C", "1": "B", "2": "A"}),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_both_readings_of_a_sample(name: str, tmp_path: Path) -> None:
    sample = ROOT / "benchmarks" / name / "sample"
    answers = shutil.copy(sample / "predictions.json", tmp_path)
    (data,) = sample.glob("questions.*")
    report = grader.grade(answers, benchmark=name, data=data)
    official = {s.qid: s.official.answer for s in report.samples}
    careful = {s.qid: s.careful.answer for s in report.samples}
    assert (official, careful) == EXPECTED[name]
    assert any("expected with random letters" in note.text for note in report.notes) == (name != "mmstar")
