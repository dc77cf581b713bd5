"""What a report says of its samples: where the readings differ, what is unscored, groups and observations."""

from __future__ import annotations

import msgspec
import pytest

from grader.errors import InputError
from grader.results import (
    Metric,
    UnscoredCounts,
    by_group,
    by_observation,
    change,
    count_unscored,
    is_same,
    observations,
    other_than,
    read_facts,
    write_facts,
)
from grader.scorers.choice.facts import SampleFacts
from tests.made_runs import figures, report, sample


def metric(value: float | None) -> Metric:
    return Metric(name="m", reading="careful", value=value, n=1)


def test_the_unscored_are_counted_in_either_reading_and_in_each() -> None:
    samples = [
        sample("a", "unscored", official="correct"),
        sample("b", "correct", official="unscored"),
        sample("c", "unscored"),
        sample("d", "correct"),
    ]
    assert count_unscored(samples) == (3, UnscoredCounts(official=2, careful=2))
    assert count_unscored([]) == (0, UnscoredCounts())


def test_samples_are_grouped_by_every_label_behind_all_of_them() -> None:
    a, b, c = sample("a", "correct", group="k=y"), sample("b", "wrong", group="k=x"), sample("c", "wrong")
    assert by_group([a, b, c]) == {None: [a, b, c], "k=x": [b], "k=y": [a]}
    assert list(by_group([a, b, c])) == [None, "k=x", "k=y"]


def test_an_observation_is_a_unit_or_a_qid_in_the_order_of_the_samples() -> None:
    first, alone, second = sample("u.0", "correct", unit="u"), sample("q", "wrong"), sample("u.1", "wrong", unit="u")
    assert by_observation([first, alone, second]) == {"u": [first, second], "q": [alone]}
    assert list(by_observation([alone, first])) == ["q", "u"]


def test_the_readings_differ_where_their_outcomes_do() -> None:
    same, other = sample("a", "wrong"), sample("b", "wrong", official="correct")
    assert report([same, other]).differences() == [other]


@pytest.mark.parametrize(
    ("official", "careful", "same"),
    [(1.0, 1.0 + 1e-12, True), (1.0, 1.1, False), (None, None, True), (None, 1.0, False), (1.0, None, False)],
)
def test_values_are_the_same_but_for_rounding(official: float | None, careful: float | None, same: bool) -> None:
    assert is_same(metric(official), metric(careful)) is same
    assert not is_same(metric(official), None)


def test_a_metric_that_was_not_judged_has_no_number() -> None:
    assert metric(2.5).number == 2.5
    with pytest.raises(ValueError, match="m was not judged"):
        _ = metric(None).number


def test_a_metric_is_found_by_name_reading_and_group() -> None:
    made = report([], [*figures("accuracy", 50, 2), *figures("accuracy", 25, 1, "k=x")])
    found = made.metric("accuracy", "careful", "k=x")
    assert found is not None
    assert found.value == 25
    assert made.metric("accuracy", "careful", "k=y") is None
    assert other_than("careful") == "official"
    assert other_than("official") == "careful"


def test_a_scorers_facts_are_read_back_and_damaged_ones_are_named() -> None:
    assert read_facts(write_facts(SampleFacts(gold="A")), SampleFacts, "sample q #0") == SampleFacts(gold="A")
    with pytest.raises(InputError, match=r"^sample q #0: .* at `\$.gold`; grade the predictions again$"):
        read_facts(write_facts(SampleFacts(gold="A")).__class__(b'{"gold": 1}'), SampleFacts, "sample q #0")


def test_values_over_other_samples_have_no_difference_and_two_numbers_of_observations() -> None:
    official, careful = figures("accuracy", 10, 10)
    fewer = msgspec.structs.replace(careful, value=70, n=7, bounds=(50, 80))
    assert [change(official, careful), observations(official, careful)] == [0, "10"]
    assert [change(official, fewer), observations(official, fewer)] == [None, "10 and 7"]
    assert [change(None, careful), observations(None, careful)] == [None, "10"]
