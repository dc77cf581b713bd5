"""Without a reference solution: what the tests compare answers with takes its place."""

import math
from typing import Any

import inside
import numpy as np
import pytest
from answered import CALL, answered, call, reader, sending
from plain_data import written

expectations = inside.load("tests.expectations")

ANSWER = ["ans", 0]


def found(value: Any, *compared: tuple[Any, Any], calls: Any = None) -> tuple[bool, list[Any], str]:
    """Compare an answer with the values that the tests compare it, or a part of it, with."""
    noted = []
    for expression, other in compared:
        encoder = sending.Encoder({})
        noted.append((expression, encoder.encode(other), encoder.nodes))
    expected = expectations.Expectations(noted, reader(*(calls or [CALL])), ())
    return expected.places(0, answered(value))  # type: ignore[no-any-return]


def test_an_answer_that_is_the_expected_value_differs_nowhere() -> None:
    assert found([1, 2.0], (ANSWER, [1, 2])) == (True, [], "")


def test_several_values_are_alternatives() -> None:
    assert found("b", (ANSWER, "a"), (ANSWER, "b")) == (True, [], "")
    is_compared, places, problem = found("c", (ANSWER, 5), (ANSWER, "b"))
    assert (is_compared, len(places), problem) == (True, 1, "")


@pytest.mark.parametrize(
    ("value", "expression", "expected"),
    [
        ([5, 6], ["item", ANSWER, 1], 6), ([5, 6], ["item", ANSWER, -1], 6), ({"k": 6}, ["item", ANSWER, "k"], 6),
        ([5, [6]], ["item", ["item", ANSWER, 1], 0], 6), ((5, 6), ["nth", ANSWER, 1], 6),
        ({6: 1}, ["nth", ANSWER, 0], 6),
    ],
)  # fmt: skip
def test_a_part_of_an_answer_is_compared_where_it_stands(value: Any, expression: Any, expected: Any) -> None:
    assert found(value, (expression, expected)) == (True, [], "")
    assert found(value, (expression, expected + 1))[1]


@pytest.mark.parametrize("expression", [["item", ANSWER, 9], ["item", ANSWER, "k"], ["attr", ANSWER, "x"]])
def test_a_part_that_an_answer_does_not_have_is_compared_with_nothing(expression: Any) -> None:
    assert found([1], (expression, 1)) == (False, [], "")


def test_an_answer_that_goes_back_into_a_call_has_no_expectation() -> None:
    passed_on = call(arguments=[{"earlier": ["item", ANSWER, 0]}])
    assert found([3], (ANSWER, [4]), calls=[CALL, passed_on]) == (False, [], "")


class Own:
    x = 1


Own.__module__ = "builtins"  # as that of a program


@pytest.mark.parametrize(
    ("value", "text", "is_ordinary"),
    [
        (3.5, "", True), ([{"a": (None, "b")}], "", True), (np.array([1.5]), "", True), (np.float64(1), "", True),
        (math.nan, "", False), ([math.inf], "", False), (math.nan, "assert isnan(x)", True), (math.inf, "INF", True),
        (np.float16(1), "", False), (np.float16(1), "dtype == float16", True), (Own(), "", True),
    ],
    ids=written,
)  # fmt: skip
def test_an_answer_that_is_compared_with_nothing_has_to_be_plain_data(value: Any, text: str, is_ordinary: bool) -> None:
    assert (expectations.ordinary(answered(value), text) == "") is is_ordinary
