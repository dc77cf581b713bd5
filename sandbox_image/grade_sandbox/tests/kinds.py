"""Whether an answer that differs from the reference's is of the same kind, and so may be right as well."""

from __future__ import annotations

import math

from grade_sandbox.tests import views
from grade_sandbox.tests.views import every, is_finite
from grade_sandbox.values.constructed import ITERATOR, NONE, NUMBER, SEQUENCE, SET, TEXT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from grade_sandbox.tests.sameness import Place
    from grade_sandbox.tests.views import View

LARGEST = 10**6
"""How many times larger than any number of the reference and the arguments a number may be."""
TEXT_TIMES, TEXT_MORE = 4, 64
_PLAIN_NUMBERS = {
    "bool", "int", "float", "complex", "decimal", "fraction",
    "numpy.bool", "numpy.bool_", "numpy.int64", "numpy.float64", "numpy.complex128",
}  # fmt: skip


class Kinds:
    """Says why an answer is not of the reference's kind."""

    def __init__(self, largest: Any) -> None:
        """`largest`: the largest number in the reference's answer and the arguments."""
        self._limit = LARGEST * max(1, largest)

    def problem(self, place: Place) -> str:
        """Return how the answer differs in kind; empty if it does not."""
        one, other = views.view(place.expected), views.view(place.returned)
        if is_truth(one) or is_truth(other):
            is_beside_none = NONE in {one.family, other.family} and not (is_truth(one) and is_truth(other))
            if is_beside_none and {one.family, other.family} & {NUMBER, TEXT}:
                return _sentence(self.odd(other))
            if truth(one) != truth(other):
                return f"the answer counts as {truth(other)}, and the expected one as {truth(one)}"
            return _sentence(self.odd(other))
        if one.family == other.family or {one.family, other.family} == {SET, SEQUENCE}:
            return self._same_family(one, other)
        return _other_kind(one, other)

    def _same_family(self, one: View, other: View) -> str:
        if one.family == NUMBER:
            return _sentence(self.odd(other, one.name))
        if one.family == TEXT:
            return _text_problem(one, other)
        if one.family in views.CONTAINERS:
            return self._container_problem(one, other)
        # Another class of exception is tried by a control.
        return "" if one.name == other.name else _other_kind(one, other)

    def odd(self, view: View, named: str = "") -> str:
        """Return why a number is none that may stand for another one; empty if it may, or is no number."""
        if view.family != NUMBER:
            return ""
        if not is_finite(view.value):
            return "a number that is not finite"
        if view.name not in _PLAIN_NUMBERS and view.name != named:
            return f"a number of type {view.name}"
        return "" if _size(view.value) <= self._limit else "a number that is much larger than expected"

    def _container_problem(self, one: View, other: View) -> str:
        if one.parts and not other.parts:
            return _EMPTY
        names = {view.name for view in every([*one.keys, *one.parts])}
        for view in every([*other.keys, *other.parts]):
            if problem := self.odd(view, view.name if view.name in names else ""):
                return f"the answer contains {problem}"
        return ""


_EMPTY = "the answer is empty, and the expected one is not"


def _sentence(odd: str) -> str:
    return odd and f"the answer is {odd}"


def _other_kind(one: View, other: View) -> str:
    return f"the answer is of type {other.shown}, and the expected one of type {one.shown}"


def is_truth(view: View) -> bool:
    """Whether a value is one that stands for true or false."""
    return view.family == NONE or view.name in {"bool", "numpy.bool", "numpy.bool_"}


def truth(view: View) -> bool:
    """Return whether a value counts as true."""
    if view.family in {NUMBER, TEXT}:
        return bool(view.value)
    if view.family in views.CONTAINERS - {ITERATOR}:
        return bool(view.parts)
    return view.family != NONE


def _text_problem(one: View, other: View) -> str:
    if isinstance(one.value, str) != isinstance(other.value, str):
        return _other_kind(one, other)
    if one.value and not other.value:
        return _EMPTY
    if len(other.value) > TEXT_TIMES * len(one.value) + TEXT_MORE:
        return "the answer is a much longer text than expected"
    return ""


def is_related(one: View, other: View) -> bool:
    """Whether one exception is of the other's class, or of one derived from it (not from Exception itself)."""
    first, second = type(one.it), type(other.it)
    return first is second or (
        Exception not in {first, second} and (issubclass(first, second) or issubclass(second, first))
    )


def _size(value: Any) -> Any:
    """Return the size of a finite number, so that sizes of all types can be compared."""
    try:
        return float(abs(value))
    except OverflowError:
        return math.inf if isinstance(value, complex) else abs(value)


def largest_of(found: Iterable[View]) -> Any:
    """Return the size of the largest finite number among some values."""
    sizes = [_size(view.value) for view in found if view.family == NUMBER and is_finite(view.value)]
    return max((size for size in sizes if size != math.inf), default=0)
