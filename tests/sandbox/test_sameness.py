"""Whether two answers are the same, where they refer to themselves, are deep, or have very many parts."""

from typing import Any

import inside
import pytest

sameness = inside.load("judging.sameness")
values = inside.load("values")


def nested(depth: int, inner: Any) -> Any:
    """Return an item in so many lists."""
    for _ in range(depth):
        inner = [inner]
    return inner


def ring(*items: Any) -> list[Any]:
    """Return a list that ends with itself."""
    found: list[Any] = [*items]
    found.append(found)
    return found


@pytest.mark.parametrize(
    ("one", "two", "is_same"),
    [
        pytest.param(nested(1000, 1), nested(1000, 1), True, id="equal deep lists"),
        pytest.param(nested(1000, 1), nested(1000, 2), False, id="deep lists with other items"),
        pytest.param(nested(100, 1), nested(101, 1), False, id="other depths"),
        pytest.param(ring(1), ring(1), True, id="rings"),
        pytest.param(ring(1), [1, ring(1)], True, id="a ring, and the same ring after one item"),
        pytest.param(ring(1), ring(2), False, id="rings with other items"),
        pytest.param(ring([1, 2]), ring([1, 3]), False, id="rings with other inner items"),
    ],
)
def test_answers_are_the_same(one: Any, two: Any, is_same: bool) -> None:
    assert sameness.same(one, two) is is_same


@pytest.mark.parametrize(
    ("one", "two"),
    [
        pytest.param([0] * 100_001, [*[0] * 100_000, 1], id="very many parts that differ at the end"),
        pytest.param(ring(1), ring(1), id="rings: they have no last leaf"),
    ],
)
def test_answers_without_all_their_leaves_have_not_the_same_ones(one: Any, two: Any) -> None:
    assert not sameness.same_leaves(one, two)
