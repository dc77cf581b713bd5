"""Calls and answers as people read them."""

import ast
from typing import Any

import inside
import pytest
from answered import HELLO, RETURNED, answered, answers, call, messages, reader
from hypothesis import given
from hypothesis import strategies as st
from plain_data import written

shown = inside.load("tests.shown")

LITERALS = st.recursive(
    st.none() | st.booleans() | st.integers(-999, 999) | st.floats(-9, 9) | st.text(max_size=3) | st.binary(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=2), inner, max_size=2)
    ),
    max_leaves=6,
)


ANSWER = {"earlier": ["ans", 0]}


def text(value: Any, key: str = RETURNED) -> str:
    return str(shown.value(answered(value, key)))


@given(LITERALS)
def test_plain_data_is_shown_as_python_writes_it(value: Any) -> None:
    assert ast.literal_eval(text(value)) == value


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ({3}, "{3}"), (iter([1, 2]), "iter([1, 2])"), (ValueError("no", 1), "ValueError('no', 1)"),
        (float("nan"), "nan"), (range(3), "[0, 1, 2]"), ([[[[[[[[1]]]]]]]], "[[[[[[[...]]]]]]]"),
    ],
    ids=written,
)  # fmt: skip
def test_other_values_are_shown_by_their_contents(value: Any, wanted: str) -> None:
    assert text(value) == wanted


def test_a_long_text_is_cut_and_shown_to_be() -> None:
    found = text(["x" * 50] * 1000)
    assert (len(found), found[:4], found[-3:]) == (shown.MAX_TEXT, "['xx", "...")
    assert len(text("y" * (shown.MAX_TEXT - 2))) == shown.MAX_TEXT


@pytest.mark.parametrize(
    ("made", "wanted"),
    [
        (call([3, 1], "a"), "solution([3, 1], 'a')"), (call(named=[["key", None]]), "solution(key=None)"),
        (call(1, named=[["key", 2]]), "solution(1, key=2)"),
        (call(arguments=[ANSWER]), "solution(Box(5))"), (call(2, target=["ans", 1]), "Box(5).push(2)"),
        (call(target=["attr", ["ans", 0], "pop"]), "Box(5).pop()"),
        (call(target=["item", ["ans", 0], "k"]), "Box(5)['k']()"),
        (call(target=["op", "len"], arguments=[ANSWER]), "len(Box(5))"),
        (call(target=["op", "eq"], arguments=[ANSWER, ANSWER]), "Box(5) == Box(5)"),
        (call(target=["op", "getitem"], arguments=[ANSWER, 3]), "Box(5)[3]"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_a_call_is_shown_as_source(made: Any, wanted: str) -> None:
    calls = [call(5, target=["name", "Box"]), call(target=["op", "getattr"], arguments=[ANSWER, "push"])]
    assert shown.call(reader(*calls, made), 2) == wanted


SIGNATURE = "import enum\nclass Color(enum.Enum):\n    RED = 1\nclass Stack:\n    pass\n"


@pytest.mark.parametrize(
    ("node", "wanted"),
    [
        (["object", "Stack", False, 0], "<Stack object>"), (["enum", "Color", "RED"], "Color.RED"),
        (["type", "int"], "int"), (["timedelta", [1, 2, 3]], "timedelta(1, 2, 3)"),
    ],
)  # fmt: skip
def test_what_is_no_plain_data_is_named(node: list[Any], wanted: str) -> None:
    made = answers.Reader({"classes": ["Color", "Stack"], "stubs": ["Stack"]}, SIGNATURE, [call()])
    said = made.said([HELLO, messages.Reply(RETURNED, {"node": 0}, [node]).written().decode()])
    assert shown.value(said.answers[0].value) == wanted
