"""MR-Score and its parts."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.scorers.mr_ben.figures import (
    FIGURES,
    Counts,
    Interval,
    RowFacts,
    SubjectFigures,
    Weights,
    bootstrap_interval,
    bounds,
    count,
    figures,
    figures_of_counts,
    mean_figures,
)

FACTS = st.builds(
    RowFacts,
    gold_correct=st.booleans(),
    predicted_correct=st.sampled_from((True, False, None)),
    step=st.sampled_from((True, False, None)),
    reason=st.sampled_from((True, False, None)),
)


def row(gold: bool, predicted: bool | None, step: bool | None = False, reason: bool | None = False) -> RowFacts:
    return RowFacts(gold_correct=gold, predicted_correct=predicted, step=step, reason=reason)


def test_figures_follow_the_formula() -> None:
    rows = [row(True, True), row(True, None), row(False, True), *[row(False, False, True, True)] * 2, row(False, False)]
    assert figures(rows) == SubjectFigures(
        mr_score=100 * (0.2 * 0.25 + 0.3 * 0.5 + 0.5 * 0.5),
        mcc=25.0,
        acc_step=50.0,
        acc_reason=50.0,
        precision=50.0,
        recall=50.0,
        rows=6,
        counts=Counts(tp=1, tn=3, fp=1, fn=1, step=2, reason=2, unread=1),
    )


@pytest.mark.parametrize(
    ("rows", "score"),
    [
        ([], 0.0),
        ([row(True, False), row(False, False, True, True)], 80.0),
        ([row(True, None), row(False, None)], 0.0),
        ([row(True, True)] * 3, 0.0),
        ([row(False, False, True, False)] * 3, 30.0),
    ],
    ids=["no rows", "always incorrect", "never read", "no incorrect solutions", "no correct solutions"],
)
def test_a_one_sided_subject_gets_a_score(rows: list[RowFacts], score: float) -> None:
    assert figures(rows).mr_score == pytest.approx(score)


def test_a_negative_correlation_costs_nothing() -> None:
    found = figures([row(True, False), row(False, True)])
    assert (found.mcc, found.mr_score) == (-100.0, 0.0)


def test_weights_can_be_given() -> None:
    rows = [row(True, True), row(False, False, True, False)]
    assert figures(rows, Weights(mcc=0.5, step=0.25, reason=0.25)).mr_score == pytest.approx(75.0)


def test_the_mean_weighs_subjects_alike() -> None:
    big, small = figures([row(False, False, True, True)] * 9), figures([row(False, False)])
    mean = mean_figures([big, small])
    assert (mean.acc_step, mean.mr_score, mean.rows, mean.counts.step) == (50.0, 40.0, 10, 9)
    assert mean_figures([]).mr_score == 0.0


def test_unscored_rows_leave_their_share_and_are_bounded() -> None:
    counts = count([row(False, False, True, None), row(False, False, True, True)])
    low, high = bounds(counts)
    assert figures_of_counts(counts).acc_reason == 100.0
    assert (low.acc_reason, high.acc_reason, counts.reason_unscored) == (50.0, 100.0, 1)


@given(st.lists(FACTS), st.lists(FACTS))
def test_counts_of_a_whole_are_the_sums_of_its_parts(left: list[RowFacts], right: list[RowFacts]) -> None:
    assert count(left + right) == Counts(*(a + b for a, b in zip(count(left), count(right), strict=True)))


@given(st.lists(FACTS))
def test_figures_are_percentages_and_lie_within_their_bounds(rows: list[RowFacts]) -> None:
    found = figures(rows)
    low, high = bounds(found.counts)
    for name in FIGURES:
        value = getattr(found, name)
        assert (-100 if name == "mcc" else 0) - 1e-9 <= value <= 100 + 1e-9
    assert low.mr_score <= high.mr_score
    assert low.acc_step <= found.acc_step + 1e-9 or found.counts.step_unscored == found.counts.tn + found.counts.fp


def test_an_interval_is_the_point_where_all_questions_are_alike() -> None:
    pairs = [(f"q{n}", facts) for n in range(20) for facts in (row(True, True), row(False, False, True, False))]
    found = bootstrap_interval({"physics": pairs}, resamples=50)
    assert found["physics", "mr_score"] == Interval(low=50.0, high=50.0, stderr=0.0)
    assert set(found) == {(subject, name) for subject in ("physics", None) for name in FIGURES}


def test_an_interval_depends_on_its_own_rows_only_and_not_on_their_order() -> None:
    pairs = [(f"q{n % 40}", row(n % 7 == 3, n % 11 < 4, n % 5 == 0, n % 7 == 0)) for n in range(120)]
    alone = bootstrap_interval({"math": pairs})
    both = bootstrap_interval({"coding": pairs[:30], "math": pairs[::-1]})
    assert alone["math", "mcc"] == both["math", "mcc"]
    assert alone["math", "mcc"] != bootstrap_interval({"math": pairs}, seed=1)["math", "mcc"]


def test_a_questions_rows_stay_together() -> None:
    facts = [row(False, False, n % 2 == 0, False) for n in range(100)]
    apart = bootstrap_interval({"s": [(str(n), fact) for n, fact in enumerate(facts)]})
    together = bootstrap_interval({"s": [(str(n // 2), fact) for n, fact in enumerate(facts)]})
    assert together["s", "acc_step"].stderr == 0.0 < apart["s", "acc_step"].stderr


def test_an_interval_agrees_with_theory() -> None:
    pairs = [(str(n), row(False, False, n % 4 == 0, False)) for n in range(400)]
    found = bootstrap_interval({"s": pairs}, resamples=4000)["s", "acc_step"]
    expected = 100 * math.sqrt(0.25 * 0.75 / 400)
    assert found.stderr == pytest.approx(expected, rel=0.06)
    assert (found.low, found.high) == pytest.approx((25 - 1.96 * expected, 25 + 1.96 * expected), abs=0.8)


def test_no_rows_have_an_interval_of_zero() -> None:
    assert bootstrap_interval({"s": []}, resamples=3)[None, "mr_score"] == Interval(low=0.0, high=0.0, stderr=0.0)
    assert bootstrap_interval({}) == {}


def test_importing_the_module_does_not_import_numpy() -> None:
    code = "import sys, grader.scorers.mr_ben.figures; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
