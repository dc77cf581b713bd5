"""Where a reference solution answers differently from run to run: orders that differ are no orders."""

import inside

from grader.sandbox import values
from grader.scorers.execution.reference_runs import can_vary
from tests.tables import each

varying = inside.load("judging.varying")

LIKE = {
    "another order": ((["a", "b"], ["b", "a"]), ["b", "a"], ["a", "a"]),
    "a third order": ((["a", "b", "c"], ["b", "a", "c"]), ["c", "b", "a"], ["c", "b"]),
    "a tuple": ((("a", "b"), ("b", "a")), ("b", "a"), ("b", "b")),
    "the answer of a run": (("a", "b"), "b", "c"),
    "another kind": (([1], [2]), [2], "2"),
    "nothing": ((["a"], ["b"]), ["b"], []),
}  # fmt: skip


@each("name", list(LIKE))
def test_an_answer_is_that_of_a_run_but_for_an_order_that_differs(name: str) -> None:
    runs, right, wrong = LIKE[name]
    assert (varying.is_like(runs, right), varying.is_like(runs, wrong)) == (True, False)


def test_where_all_runs_agree_an_answer_has_to_be_theirs() -> None:
    assert varying.is_like((["a", "b"],) * 3, ["a", "b"])
    assert not varying.is_like((["a", "b"],) * 3, ["b", "a"])


def test_an_order_that_differs_in_one_call_is_none_in_the_others() -> None:
    answers = [(["a", "b"], ["b", "a"]), (["x", "y"], ["x", "y"])]
    assert varying.varies(answers)
    assert varying.has_other_order(answers)
    assert varying.is_like(answers[1], ["y", "x"], is_unordered=True)
    assert not varying.is_like(answers[1], ["y", "y"], is_unordered=True)


def test_runs_without_a_difference_have_an_order() -> None:
    answers = [(["a", "b"], ["a", "b"]), ([0.1 + 0.2], [0.3])]
    assert not varying.varies(answers)
    assert not varying.has_other_order(answers)


@each(
    ("source", "varies"),
    [
        ("import math\ndef f(x):\n    return sorted(x), math.sqrt(2)", False),
        ("from collections import Counter\ndef f(x):\n    return [k for k, n in Counter(x).items()]", False),
        ("def f(x):\n    return list(x.keys())", False),
        ("def f(x, y):\n    return list(x.keys() - y)", True),
        ("from operator import or_\ndef f(x, y):\n    return list(or_(x.keys(), y.keys()))", True),
        ("def f(x, y):\n    return list(x.keys().__and__(y))", True),
        ("def f(x):\n    return __builtins__['id'](x)", True),
        ("def f(x):\n    return list(map(set, x))", True),
        ("def f(x):\n    return [a for a in {x, 1}]", True),
        ("import random\ndef f(x):\n    return random.random()", True),
        ("import numpy as np\ndef f(x):\n    return np.random.rand()", True),
        ("from numpy import random as r\ndef f(x):\n    return r.rand()", True),
        ("import numpy.random as r\ndef f(x):\n    return r.rand()", True),
        ("import time\ndef f(x):\n    return time.time()", True),
        ("class A:\n    pass\ndef f(x):\n    return str(A())", True),
        ("no Python", True),
    ],
)
def test_a_reference_whose_answers_cannot_vary_answers_once(source: str, varies: bool) -> None:
    assert can_vary(source, [values.call("f", [["a", "b"]])]) is varies


def test_the_order_of_a_set_that_is_given_may_vary() -> None:
    assert can_vary("def f(x):\n    return list(x)", [values.call("f", [{"a", "b"}])])
