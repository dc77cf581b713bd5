"""What a report says of its samples: where the readings differ, what is unscored, groups and observations."""

import msgspec

from grader.results import (
    Calls,
    FirstDifference,
    Metric,
    Outcome,
    Reading,
    SampleResult,
    is_same,
    observation_counts,
    reading_change,
)
from tests.made_runs import figures
from tests.tables import each


def metric(value: float | None) -> Metric:
    return Metric(name="m", reading="careful", value=value, n=1)


@each(
    ("official", "careful", "same"),
    [(1.0, 1.0 + 1e-12, True), (1.0, 1.1, False), (None, None, True), (None, 1.0, False), (1.0, None, False)],
)
def test_values_are_the_same_but_for_rounding(official: float | None, careful: float | None, same: bool) -> None:
    assert is_same(metric(official), metric(careful)) is same
    assert not is_same(metric(official), None)


def test_values_over_other_samples_have_no_difference_and_two_numbers_of_observations() -> None:
    official, careful = figures("accuracy", 10, 10)
    fewer = msgspec.structs.replace(careful, value=70, n=7, bounds=(50, 80))
    assert [reading_change(official, careful), observation_counts(official, careful)] == [0, "10"]
    assert [reading_change(official, fewer), observation_counts(official, fewer)] == [None, "10 and 7"]
    assert [reading_change(None, careful), observation_counts(None, careful)] == [None, "10"]


def test_a_call_explains_what_a_program_lost_and_not_a_reply_without_one() -> None:
    first = FirstDifference(call="f(1)", expected="2", returned="3")
    failed, unread = (Reading(outcome=outcome, credit=0) for outcome in (Outcome.FAILED, Outcome.NO_ANSWER))
    sample = SampleResult(qid="q", sample=0, official=failed, careful=unread, calls=Calls(n=1, same=0, first=first))
    assert [sample.explaining_call(reading) for reading in (failed, unread)] == [first, None]
