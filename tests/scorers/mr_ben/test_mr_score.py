"""MR-Score and its parts."""

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.scorers.mr_ben.mr_score import (
    METRICS,
    RowFacts,
    SubjectMetrics,
    bounds,
    count_rows,
    jackknife_intervals,
    mean_metrics,
    metrics_of_counts,
)
from tests.tables import each

FACTS = st.builds(
    RowFacts,
    gold_correct=st.booleans(),
    predicted_correct=st.sampled_from((True, False, None)),
    step=st.sampled_from((True, False, None)),
    reason=st.sampled_from((True, False, None)),
    lost=st.booleans(),
)


def row(gold: bool, predicted: bool | None, step: bool | None = False, reason: bool | None = False) -> RowFacts:
    return RowFacts(gold_correct=gold, predicted_correct=predicted, step=step, reason=reason)


def metrics_of(rows: list[RowFacts]) -> SubjectMetrics:
    return metrics_of_counts(count_rows(rows))


@each(
    ("rows", "score"),
    [
        ([], 0.0),
        ([row(True, False), row(False, False, True, True)], 80.0),
        ([row(True, None), row(False, None)], 0.0),
        ([row(True, True)] * 3, 0.0),
        ([row(False, False, True, False)] * 3, 30.0),
    ],
)
def test_a_one_sided_subject_gets_a_score(rows: list[RowFacts], score: float) -> None:
    assert metrics_of(rows).mr_score == pytest.approx(score)


def test_a_negative_correlation_costs_nothing() -> None:
    found = metrics_of([row(True, False), row(False, True)])
    assert (found.mcc, found.mr_score) == (-100.0, 0.0)


def test_the_mean_weighs_subjects_alike() -> None:
    big, small = metrics_of([row(False, False, True, True)] * 9), metrics_of([row(False, False)])
    mean = mean_metrics([big, small])
    assert (mean.acc_step, mean.mr_score, mean.counts.scored_rows, mean.counts.step) == (50.0, 40.0, 10, 9)
    assert mean_metrics([]).mr_score == 0.0


def test_unscored_rows_leave_their_share_and_are_bounded() -> None:
    counts = count_rows([row(False, False, True, None), row(False, False, True, True)])
    low, high = bounds(counts)
    assert metrics_of_counts(counts).acc_reason == 100.0
    assert (low.acc_reason, high.acc_reason, counts.reason_unscored) == (50.0, 100.0, 1)


@given(st.lists(FACTS))
def test_metrics_are_percentages_and_lie_within_their_bounds(rows: list[RowFacts]) -> None:
    found = metrics_of(rows)
    low, high = bounds(found.counts)
    for name in METRICS:
        value = getattr(found, name)
        assert (-100 if name == "mcc" else 0) - 1e-9 <= value <= 100 + 1e-9
        assert getattr(low, name) <= getattr(high, name)
    assert low.acc_step <= found.acc_step + 1e-9 or found.counts.step_unscored == found.counts.tn + found.counts.fp


def test_questions_that_are_all_alike_are_no_certainty() -> None:
    pairs = [(f"q{n}", facts) for n in range(20) for facts in (row(True, True), row(False, False, True, False))]
    found = jackknife_intervals({"physics": pairs})
    made = found["physics", "mr_score"]
    assert made.stderr is None
    assert made.low < 49
    assert made.high > 51
    assert set(found) == {(subject, name) for subject in ("physics", None) for name in METRICS}


def test_a_questions_rows_stay_together() -> None:
    facts = [row(False, False, n % 2 == 0, False) for n in range(100)]
    apart = jackknife_intervals({"s": [(str(n), fact) for n, fact in enumerate(facts)]})
    together = jackknife_intervals({"s": [(str(n // 2), fact) for n, fact in enumerate(facts)]})
    assert together["s", "acc_step"].stderr is None
    assert apart["s", "acc_step"].stderr == pytest.approx(100 * math.sqrt(0.25 / 99))


def test_an_interval_is_that_of_leaving_out_one_question_after_the_other() -> None:
    """By the definition of the jackknife, with the metric of the rows that are left."""
    rng = random.Random(1)
    facts = {f"q{n}": [row(*(rng.random() < 0.7 for _ in range(4))) for _ in range(3)] for n in range(12)}
    found = jackknife_intervals({"s": [(q, fact) for q, members in facts.items() for fact in members]})[
        "s", "precision"
    ]

    def value(without: str) -> float:
        return metrics_of([fact for q, members in facts.items() for fact in members if q != without]).precision

    left = np.array([value(question) for question in facts])
    assert found.stderr == pytest.approx(math.sqrt(11 / 12 * np.square(left - left.mean()).sum()))
    centre = 12 * value("") - 11 * left.mean()
    assert (found.low + found.high) / 2 == pytest.approx(centre)
