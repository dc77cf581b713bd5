"""Texts that tests execute: expressions of literals and arithmetic are computed, nothing else."""

from __future__ import annotations

import ast
import math
from typing import Any

import inside
import pytest
from hypothesis import given
from hypothesis import strategies as st

executing = inside.load("tests.executing")
value_format = inside.load("values.value_format")

NUMBER = st.integers(-9, 9) | st.floats(-9, 9).map(abs)
ARITHMETIC = st.recursive(
    NUMBER.map(repr),
    lambda inner: (
        st.tuples(inner, st.sampled_from(["+", "-", "*"]), inner).map("({0[0]} {0[1]} {0[2]})".format)
        | inner.map("(-{})".format)
    ),
    max_leaves=6,
)


def computed(text: str) -> Any:
    return executing.computed(ast.parse(text.strip(), mode="eval").body)


@given(ARITHMETIC)
def test_arithmetic_is_computed_as_python_does(text: str) -> None:
    assert computed(text) == eval(text)


@pytest.mark.parametrize(
    "text",
    ["[1, (2, 'a')]", "{'a': {1, 2}}", "7 // 2 % 2", "2 ** 10", "1 / 4", "True", "None", "b'a'", "-1.5e3", "2j * 2"],
)
def test_literals_are_what_they_are(text: str) -> None:
    assert computed(text) == eval(text)


@pytest.mark.parametrize(
    "text",
    ["x", "f(1)", "[n for n in [1]]", "lambda: 1", "'a'.b", "[1][0]", "'a' * 9", "[1] * 10 ** 9", "1 if 2 else 3",
     "{**{}}", "1 < 2", "1 and 2", "f'{1}'", "9 ** 99999", "(a := 1)", "not 1", "~1", "1 << 9"],
)  # fmt: skip
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        computed(text)


def names(tests: str, trusted: tuple[str, ...] = ()) -> Any:
    noted: list[BaseException] = []

    def note(error: BaseException) -> BaseException:
        noted.append(error)
        return error

    code = compile(tests, "<tests>", "exec")
    return executing.namespace(note, tests, (code,), lambda: trusted), noted


def test_tests_that_execute_nothing_keep_their_built_in_functions() -> None:
    assert names("assert evaluation(1)")[0] == {}


def test_what_is_refused_is_noted_so_that_no_handler_swallows_it() -> None:
    space, noted = names("eval(text)")
    with pytest.raises(value_format.UnconfirmedError):
        space["__builtins__"]["eval"]("open('x')")
    assert len(noted) == 1


@pytest.mark.parametrize(
    "tests", ["eval('abs(-3)')", "for text in [('abs(-3)', 3)]:\n    eval(text[0])", "def f():\n    eval('abs(-3)')"]
)
def test_texts_of_the_tests_are_executed(tests: str) -> None:
    assert names(tests)[0]["__builtins__"]["eval"]("abs(-3)") == 3


def test_texts_of_the_reference_are_executed() -> None:
    space, _ = names("eval(text)", ("math.pi", "x = 3"))
    assert space["__builtins__"]["eval"]("math.pi", {"math": math}) == math.pi
    found: dict[str, Any] = {}
    space["__builtins__"]["exec"]("x = 3", found)
    assert found["x"] == 3
