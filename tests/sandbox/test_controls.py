"""Controls: what stands in place of an answer to see whether the tests look at it."""

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


def of(value: Any, other: Any) -> list[Any]:
    return list(controls.of(Answered(value).view, Answered(other).view))


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


def put_values(value: Any, other: Any) -> list[Any]:
    """Return what stands for a value in its controls: plain values, or the items of a container."""
    found = []
    for control in of(value, other):
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


TIMES = datetime.date(2024, 2, 28), datetime.datetime(2024, 2, 28, 5, tzinfo=datetime.UTC), datetime.timedelta(2)


@pytest.mark.parametrize("value", TIMES, ids=repr)
def test_controls_of_a_time_are_other_times(value: Any) -> None:
    other = value + datetime.timedelta(days=3)
    far = datetime.timedelta(days=100_000, seconds=18_461)
    wanted = [Answered(value + step).view.value for step in (far, -far)]
    assert put_values(value, other) == [*wanted, None]


def test_an_iterator_stays_one() -> None:
    for control in of(iter([1, 2]), iter([2]))[:1]:
        messages, part = put(iter([1, 2]), control)
        assert messages.view(part).family == views.ITERATOR


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
    for control in controls.of(one.view, two.view):
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
