"""Texts that tests execute: their own, and never those of an answer."""

import phases
import pytest
from phases import SIGNATURE

pytestmark = phases.MARKS

HIDDEN = "def check(f, want):\n    assert {}\ncheck(solution, 7392)"
"""Tests that have a name for what they expect."""


@pytest.mark.parametrize(
    "test",
    [
        "assert eval(solution(1)) == 7392",
        "want = 7392\nassert eval(solution(1), {**globals(), 'b': 2}) == want",
        HIDDEN.format("eval(f(1), dict(locals())) == want"),
        "space = {}\nexec(solution(1), space)\nassert space",
        "cases = [7392]\nexec(solution(1))\nassert all(solution(case) == case for case in cases)",
        "assert eval(' ' + solution(1)) == 2.5",
        "assert eval(compile(solution(1), '', 'eval')) == 7392",
    ],
)
def test_the_calls_of_tests_that_execute_an_answer_are_not_recorded(test: str) -> None:
    assert phases.record(phases.task(test))["truthy"]["refused"] == "the tests execute the text of an answer"


@pytest.mark.parametrize(
    ("test", "text"),
    [
        ("assert eval(f'{solution(1)}') == 7392", "__import__('os')._exit(0)"),
        ("assert eval(f'{solution(1)}') == 7392", "type('Any', (), {'__eq__': lambda a, b: True})()"),
        ("assert __builtins__['eval'](str(solution(1))) == 7392", "(lambda: 7392)()"),
        ("want = 7392\nassert eval(str(solution(1)), {**globals(), 'b': 2}) == want", "want"),
        (HIDDEN.format("eval(str(f(1)), dict(locals())) == want"), "want"),
        ("cases = [7392]\nexec(str(solution(1)))\nassert all(solution(case) == case for case in cases)", "cases = []"),
    ],
)
def test_a_text_that_the_tests_make_of_an_answer_is_not_executed(test: str, text: str) -> None:
    found = phases.beside(f"def solution(a):\n    return {text!r}", test)
    assert found["reason"] == "the tests execute a text that does not stand in them"


@pytest.mark.parametrize(
    ("test", "text"),
    [
        # Texts of the tests, whatever they name.
        ("a = 5\nfor t, e in [('a + 1', 6), ('2 * a', 10)]:\n    assert eval(t) == e and solution(a) == 'b'", "b"),
        # Libraries execute texts as well.
        ("import collections\nassert collections.namedtuple('P', 'eval')(1).eval == 1 and solution(1) == 'b'", "b"),
        ("import dataclasses as d\n@d.dataclass\nclass A:\n eval: int\nassert A(1).eval == 1 == len(solution(1))", "b"),
    ],
)
def test_texts_that_stand_in_the_tests_are_executed(test: str, text: str) -> None:
    assert phases.beside(f"def solution(a):\n    return {text!r}", test) == phases.CONFIRMED


def test_the_helpers_of_the_signature_execute_no_text_either() -> None:
    signature = f"def value(text):\n    return eval(text)\n\n{SIGNATURE}"
    test = "want = 7392\nassert value(str(solution(1))) == want"
    found = phases.beside("def solution(a):\n    return 'want'", test, signature)
    assert found["reason"] == "the tests execute a text that does not stand in them"
