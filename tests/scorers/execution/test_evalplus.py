"""Answers of functions by EvalPlus' rule (official), and part by part (careful)."""

import json
from decimal import Decimal
from typing import Any

import numpy
import pytest

from grader.scorers.execution.inputs import phase
from grader.scorers.execution.inputs.cases import Cases
from grader.scorers.execution.inputs.comparisons import near_values, same_values
from grader.scorers.execution.inputs.judging import Output
from grader.scorers.execution.inputs.values import answered

ARRAY = numpy.array


def both(expected: Any, given: Any, *, qid: str = "HumanEval/1", function: str = "f") -> tuple[bool, bool]:
    """Return whether an answer is right, in each reading."""
    cases = Cases(inputs=([],), outputs=None, function=function)
    official, careful = phase._as_evalplus(qid, cases, [expected], [Output(given)])
    return official[0], careful[0]


@pytest.mark.parametrize(
    ("expected", "given"),
    [
        pytest.param([1.0, 1.0], [[1, 1], [1, 1]], id="rows for numbers"),
        pytest.param([2.0, 2.0], [[2, 2], [2.0000001, 2]], id="rows that are near"),
        pytest.param([1.0], ARRAY([[1.0]]), id="an array of another shape"),
        pytest.param(1.0, ARRAY([1.0]), id="an array for a number"),
        pytest.param(ARRAY([1.0]), ARRAY([[1.0]]), id="arrays"),
    ],
)
def test_what_only_broadcasting_makes_equal_is_right_officially_and_wrong_carefully(expected: Any, given: Any) -> None:
    assert both(expected, given) == (True, False)


@pytest.mark.parametrize(
    ("expected", "given", "right"),
    [
        pytest.param([1.0, 1.0], [1.0000001, 1], (True, True), id="near"),
        pytest.param([[1.0, 2.0]], [[1.0, 2.0000001]], (False, True), id="near, deeper"),
        pytest.param(ARRAY([[1.0], [2.0]]), ARRAY([[1.0000001], [2.0]]), (False, True), id="arrays of equal shape"),
        pytest.param([1.0, 2.0], ARRAY([1.0, 2.0]), (False, True), id="an array with the items of a list"),
        pytest.param(ARRAY([1.0, 1.0]), ARRAY([[1.0, 1.0]] * 3), (False, False), id="arrays of other shapes"),
        pytest.param([1.0, 2.0], [1.0, 3.0], (False, False), id="another number"),
    ],
)
def test_what_is_near_is_right(expected: Any, given: Any, right: tuple[bool, bool]) -> None:
    assert both(expected, given) == right


def test_what_evalplus_compares_as_sets_is_right_in_both_readings() -> None:
    assert both([1, 2], (2, 1, 1), qid="Mbpp/2", function="similar_elements") == (True, True)


def test_a_named_tuple_is_a_tuple() -> None:
    given = answered(json.dumps({"v": {"r": 0}, "n": [["record", "P", ["x", "y"], [1, {"r": 1}]], ["list", [2]]]}))
    assert same_values([1, [2]], given)
    assert near_values([1, [2]], given)


def test_one_is_true_as_in_python() -> None:
    assert near_values([True, False], [1, 0])
    assert near_values(True, 1)
    assert not near_values(True, 2)


@pytest.mark.parametrize(("expected", "given"), [(("a", "b"), ["a", "b"]), ([("a",)], [["a"]])])
def test_a_list_is_no_tuple_where_tests_compare_with_one(expected: Any, given: Any) -> None:
    """As in the tests of HumanEval/148."""
    assert both(expected, given) == (False, False)
    assert near_values(expected, given)


def test_an_array_is_not_the_list_that_livecodebench_expects() -> None:
    reply = {"v": {"r": 0}, "n": [["array", "<i8", [2], "AQAAAAAAAAACAAAAAAAAAA=="]]}
    given = answered(json.dumps(reply))
    assert not same_values([1, 2], given)
    assert near_values([1, 2], given)


ODD = [
    1, 1.5, [1, 1], 10**400, Decimal("sNaN"), Decimal("1e999999"), numpy.int64(1), numpy.float64(1), ARRAY([1, 2]),
    ARRAY(5), float("nan"), {"a": Decimal("sNaN")}, {1: 10**400}, "a", None, 1j,
]  # fmt: skip


def test_values_that_python_cannot_compare_are_not_right_and_end_no_run() -> None:
    for expected in ODD:
        for given in ODD:
            assert {type(compare(expected, given)) for compare in (same_values, near_values)} == {bool}
    assert not near_values([1, 1], numpy.int64(1))
