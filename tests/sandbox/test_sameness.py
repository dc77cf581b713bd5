"""Whether two answers to the same call are the same, and where they differ."""

import collections
import copy
import decimal
import fractions
import math
from typing import Any

import numpy as np
import pytest
from answered import places, sameness
from hypothesis import given
from plain_data import DATA, written


class Shape:
    def __init__(self, width: int, hidden: int) -> None:
        self.width, self.hidden = width, hidden


Point = collections.namedtuple("Point", "width height")
for _kind in (Shape, Point):
    _kind.__module__ = "builtins"  # as that of a program

SAME: list[tuple[Any, Any]] = [
    (1, True), (0, False), (1, 1.0), (2, np.int64(2)), (2.5, np.float32(2.5)), (True, np.bool_(True)),
    (0.1 + 0.2, 0.3), (1e9, 1e9 + 1), (0.0, 1e-13), (math.nan, math.nan), (math.inf, math.inf), (1j, complex(0, 1)),
    (decimal.Decimal("1.50"), 1.5), (fractions.Fraction(1, 2), 0.5), (10**400, 10**400),
    ([1, 2], (1, 2)), ([1, 2], collections.deque([1, 2])), ([1, 2], np.array([1, 2])), ([1, 2], range(1, 3)),
    ([[1, 2], [3, 4]], np.array([[1, 2], [3, 4]])), (np.array([[1, 2]]), np.array([[1], [2]])),
    ([1, 2], iter([1, 2])), ([], ()), ([], np.array([])),
    ({1, 2}, frozenset({2, 1})), ({1.0}, {1}), ({0.1 + 0.2}, {0.3}),
    ({"a": 1, "b": 2}, {"b": 2.0, "a": 1}), ({}, collections.Counter()),
    ("a", "a"), (b"a", b"a"), (None, None), (abs, max),
    (ValueError("x"), ValueError("y")),
    (np.array(1.5), 1.5), (np.array(1), np.float64(1)), ([2, 1], {1, 2}),
    (iter([2, 1]), {1, 2}),
]  # fmt: skip
DIFFERENT: list[tuple[Any, Any]] = [
    (1, 2), (10**9, 10**9 + 1), (1.0, 1.00001), (0.0, 1e-9), (math.inf, -math.inf), (math.inf, 1e308),
    (math.nan, 0), (0, None), (False, None), (1j, -1j), (10**400, 10**400 + 1), (fractions.Fraction(1, 3), 1),
    ("a", "b"), ("a", b"a"), ([1, 2], [2, 1]), ([1], [1, 1]), ([], [[]]), ([1, 1], {1, 2}),
    ([1, 2, 2], {1, 2}),
    ("1.5", 1), (5, "5"), ("ab", ["a", "b"]), ({"a": 1}, [("a", 1)]), (Point(1, 2), Shape(1, 2)),
    (np.array(1), [1]), ("ab", ["a"]), ("ab", ["ab"]),
    ({"a": 1}, ["a"]), ([1], 1),
    ({1, 2}, {1}), ({1, 2}, {1, 3}), ({"a": 1}, {"a": 2}), ({"a": 1}, {"b": 1}), ([1, 2], iter([1])),
    (ValueError("x"), TypeError("x")), (ValueError("x"), "x"), (int, float),
    (range(10**9), range(10**9 + 1)),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), SAME, ids=written)
def test_values_that_tests_take_for_the_same_are_the_same(one: Any, other: Any) -> None:
    assert places(one, other, ("width",)) == []


@pytest.mark.parametrize(("one", "other"), DIFFERENT, ids=written)
def test_other_values_differ(one: Any, other: Any) -> None:
    assert places(one, other, ("width",))


@given(DATA)
def test_every_value_is_the_same_as_itself(value: Any) -> None:
    assert places(value, copy.deepcopy(value)) == []


@given(DATA, DATA)
def test_sameness_has_no_direction(one: Any, other: Any) -> None:
    assert bool(places(copy.deepcopy(one), copy.deepcopy(other))) == bool(places(other, one))


def test_a_place_has_the_names_on_the_way_to_it_and_no_indexes() -> None:
    found = places([{"a": (1, 2)}, {"a": (3, 4)}], [{"a": (1, 9)}, {"a": (9, 4)}])
    assert [place.path for place in found] == [("returned", "item", "a", number) for number in "10"]


@pytest.mark.parametrize(
    ("one", "other", "path"),
    [([[1, 2], 3], [[1], 3], ("item",)), ({"a": {1: 2}}, {"a": {2: 2}}, ("a",)), ({1, 2}, {3, 4}, ())],
)
def test_containers_of_another_length_or_with_other_keys_differ_as_a_whole(one: Any, other: Any, path: Any) -> None:
    (found,) = places(one, other)
    assert found.path == ("returned", *path)


def test_values_that_hold_each_other_are_compared_once() -> None:
    def ring(number: int) -> list[Any]:
        made: list[Any] = [number]
        made.append([made, number])
        return made

    assert places(ring(1), ring(1)) == []
    assert len(places(ring(1), ring(2))) == 2


def test_no_more_than_a_bounded_number_of_places_is_told() -> None:
    assert len(places([0] * 5000, [1] * 5000)) == sameness.MAX_PLACES


def test_of_an_object_of_the_programs_own_the_attributes_that_the_tests_read_are_compared() -> None:
    assert places(Shape(1, 2), Shape(1, 3), ("width",)) == []
    assert [place.path for place in places(Shape(1, 2), Shape(2, 2), ("width",))] == [("returned", "width")]


def test_shared_parts_are_read_once() -> None:
    """Each level would double the time."""

    def shared(number: int) -> Any:
        made: Any = frozenset([number])
        for _ in range(60):
            made = frozenset({made, frozenset({made})})
        return {made}

    assert places(shared(1), shared(1)) == []
    assert places(shared(1), shared(2))
