"""Whether an answer that differs from the reference's is of the same kind."""

import collections
import math
from typing import Any

import numpy as np
import pytest
from answered import RAISED, kinds, problem, seen
from plain_data import written

ALIKE: list[tuple[Any, Any]] = [
    (1, 2), (1, 2.5), (2.5, 1j), (1, np.int64(2)), (1.0, np.float64(2)), (np.float32(1), np.float32(2)), (1, -1e6),
    (10**400, 10**405), (10**400, 1.5),
    ("a", "b"), ("a" * 10, "b" * 104), (b"a", b"b"), ("", "x" * 64), ("1.5", "1.75"),
    (True, 1.5), (True, "x"), (True, [1]), (None, False), (False, ""), (None, []), (None, 0), (None, "x"), (3, None),
    ([1, 2], [2, 1]), ([1, 2], (3,)), ([1], {2, 3}), ({1, 2}, [2]), ([1.5], np.array([1.0, 2.0])), ([], [1]),
    ({"a": 1}, {"b": 2}), (collections.Counter("a"), {"b": 2}), (iter([1, 2]), iter([2])), ([["a"]], [["b"], ["c"]]),
]  # fmt: skip
UNLIKE: list[tuple[Any, Any]] = [
    (1.5, math.nan), (1.5, math.inf), (1j, complex(0, math.nan)), (1, 1e7), (1, 10**400),
    (10**400, 10**407), (1, np.float16(2)), (1, np.uint8(2)), (1, "2"), ("2", 1), (1, [1]), ([1], 1), (5, [None]),
    ("a", b"a"), ("a", ""), ("a", "b" * 70),
    (True, 0), (True, None), (True, []), (False, 1), (False, [0]), (None, [1]), (True, math.nan), (None, math.inf),
    ([1], []), ([1], ()), ([1], [math.nan, 2]),
    ([1.5], [1e99, 2]), ({"a": 1}, [1]), ([1], {"a": 1}), ({1, 2}, set()), ([1], iter([1, 2])),
    (iter([1, 2]), [2]), (iter([1]), iter([])), ([1], "ab"), (abs, int), ([1, 2], abs),
]  # fmt: skip


@pytest.mark.parametrize(("expected", "returned"), ALIKE, ids=written)
def test_another_answer_of_the_same_kind_may_be_right(expected: Any, returned: Any) -> None:
    assert problem(expected, returned) == ""


@pytest.mark.parametrize(("expected", "returned"), UNLIKE, ids=written)
def test_an_answer_of_another_kind_is_not_believed(expected: Any, returned: Any) -> None:
    assert problem(expected, returned)


def test_a_number_may_be_as_large_as_the_arguments_allow() -> None:
    assert "much larger" in problem(1, 1e9, largest=1.0)
    assert problem(1, 1e9, largest=1e4) == ""


class OwnError(KeyError):
    pass


OwnError.__module__ = "builtins"  # as that of a program


@pytest.mark.parametrize(
    ("expected", "returned", "is_alike"),
    [
        (ValueError("x"), ValueError("y"), True), (LookupError(), KeyError(1), True),
        (KeyError(1), LookupError(), True), (KeyError(1), OwnError(1), True), (ValueError(), KeyError(1), False),
        (ValueError(), Exception(), False), (Exception(), ValueError(), False), (KeyError(1), IndexError(), False),
    ],
    ids=written,
)  # fmt: skip
def test_exceptions_are_of_one_class_or_one_derived_from_the_other(
    expected: Any, returned: Any, is_alike: bool
) -> None:
    assert kinds.is_related(seen(expected, RAISED), seen(returned, RAISED)) is is_alike
