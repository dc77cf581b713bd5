"""Whether two answers are the same, where they refer to themselves, are deep, or have very many parts."""

from typing import Any

import inside

from tests.tables import each

sameness = inside.load("judging.sameness")


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


@each(
    ("one", "two", "is_same"),
    {
        "equal deep lists": (nested(1000, 1), nested(1000, 1), True),
        "deep lists with other items": (nested(1000, 1), nested(1000, 2), False),
        "other depths": (nested(100, 1), nested(101, 1), False),
        "rings": (ring(1), ring(1), True),
        "a ring, and the same ring after one item": (ring(1), [1, ring(1)], True),
        "rings with other items": (ring(1), ring(2), False),
        "rings with other inner items": (ring([1, 2]), ring([1, 3]), False),
    },
)
def test_answers_are_the_same(one: Any, two: Any, is_same: bool) -> None:
    assert sameness.are_same(one, two) is is_same


@each(
    ("one", "two"),
    {
        "very many parts that differ at the end": ([0] * 100_001, [*[0] * 100_000, 1]),
        "rings: they have no last leaf": (ring(1), ring(1)),
    },
)
def test_answers_without_all_their_leaves_do_not_have_the_same_ones(one: Any, two: Any) -> None:
    assert not sameness.have_same_leaves(one, two)
