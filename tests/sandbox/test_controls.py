"""Controls: what stands in place of an answer to see whether the tests look at it."""

import math
from typing import Any

import inside
import numpy as np
import pytest
from answered import answered, sameness, seen, views
from hypothesis import assume, example, given
from plain_data import DATA, written

controls = inside.load("tests.controls")


def of(value: Any, other: Any) -> list[Any]:
    return list(controls.of(seen(value), seen(other)))


def put_values(value: Any, other: Any) -> list[Any]:
    """Return what stands for a value in its controls: plain values, or the items of a container."""
    found = map(views.view, of(value, other))
    return [[*one.parts] if one.family in views.CONTAINERS else one.value for one in found]


def same(found: list[Any], wanted: list[Any]) -> bool:
    return repr(found) == repr(wanted)


CONTROLS: list[tuple[Any, Any, list[Any]]] = [
    (3, 4, [math.nan, 1e200, 0, -3, None]), (3, -3, [math.nan, 1e200, 0, None]), (0, 4, [math.nan, 1e200, None]),
    (2.5, 1, [math.nan, 1e200, 0, -2.5, None]), (math.nan, 1, [1e200, 0, None]), (True, False, [False, None]),
    (True, 3, [math.nan, 1e200, 0, -1, None]), (3, True, [math.nan, 1e200, 0, -3, None]), ("a", True, [False]),
    ([1], True, [False]), ([], False, [True]),
    ("a", "b", ["", controls.UNRELATED, None]), ("", "b", [controls.UNRELATED, None]),
    (b"a", b"b", [b"", controls.UNRELATED.encode(), None]), (b"", b"b", [controls.UNRELATED.encode(), None]),
    (None, 3, [True]), (3, None, [math.nan, 1e200, 0, -3]), ([1, 2], [2, 1], [[], None]), ([1], [], [None]),
    ({1: 2}, {2: 3}, [[], None]), (abs, max, [None]),
]  # fmt: skip


@pytest.mark.parametrize(("value", "other", "wanted"), CONTROLS, ids=written)
def test_the_controls_of_a_value(value: Any, other: Any, wanted: list[Any]) -> None:
    assert same(put_values(value, other), wanted)


def test_an_iterator_stays_one() -> None:
    assert [views.view(control).family for control in of(iter([1, 2]), iter([2]))[:1]] == [views.ITERATOR]


@example(value=[1, 2], other=[1])
@example(value=[1, 2], other=[1, 2, 0])
@example(value=[[], [1]], other=[[]])
@example(value={1: 1, 2: 2}, other={1: 1})
@example(value=np.array([1, 2]), other=np.array([1]))
@given(DATA, DATA)
def test_no_control_equals_either_answer(value: Any, other: Any) -> None:
    one, two = answered(value), answered(other)
    assume(sameness.Comparison(()).places(0, one, two))
    # Values of other kinds are not tried: an empty text is the same as an empty list.
    assume(views.view(one).family == views.view(two).family or value is None or other is None)
    known = {sameness.exact(one), sameness.exact(two)}
    for control in controls.of(views.view(one), views.view(two)):
        assert sameness.exact(control) not in known, controls.named(control)


@pytest.mark.parametrize(
    "value",
    [[1, 2, 3], (1, 2, 3), {"a": 1, "b": 2, "c": 3}, np.array([1, 2, 3]), np.array([1.0, 2.0, 3.0])],
    ids=written,
)  # fmt: skip
@pytest.mark.parametrize("new", [0, 1e200, None])
def test_only_the_place_is_replaced(value: Any, new: Any) -> None:
    before = seen(value)
    (place,) = sameness.Comparison(()).places(0, before.it, _with_another(before.it))
    found = views.view(views.put(before.it, place.ways[0], new))
    assert [views.view(one).value for one in found.parts] == [1, new, 3]


def _with_another(value: Any) -> Any:
    """Return the value with another second part."""
    if isinstance(value, dict):
        return value | {"b": 7}
    made = views.copied(value)
    if isinstance(value, np.ndarray):
        made.reshape(-1)[1] = 7
        return made
    return type(value)([1, 7, 3])
