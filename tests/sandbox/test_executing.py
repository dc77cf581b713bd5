"""Texts that tests execute: expressions of literals and arithmetic are computed, nothing else."""

import ast
from typing import Any

import inside
import phases
import pytest
from hypothesis import given
from hypothesis import strategies as st
from phases import SIGNATURE

pytestmark = phases.MARKS

executing = inside.load("tests.executing")

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


@pytest.mark.parametrize("text", ["[1, (2, b'a')]", "{'a': {1, None}}", "7 // 2 % 2", "2 ** 10", "1 / 4", "2j * 2"])
def test_literals_are_what_they_are(text: str) -> None:
    assert computed(text) == eval(text)


@pytest.mark.parametrize(
    "text",
    ["x", "f(1)", "[n for n in [1]]", "'a'.b", "[1][0]", "[1] * 10 ** 9", "1 if 2 else 3", "{**{}}", "1 < 2",
     "1 and 2", "f'{1}'", "9 ** 99999", "(a := 1)", "not 1", "~1", "1 << 9"],
)  # fmt: skip
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        computed(text)


# --- as the tests do it ---

HIDDEN = "def check(f, want):\n    assert {}\ncheck(solution, 7392)"
"""Tests that have a name for what they expect."""


@pytest.mark.parametrize(
    ("test", "text"),
    [
        ("assert eval(solution(1)) == 7392", "__import__('os')._exit(0)"),
        ("assert eval(solution(1)) == 7392", "type('Any', (), {'__eq__': lambda a, b: True})()"),
        ("assert __builtins__['eval'](solution(1)) == 7392", "(lambda: 7392)()"),
        ("want = 7392\nassert eval(solution(1), {**globals(), 'b': 2}) == want", "want"),
        (HIDDEN.format("eval(f(1), dict(locals())) == want"), "want"),
        ("import math\nassert math.isclose(eval(solution(1)), 7392)", "[5 for math.isclose in [print]][-1]"),
        ("assert eval(solution(1))", "'a' * 10 ** 12"),
    ],
)
def test_no_text_of_a_program_is_executed(test: str, text: str) -> None:
    found = phases.beside(f"def solution(a):\n    return {text!r}", test)
    assert found["reason"].startswith("the tests execute a text that does more than compute")


@pytest.mark.parametrize(
    ("test", "text"),
    [
        ("assert eval(solution(1)) == 24", "(1 + 3) * 6"),
        ("assert eval(' ' + solution(1)) == 2.5", " -5 / -2"),
        ("assert eval(solution(1)) == [1, {'b': (None, True)}]", "[1, {'b': (None, True)}]"),
        # Texts of the tests, whatever they name.
        ("a = 5\nfor t, e in [('a + 1', 6), ('2 * a', 10)]:\n    assert eval(t) == e and solution(a) == 'b'", "b"),
        # Libraries execute texts as well.
        ("import collections\nassert collections.namedtuple('P', 'eval')(1).eval == 1 and solution(1) == 'b'", "b"),
        ("import dataclasses as d\n@d.dataclass\nclass A:\n eval: int\nassert A(1).eval == 1 == len(solution(1))", "b"),
    ],
)  # fmt: skip
def test_a_text_that_computes_with_literals_is_computed(test: str, text: str) -> None:
    assert phases.beside(f"def solution(a):\n    return {text!r}", test) == phases.CONFIRMED


def test_the_helpers_of_the_signature_execute_no_text_either() -> None:
    signature = f"def value(text):\n    return eval(text)\n\n{SIGNATURE}"
    test = "want = 7392\nassert value(solution(1)) == want"
    found = phases.beside("def solution(a):\n    return 'want'", test, signature)
    assert found["reason"].startswith("the tests execute a text that does more than compute")
    assert phases.beside("def solution(a):\n    return '7000 + 392'", test, signature) == phases.CONFIRMED
