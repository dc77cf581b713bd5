"""The report on a terminal."""

from __future__ import annotations

from grader.reports.table import render
from tests.made_runs import of_sample, report


def test_a_submission_has_nothing_that_the_readings_could_agree_on() -> None:
    said = render(report([], split="test-en", notes=["test-en has no public answers."]))
    assert "agree" not in said
    assert "test-en has no public answers." in said


def test_it_says_on_how_many_samples_the_readings_differ() -> None:
    made = of_sample("vstar")
    assert f"differ on {len(made.differences())} of {len(made.samples)} samples" in render(made)
