"""Where the signature does not say what to write, the tests and the reference solution say it."""

# ruff: noqa: E501 - a whole case on one line is easier to compare with its neighbours

from __future__ import annotations

import ast

from tests.scorers.execution.made import make
from tests.tables import each

TESTS = "assert twice(2) == 4\nassert abs(twice(-1) - isclose(2, 3)) < 3\n"


@each(
    ("signature", "tests", "solution", "stubs", "tested"),
    {
        "the reference decides": ("", TESTS, "def twice(a):\n    return 2 * a\n", ("twice",), ("twice", "isclose")),
        "several names are in question": ("import math", TESTS, None, (), ("twice", "isclose")),
        "a class and a function": ("", "assert twice(Node(1)) == 2", None, ("twice",), ("twice", "Node")),
        "only one is": ("", "x = 1\nassert twice(x) == math.pi\nimport math", None, ("twice",), ("twice",)),
        "a built-in name, defined": ("", "assert sum(1, 2) == 3", "def sum(a, b):\n    return a + b", ("sum",), ("sum",)),
        "the signature says it": ("def twice(a):", "assert twice(2) == 4", "def isclose(a):\n    pass", ("twice",), ()),
    },
)  # fmt: skip
def test_what_is_asked(
    signature: str, tests: str, solution: str | None, stubs: tuple[str, ...], tested: tuple[str, ...]
) -> None:
    made = make("q1", signature, tests, {}, solution)
    assert (made.signature.required_functions, made.names_to_define) == (stubs, tested)
    compile(made.signature.source, "<signature>", "exec")


def test_a_class_is_asked_with_its_methods() -> None:
    solution = "class Node(Base):\n    def __init__(self, x: Missing = 1):\n        self.x = x\n\ndef depth(n):\n    return 1\n"
    made = make("q1", "", "assert depth(Node(1)) == 1", {}, solution).signature
    assert (made.required_functions, made.required_classes) == (("depth",), ("Node",))
    assert "def __init__(self, *args, **kwargs)" in made.source


@each(
    "tests",
    [
        "s = Stack()\ns.push(1)\nassert s.pop() == 1 and [].count(s) == 0",
        "class T:\n    def setup(self): self.s = Stack(2)\n    def test(self): assert self.s.top() is None",
        "assert Stack([1]).push(2).size() == 2",
    ],
)
def test_without_a_solution_a_class_is_asked_that_the_tests_construct(tests: str) -> None:
    assert make("q1", "", tests, {}, None).signature.required_classes == ("Stack",)


def test_several_classes_are_asked() -> None:
    tests = "n = Node(1, Node(2))\nassert Chain(n).size() == 2 and depth(n) == 2"
    assert make("q1", "", tests, {}, None).signature.required_classes == ("Node", "Chain")


def test_a_function_that_only_the_tests_call_is_asked_beside_that_of_the_signature() -> None:
    made = make("q1", "def twice(a):\n", "assert four_times(2) == 8\nassert sum([twice(1)]) == 2", {}, None).signature
    assert made.required_functions == ("twice", "four_times")
    compile(made.source, "<signature>", "exec")


def test_without_a_solution_another_name_is_a_function() -> None:
    """Also with a capital letter, if its calls are only compared."""
    assert make("q1", "", "assert Find_Max([1]) == 1\nassert Find_Max([2])", {}, None).signature.required_classes == ()
    made = make("q1", "", "r = reverse('ab')\nassert r.upper() == 'BA'", {}, None).signature
    assert (made.required_functions, made.required_classes) == (("reverse",), ())


def test_a_reference_keeps_its_constants_and_may_be_a_body_with_an_odd_first_line() -> None:
    made = make("q1", "", "assert scaled(2) == 6", {}, "R = 3\ndef scaled(x):\n    return R * x\n").reference
    assert ast.unparse(ast.parse(made or "")) == "R = 3\n\ndef scaled(x):\n    return R * x"
    body = make("q1", "def f(a):\n    'Doc.'\n", "assert f(1) == 1", {}, " \n    return a\n").reference
    assert ast.unparse(ast.parse(body or "")) == 'def f(a):\n    """Doc."""\n    return a'


def test_a_class_whose_fields_the_signature_has_is_complete() -> None:
    stub = "from dataclasses import dataclass\n@dataclass\nclass Point:\n    x: int\n"
    assert make("q1", stub, "assert Point(1).x == 1", {}, None).signature.source.count("class Point") == 1
