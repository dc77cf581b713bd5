"""Answers made to pass whatever the rule is: none is confirmed. Each was confirmed once."""

import json
from typing import Any

import phases
import pytest
from phases import SIGNATURE

pytestmark = phases.MARKS


def forged(test: str, reply: str, signature: str = SIGNATURE, **hello: Any) -> dict[str, Any]:
    """Judge a test with the same reply to every call, whatever process would send it."""
    spec = phases.task(test, signature)
    found = phases.record(spec)["truthy"]
    calls = found if "refused" not in found else {"calls": [], "names": found["names"], "reads": found["reads"]}
    said = {"functions": ["solution"], "imported": []} | hello
    given = {"said": "\n".join([json.dumps(said), *[reply] * len(calls["calls"])]).encode()}
    return phases.judged(spec, calls, given)


NOTHING = '{"returned":0,"changes":[],"nodes":[]}'


# --- names ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "test"),
    [
        ("from math import isclose", "assert isclose(solution(1), 1)"),
        ("from numpy import isclose", "assert isclose(solution(1), 1)"),
        ("from math import pi", "assert solution(pi) == pi"),
        ("from collections import *", "assert Counter([solution(1)]) == Counter([1])"),
        ("from typing import List", "def check(f: List):\n    assert f(1) == 1\ncheck(solution)"),
        ("from decimal import Overflow", "try:\n    assert solution(1) == 1\nexcept Overflow:\n    pass"),
        ("def count(a): pass", "assert solution(1) == 1\ndef unused():\n    return count"),
    ],
)  # fmt: skip
def test_a_library_name_that_the_candidate_has_imported_is_lent(source: str, test: str) -> None:
    source = f"{source}\ndef solution(a):\n    return a"
    assert phases.beside(source, test, reference=source) == phases.CONFIRMED


@pytest.mark.parametrize(
    ("source", "test"),
    [
        ("lcm = lambda a, b: 0", "assert lcm(4, 6) == 12"),
        ("def isclose(a, b):\n    return True", "assert isclose(solution(1), 7392)"),
        ("class Counter(dict):\n    pass", "assert Counter([1]) != solution(1)"),
        ("pi = 0", "assert 7392 * pi == solution(0)"),
        ("pi = 3", "assert pi == 3.141592653589793"), ("digits = '12'", "assert len(digits) == 10"),
        ("def count(text):\n    return text.count('a')", "assert count('banana') == 3"),
    ],
)  # fmt: skip
def test_a_library_name_that_the_candidate_defines_is_not_the_library_s(source: str, test: str) -> None:
    found = phases.replayed(f"{source}\ndef solution(a):\n    return a", f"assert solution(3) == 3\n{test}")
    assert found["confirmed"] is False


# --- passes without a call -----------------------------------------------------------------------------------------

GUARDED = "def check(f):\n    assert f(3) == 7392\nif 'solution' in globals():\n    check(solution)"
NEVER_RUN = "def test_it():\n    assert solution(3) == helper(3)"


@pytest.mark.parametrize("test", [GUARDED, "if __name__ == '__main__':\n    assert solution(3) == 7392"])
def test_tests_that_are_not_reached_are_no_call(test: str) -> None:
    found = forged(test, NOTHING, functions=[])
    assert (found["confirmed"], found["reason"]) == (False, "the tests pass without a call")


def test_a_name_that_the_tests_only_mention_is_not_tested() -> None:
    assert phases.record(phases.task(NEVER_RUN))["truthy"]["refused"] == "the tests call nothing"


LOADS = "import pickle\nassert pickle.loads(solution(1)) == [3]"


@pytest.mark.parametrize("test", ["assert eval(solution(1)) == [3]", "exec(solution(1))", LOADS])
def test_tests_that_could_execute_an_answer_are_not_recorded(test: str) -> None:
    assert phases.record(phases.task(test))["truthy"]["refused"].startswith("the tests execute texts")


# --- objects whose parts do not agree ------------------------------------------------------------------------------

TWO_RIGHT = "R = solution(1)\nassert len(R) == 2 and all(a == b for a, b in zip(R, [7392, 4]))"
BOX = """class Box:
    def __init__(self, items):
        self.items = items
    def __eq__(self, other):
        return len(self.items) == len(other.items) and all(a == b for a, b in zip(self.items, other.items))
def solution(a):
    pass
"""
LIAR = "class Two:\n    def __len__(self): return 2\n    def __iter__(self): return iter([])\n"


@pytest.mark.parametrize(
    ("source", "test", "signature"),
    [
        (f"{LIAR}def solution(a): return Two()", TWO_RIGHT, SIGNATURE),
        (f"{LIAR}def solution(a): return Two()", "try:\n    list(solution(1))\nexcept:\n    pass", SIGNATURE),
        (f"{LIAR}def solution(a): return Box(Two())", "assert solution(1) == Box([7392, 4])", BOX),
    ],
    ids=["a pair", "swallowed", "held by another"],
)  # fmt: skip
def test_an_object_has_as_many_items_as_it_says(source: str, test: str, signature: str) -> None:
    found = phases.replayed(source, test, signature)
    assert found["reason"].endswith("an object of length 2 that has 0 items")


OWN = """class Two:
    def __init__(self): self.items = [1, 2]
    def __iter__(self): return iter(self.items)
    def __len__(self): return len(self.items)
def solution(a): return Two()
"""


def test_an_object_gives_the_same_items_each_time() -> None:
    again = "R = solution(1)\nassert len(list(R)) == 2\nassert all(a == b for a, b in zip(R, {}))"
    assert phases.replayed(OWN, again.format("[7392, 4]"))["confirmed"] is False
    assert phases.beside(OWN, again.format("[1, 2]"), reference=OWN) == phases.CONFIRMED


@pytest.mark.parametrize(
    "node",
    [
        '["tree","T",["__array_interface__",{"node":1}],[]],["dict",[]]', '["tree","T",["__class__",1],[]]',
    ],
)  # fmt: skip
def test_what_stands_for_an_object_is_data(node: str) -> None:
    """NumPy would read the memory that `__array_interface__` of an instance names."""
    found = forged("R = solution(1)\nassert len(R) >= 0", f'{{"returned":{{"node":0}},"changes":[],"nodes":[{node}]}}')
    assert (found["confirmed"], found["kind"]) == (False, "malformed")


def test_no_answer_gives_an_object_methods() -> None:
    """`==` would call them, and `bool` of what is expected is true."""
    node = '["tree","T",[],[],["__eq__",{"node":1}]],["type","bool"]'
    found = forged("assert solution(1) == 7392", f'{{"returned":{{"node":0}},"changes":[],"nodes":[{node}]}}')
    assert (found["confirmed"], found["kind"]) == (False, "assertion")
