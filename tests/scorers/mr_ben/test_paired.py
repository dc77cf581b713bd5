"""The difference of two Mr-Ben runs, paired by question."""

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from grader.scorers.mr_ben.mr_score import METRICS, RowFacts, Weights, count_rows, mean_metrics, metrics_of_counts
from grader.scorers.mr_ben.paired import difference
from grader.statistics.paired import interval
from tests.tables import each

Rows = dict[str, list[tuple[str, RowFacts]]]
MARKS = st.sampled_from((True, False, None))


def row(gold: bool, predicted: bool | None, step: bool | None = False, reason: bool | None = False) -> RowFacts:
    return RowFacts(gold_correct=gold, predicted_correct=predicted, step=step, reason=reason)


RIGHT, FOUND, MISSED, ALARM = row(True, True), row(False, False, True, True), row(False, True), row(True, False)
HALF = row(False, False, True, False)


@st.composite
def runs(draw: st.DrawFn) -> tuple[Rows, Rows]:
    """Two runs of the same solutions."""
    before: Rows = {}
    after: Rows = {}
    for subject in range(draw(st.integers(1, 3))):
        for number, gold in enumerate(draw(st.lists(st.booleans(), min_size=1, max_size=6))):
            for run in (before, after):
                facts = row(gold, draw(MARKS), draw(MARKS), draw(MARKS))
                run.setdefault(f"s{subject}", []).append((f"q{number // 2}", facts))
    return before, after


def value(run: Rows, name: str, subject: str | None = None) -> float:
    """The metric as a report gives it."""
    subjects = [[facts for _, facts in rows] for key, rows in run.items() if subject in (None, key)]
    return float(getattr(mean_metrics([metrics_of_counts(count_rows(rows)) for rows in subjects]), name))


@given(runs(), st.sampled_from(METRICS))
def test_it_is_the_difference_of_the_metrics(pair: tuple[Rows, Rows], name: str) -> None:
    before, after = pair
    found = difference(before, after, name, Weights())
    assert found.value == pytest.approx(value(after, name) - value(before, name), abs=1e-9)
    of_one = difference(before, after, name, Weights(), "s0")
    assert of_one.value == pytest.approx(value(after, name, "s0") - value(before, name, "s0"), abs=1e-9)


def turned_around() -> tuple[Rows, Rows]:
    """From all wrong to all right, in two questions: each of them moves the metric further than its scale is long."""
    wrong = {"s0": [("q0", MISSED), ("q0", MISSED), ("q1", ALARM)]}
    right = {"s0": [("q0", row(False, False)), ("q0", row(False, False)), ("q1", RIGHT)]}
    return wrong, right


@given(runs(), st.sampled_from(METRICS))
@example(turned_around(), "mcc")
def test_its_intervals_hold_it_and_lie_in_each_other(pair: tuple[Rows, Rows], name: str) -> None:
    found = difference(*pair, name, Weights())
    reach = 200 if name == "mcc" else 100
    ends = [-reach, found.ci95[0], found.ci90[0], found.value, found.ci90[1], found.ci95[1], reach]
    assert all(left <= right + 1e-6 for left, right in itertools.pairwise(ends))
    assert 0 < found.p_value <= 1


@given(runs())
def test_a_run_that_says_the_same_in_other_words_does_not_differ(pair: tuple[Rows, Rows]) -> None:
    before, _ = pair
    found = difference(before, {key: list(reversed(rows)) for key, rows in before.items()}, "mr_score", Weights())
    assert (found.value, found.p_value, found.differing) == (0, 1, 0)
    assert found.test == "no difference to test"
    assert found.ci95[0] < 0 < found.ci95[1], "the same outcome on few questions is no certainty"


def test_a_share_is_a_mean_over_questions_and_gets_its_interval() -> None:
    before = {"s": [(f"q{n}", FOUND) for n in range(50)]}
    after = {"s": [(f"q{n}", HALF if n < 6 else FOUND) for n in range(50)]}
    found = difference(before, after, "acc_reason", Weights())
    low, high = interval([-1] * 6 + [0] * 44, 0.9)
    assert (found.value, found.differing, found.n) == (pytest.approx(-12), 6, 50)
    assert found.ci90 == pytest.approx((100 * low, 100 * high))
    assert found.p_value == pytest.approx(2 / 2**6)


def test_subjects_weigh_alike_however_many_questions_they_have() -> None:
    before = {"big": [(f"q{n}", FOUND) for n in range(90)], "small": [(f"q{n}", FOUND) for n in range(10)]}
    after = {"big": before["big"], "small": [(f"q{n}", HALF if n < 6 else FOUND) for n in range(10)]}
    found = difference(before, after, "acc_reason", Weights())
    assert (found.value, found.n) == (pytest.approx(-30), 100)
    assert found.ci90[0] < -30 < found.ci90[1] < 0


def test_the_rows_of_a_question_move_together() -> None:
    before = {"s": [(f"q{n}", FOUND) for n in range(60)]}
    apart = {"s": [(f"q{n}", HALF if n < 12 else FOUND) for n in range(60)]}
    joined = [{"s": [(f"q{int(q[1:]) // 3}", facts) for q, facts in run["s"]]} for run in (before, apart)]
    single, together = difference(before, apart, "acc_reason", Weights()), difference(*joined, "acc_reason", Weights())
    assert (together.value, together.n, together.differing) == (pytest.approx(single.value), 20, 4)
    assert together.ci90[1] - together.ci90[0] > single.ci90[1] - single.ci90[0]


def test_questions_that_only_one_run_has_are_left_out() -> None:
    before = {"s": [("q1", FOUND), ("q2", FOUND)], "t": [("q1", RIGHT)]}
    after = {"s": [("q2", FOUND), ("q3", MISSED)], "t": []}
    found = difference(before, after, "acc_step", Weights())
    assert (found.value, found.n) == (0, 1)


@each(
    ("before", "after", "subject"),
    [({}, {}, None), ({"s": [("q", FOUND)]}, {"s": [("p", FOUND)]}, None), ({"s": [("q", FOUND)]}, {"t": []}, "t")],
)
def test_no_question_in_both_is_an_error(before: Rows, after: Rows, subject: str | None) -> None:
    with pytest.raises(ValueError, match="nothing to compare"):
        difference(before, after, "mr_score", Weights(), subject)
