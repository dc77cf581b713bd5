"""Controls: what stands in place of an answer to see whether the tests look at it."""

import collections
import datetime
import math
from typing import Any

import inside
import numpy as np
import pytest
from answered import Answered, answer, sameness, views
from hypothesis import assume, example, given
from plain_data import DATA, written

controls = inside.load("tests.controls")


def of(value: Any, other: Any, *, is_whole: bool = False, near: bool = False) -> list[Any]:
    one, two = Answered(value), Answered(other)
    return list(controls.of(one.view, two.view, parts_are_same(one, two), is_whole=is_whole, near=near))


def parts_are_same(one: Answered, other: Answered) -> Any:
    """Return a function that says whether parts of two answers are the same."""
    return lambda a, b: sameness.exact(one.messages, a) == sameness.exact(other.messages, b)


def put(value: Any, control: Any, *keys: int) -> Any:
    """Return the view of a value of which a part, or the whole, has been replaced."""
    made = Answered(value)
    part = made.part
    for key in keys:
        part = made.messages.view(part).parts[key]
    texts = controls.changed(made.texts, [(part, control)])
    messages = views.Messages(texts[0], texts[1:], [{"n": [], "m": []}])
    messages.next()
    return messages, answer(messages)


def put_values(value: Any, other: Any, *, is_whole: bool = False, near: bool = False) -> list[Any]:
    """Return what stands for a value in its controls: plain values, or the items of a container."""
    found = []
    for control in of(value, other, is_whole=is_whole, near=near):
        messages, part = put(value, control)
        view = messages.view(part)
        found.append([one.atom for one in view.parts] if view.family in views.CONTAINERS else view.value)
    return found


def same(found: list[Any], wanted: list[Any]) -> bool:
    return repr(found) == repr(wanted)


CONTROLS: list[tuple[Any, Any, list[Any]]] = [
    (3, 4, [math.nan, 1e200, 0, -3, None]), (3, -3, [math.nan, 1e200, 0, None]), (0, 4, [math.nan, 1e200, None]),
    (2.5, 1, [math.nan, 1e200, 0, -2.5, None]), (math.nan, 1, [1e200, 0, None]), (True, False, [False, None]),
    (True, 3, [False, None]), (3, True, [False]), ([1], True, [False]), ([], False, [True]),
    ("a", "b", ["", controls.UNRELATED, None]), ("", "b", [controls.UNRELATED, None]),
    (b"a", b"b", [b"", controls.UNRELATED.encode(), None]), (b"", b"b", [controls.UNRELATED.encode(), None]),
    (None, 3, [True]), (3, None, [math.nan, 1e200, 0, -3]), ([1, 2], [2, 1], [[], None]), ([1], [], [None]),
    ({1: 2}, {2: 3}, [[], None]), (abs, max, [None]),
]  # fmt: skip


@pytest.mark.parametrize(("value", "other", "wanted"), CONTROLS, ids=written)
def test_the_controls_of_a_value(value: Any, other: Any, wanted: list[Any]) -> None:
    assert same(put_values(value, other), wanted)


@pytest.mark.parametrize(
    "value", [[1, 2], (1, 2), collections.deque([1, 2]), np.array([1, 2]), {1: 1, 2: 2}, range(1, 3)], ids=written
)
def test_a_container_that_differs_as_a_whole_is_tried_without_an_item(value: Any) -> None:
    found = put_values(value, [3], is_whole=True)
    more = [] if isinstance(value, dict) else [[1, 2, 0], [1, 2, 1]]
    assert same(found, [[], [1], *more, None])


TIMES = datetime.date(2024, 2, 28), datetime.datetime(2024, 2, 28, 5, tzinfo=datetime.UTC), datetime.timedelta(2)


@pytest.mark.parametrize("value", TIMES, ids=repr)
def test_controls_of_a_time_are_other_times(value: Any) -> None:
    other = value + datetime.timedelta(days=3)
    far = datetime.timedelta(days=100_000, seconds=18_461)
    steps = [far, -far, *map(datetime.timedelta, (1, -1, 28))]
    wanted = [Answered(value + step).view.value for step in steps]
    assert [*put_values(value, other)[:2], *put_values(value, other, near=True)[3:]] == wanted


def test_an_iterator_stays_one() -> None:
    for control in of(iter([1, 2]), iter([2]), is_whole=True)[:2]:
        messages, part = put(iter([1, 2]), control)
        assert messages.view(part).family == views.ITERATOR


NEAR: list[tuple[Any, Any, list[Any]]] = [
    (3, 7, [4, 2, 6]), (3, 4, [2, 6]), (1 << 60, 1, [(1 << 60) + 1, (1 << 60) - 1, 1 << 61]),
    (2.5, 7.5, [2.525, 2.475]),
    (200.0, 7, [202.0, 198.0]), (0.0, 1.5, [0.01, -0.01]), (1j, 2j, [0.01 + 1j, -0.01 + 1j]), (True, False, []),
    ("Ab3d", "xyz", ["aB3D", "Ab0d", "Ab3a"]), ("a", "c", ["A", "b"]), ("...", "c", []),
    (b"ab0", b"c", [b"AB0", b"aa0", b"ab1"]),
    ([1, 2, 3], [1], [[1, 1, 3], [1, 3, 3]]), ([1, 1], [1], [[1, 2]]), ((1, "a"), [1], [[1, 1], [1, "b"]]),
    ({1: 2, 3: 4}, {1: 2}, [[2, 2], [2, 5]]), ({5, 7}, {5}, [[5, 8]]), ([[1], [2]], [[1]], 1), ([1], [], []),
    (np.array([1.5, 2.5]), [1.5], [[1.5, 1.5], [1.5, 2.525]]), (None, 3, []), (3, "a", []), (abs, max, []),
]  # fmt: skip


@pytest.mark.parametrize(("value", "other", "wanted"), NEAR, ids=written)
def test_the_controls_that_are_near_a_value(value: Any, other: Any, wanted: Any) -> None:
    known = len(of(value, other, is_whole=True))
    found = put_values(value, other, is_whole=True, near=True)[known:]
    assert len(found) == wanted if isinstance(wanted, int) else same(found, wanted)


@pytest.mark.parametrize(
    ("one", "other", "is_near"),
    [
        (1.0, 1.009, True), (1.0, 1.02, False), (500.0, 504.0, True), (0.0, 0.01, True), (3, 4, False),
        (3, 3.001, False),
        (2 + 0j, 2.001 + 0j, True), (math.nan, 1.0, False), ("Yes no", "yes  NO\n", True), ("ab", "a b", True),
        ("a", b"a", False), (b"A", b"a", True), ([1.0], [1.001], False),
    ],
    ids=written,
)  # fmt: skip
def test_values_are_near_that_differ_in_what_tests_often_ignore(one: Any, other: Any, is_near: bool) -> None:
    assert controls.is_near(Answered(one).view, Answered(other).view) is is_near


@example(value=[1, 2], other=[1])
@example(value=[1, 2], other=[1, 2, 0])
@example(value=[[], [1]], other=[[]])
@example(value={1: 1, 2: 2}, other={1: 1})
@example(value=np.array([1, 2]), other=np.array([1]))
@given(DATA, DATA)
def test_no_control_equals_either_answer(value: Any, other: Any) -> None:
    one, two = Answered(value), Answered(other)
    assume(sameness.Comparison(one.messages, two.messages, ()).places(0, one.part, two.part))
    # Values of other kinds are not tried: an empty text is the same as an empty list.
    assume(one.view.family == two.view.family or value is None or other is None)
    for control in controls.of(one.view, two.view, parts_are_same(one, two), is_whole=True):
        texts = controls.changed(one.texts, [(one.part, control)])
        messages = views.Messages(texts[0], texts[1:], [{"n": [], "m": []}])
        messages.next()
        answers = {sameness.exact(own.messages, own.part) for own in (one, two)}
        assert sameness.exact(messages, answer(messages)) not in answers, str(control)


@pytest.mark.parametrize(
    "value",
    [[1, 2, 3], (1, 2, 3), {"a": 1, "b": 2, "c": 3}, np.array([1, 2, 3]), np.array([1.0, 2.0, 3.0]),
     np.array([[1], [2], [3]]), np.array([1, 2, 3], dtype=object)],
    ids=written,
)  # fmt: skip
@pytest.mark.parametrize("atom", [0, 1e200, None])
def test_only_the_place_is_replaced(value: Any, atom: Any) -> None:
    messages, part = put(value, controls.Control(atom), 1)
    found = [messages.view(one).value for one in messages.view(part).parts]
    assert found == [1, atom, 3]
    assert messages.view(part).shape == Answered(value).view.shape
