"""MR-Score and its parts."""

from __future__ import annotations

import math
import random
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.scorers.mr_ben.figures import (
    FIGURES,
    Counts,
    RowFacts,
    SubjectFigures,
    Weights,
    bounds,
    count,
    figures,
    figures_of_counts,
    intervals,
    mean_figures,
)
from grader.statistics.jackknife import Interval

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


def test_questions_that_are_all_alike_are_no_certainty() -> None:
    pairs = [(f"q{n}", facts) for n in range(20) for facts in (row(True, True), row(False, False, True, False))]
    found = intervals({"physics": pairs})
    made = found["physics", "mr_score"]
    assert made.stderr is None
    assert made.low < 49
    assert made.high > 51
    assert set(found) == {(subject, name) for subject in ("physics", None) for name in FIGURES}


def test_an_interval_depends_on_its_own_rows_only_and_not_on_their_order() -> None:
    pairs = [(f"q{n % 40}", row(n % 7 == 3, n % 11 < 4, n % 5 == 0, n % 7 == 0)) for n in range(120)]
    alone = intervals({"math": pairs})
    both = intervals({"coding": pairs[:30], "math": pairs[::-1]})
    assert alone["math", "mcc"] == both["math", "mcc"]


def test_a_questions_rows_stay_together() -> None:
    facts = [row(False, False, n % 2 == 0, False) for n in range(100)]
    apart = intervals({"s": [(str(n), fact) for n, fact in enumerate(facts)]})
    together = intervals({"s": [(str(n // 2), fact) for n, fact in enumerate(facts)]})
    assert together["s", "acc_step"].stderr is None
    assert apart["s", "acc_step"].stderr == pytest.approx(100 * math.sqrt(0.25 / 99))


def test_an_interval_agrees_with_theory() -> None:
    pairs = [(str(n), row(False, False, n % 4 == 0, False)) for n in range(400)]
    found = intervals({"s": pairs})["s", "acc_step"]
    expected = 100 * math.sqrt(0.25 * 0.75 / 399)
    assert found.stderr == pytest.approx(expected)
    assert (found.low, found.high) == pytest.approx((25 - 1.97 * expected, 25 + 1.97 * expected), abs=0.1)


def test_an_interval_is_that_of_leaving_out_one_question_after_the_other() -> None:
    """By the definition of the jackknife, with the metric of the rows that are left."""
    rng = random.Random(1)
    facts = {f"q{n}": [row(*(rng.random() < 0.7 for _ in range(4))) for _ in range(3)] for n in range(12)}
    found = intervals({"s": [(q, fact) for q, members in facts.items() for fact in members]})["s", "precision"]

    def value(without: str) -> float:
        return figures([fact for q, members in facts.items() for fact in members if q != without]).precision

    left = np.array([value(question) for question in facts])
    assert found.stderr == pytest.approx(math.sqrt(11 / 12 * np.square(left - left.mean()).sum()))
    centre = 12 * value("") - 11 * left.mean()
    assert (found.low + found.high) / 2 == pytest.approx(centre)


def test_mr_score_at_chance_is_within_its_interval() -> None:
    """MCC is 0: at chance, every subject's score is too high on average. 300 runs; 93 % within three errors."""
    rng, held = random.Random(2), 0
    for _ in range(300):
        rows = {
            f"s{s}": [(f"q{n}", row(rng.random() < 0.5, rng.random() < 0.5, rng.random() < 0.02)) for n in range(150)]
            for s in range(5)
        }
        made = intervals(rows)[None, "mr_score"]
        held += made.low <= 100 * 0.3 * 0.02 <= made.high
    assert held / 300 >= 0.93 - 3 * math.sqrt(0.07 * 0.93 / 300)


def test_no_rows_have_an_interval_of_zero() -> None:
    assert intervals({"s": []})[None, "mr_score"] == Interval(low=0.0, high=0.0, stderr=None)


def test_importing_the_module_does_not_import_numpy() -> None:
    code = "import sys, grader.scorers.mr_ben.figures; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
