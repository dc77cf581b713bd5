"""How EvalPlus 0.3.1 compares answers (`eval/__init__.py`, `_special_oracle.py`), and how the careful reading does.

If no tolerance is given, the first expected answer of floats sets one. It also holds for all later inputs, as in
EvalPlus.
"""

from __future__ import annotations

import math

from grade_sandbox.judging.comparisons import Verdicts, near_values_of_kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

RELATIVE_TOLERANCE, ABSOLUTE_TOLERANCE = 1e-7, 1e-6
_AS_SETS = {
    "similar_elements", "find_char_long", "common_in_nested_lists", "extract_singly", "larg_nnum", "intersection_array",
    "find_dissimilar", "Diff",
}  # fmt: skip
_NOT_NONE = {"check_str", "text_match_three", "text_starta_endb"}


class EvalPlus:
    """Compares the answers of one program, in order, as EvalPlus does with its base inputs or with its others.

    It keeps its tolerance from one answer to the next, so each of the two groups of inputs has an object of its own.
    """

    def __init__(self, function: str, tolerance: float, *, is_mbpp: bool) -> None:
        self._function, self._tolerance = function, tolerance
        self._is_mbpp, self._is_root_finding = is_mbpp, function == "find_zero" and not is_mbpp
        self._accepts_constant = is_mbpp and function in {"are_equivalent", "sum_div"}
        """Whether EvalPlus accepts one and the same answer to every input, such as 0, so that it shows nothing."""

    def verdicts(self, arguments: Sequence[Any], expected: Any, answer: Any) -> Verdicts:
        """Return whether an answer is right in each reading."""
        try:
            official = bool(self._compare(arguments, expected, answer))
        except (ArithmeticError, TypeError, ValueError, AttributeError, RecursionError):
            official = False
        is_believed = official and not self._accepts_constant
        return Verdicts(official, is_believed or near_values_of_kind(expected, answer))

    def _compare(self, arguments: Sequence[Any], expected: Any, answer: Any) -> bool:
        """Follow `unsafe_execute` of eval/__init__.py, with its quirks: a tolerance that is set stays."""
        if self._function in _NOT_NONE and self._is_mbpp:
            expected = expected is not None
        is_same = bool(answer == expected)
        if self._is_mbpp:
            is_same = self._apply_mbpp_exception(arguments, expected, answer, is_same=is_same)
        elif self._is_root_finding:
            return abs(_polynomial(arguments[0], answer)) <= self._tolerance
        if self._tolerance == 0 and _is_floats(expected):
            self._tolerance = ABSOLUTE_TOLERANCE
        if is_same or self._tolerance == 0:
            return is_same
        if type(answer) is not type(expected) or (isinstance(expected, (list, tuple)) and len(answer) != len(expected)):
            return False
        import numpy

        return bool(numpy.allclose(answer, expected, rtol=RELATIVE_TOLERANCE, atol=self._tolerance))

    def _apply_mbpp_exception(self, arguments: Sequence[Any], expected: Any, answer: Any, *, is_same: bool) -> bool:
        """Follow EvalPlus' exceptions for tasks of MBPP; for `_NOT_NONE`, `expected` says whether it was not None."""
        name = self._function
        if name in _AS_SETS:
            return set(answer) == set(expected)
        if name in _NOT_NONE:
            return bool(answer == expected if isinstance(answer, bool) else expected == (answer is not None))
        if name == "are_equivalent":
            return True
        if name == "sum_div":
            return is_same or answer == 0
        if name == "surface_Area":
            return is_same or abs(answer - _surface(*arguments)) <= self._tolerance
        return is_same or (name == "digit_distance_nums" and answer == _digit_distance(*arguments))


def _is_floats(value: Any) -> bool:
    if isinstance(value, (list, tuple)) and value:
        return all(isinstance(item, float) for item in value)
    return isinstance(value, float) or str(getattr(value, "dtype", "")) in {"float64", "float32"}


def _polynomial(coefficients: Sequence[float], x: float) -> float:
    return sum(factor * math.pow(x, power) for power, factor in enumerate(coefficients))


def _surface(edge: float, height: float) -> int:
    slant = math.sqrt((edge / 2) ** 2 + height**2)
    return round(edge**2 + 4 * (edge * slant) / 2)


def _digit_distance(one: int, other: int) -> int:
    width = max(len(str(one)), len(str(other)))
    return sum(abs(int(a) - int(b)) for a, b in zip(str(one).zfill(width), str(other).zfill(width), strict=True))
