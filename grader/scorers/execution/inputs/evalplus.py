"""How EvalPlus 0.3.1 compares answers (`eval/__init__.py`, `_special_oracle.py`), and its arguments that JSON has not.

The tolerance that a float answer switches on stays on for the inputs after it, as there.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from grader.scorers.execution.inputs.values import Raised, spread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

RELATIVE, ABSOLUTE = 1e-7, 1e-6
_AS_SETS = {
    "similar_elements", "find_char_long", "common_in_nested_lists", "extract_singly", "larg_nnum", "intersection_array",
    "find_dissimilar", "Diff",
}  # fmt: skip
_NOT_NONE = {"check_str", "text_match_three", "text_starta_endb"}


def rights(
    qid: str, function: str, tolerance: float, triples: Iterable[tuple[Sequence[Any], Any, Any]]
) -> list[tuple[bool, bool]]:
    """Return for each (arguments, expected, answer) whether the answer is right, and whether only by broadcasting.

    The order matters: a tolerance that a float has switched on stays on. By broadcasting, NumPy compares one number
    with each item of an array, and one row with each row.
    """
    judge = _Judge(function, tolerance, is_mbpp=qid.startswith("Mbpp/"))
    return [(judge.is_right(*triple), judge.is_broadcast) for triple in triples]


class _Judge:
    def __init__(self, function: str, tolerance: float, *, is_mbpp: bool) -> None:
        self._function, self._tolerance = function, tolerance
        self._is_mbpp, self._is_root = is_mbpp, function == "find_zero" and not is_mbpp
        self.is_broadcast = False
        """Whether the last answer is right only because NumPy compares values of different shapes."""

    def is_right(self, arguments: Sequence[Any], expected: Any, given: Any) -> bool:
        self.is_broadcast = False
        if isinstance(given, Raised):
            return False
        try:
            return self._compare(arguments, expected, given)
        except (ArithmeticError, TypeError, ValueError, AttributeError, RecursionError):
            return False

    def _compare(self, arguments: Sequence[Any], expected: Any, given: Any) -> bool:
        if self._function in _NOT_NONE and self._is_mbpp:
            expected = expected is not None
        is_same = bool(given == expected)
        if is_same and hasattr(given, "shape"):
            self.is_broadcast = _shape(given) != _shape(expected)
        if self._is_mbpp:
            is_same = self._special(arguments, expected, given, is_same=is_same)
        elif self._is_root:
            return abs(_polynomial(arguments[0], given)) <= self._tolerance
        if self._tolerance == 0 and _is_floats(expected):
            self._tolerance = ABSOLUTE
        if is_same or self._tolerance == 0:
            return is_same
        if type(given) is not type(expected) or (isinstance(expected, (list, tuple)) and len(given) != len(expected)):
            return False
        import numpy

        self.is_broadcast = _shape(given) != _shape(expected)
        return bool(numpy.allclose(given, expected, rtol=RELATIVE, atol=self._tolerance))

    def _special(self, arguments: Sequence[Any], expected: Any, given: Any, *, is_same: bool) -> bool:
        name = self._function
        if name in _AS_SETS:
            return set(spread([*given])) == set(expected)
        if name in _NOT_NONE:
            return bool(given == expected if isinstance(given, bool) else expected == (given is not None))
        if name == "are_equivalent":
            return True
        if name == "sum_div":
            return is_same or given == 0
        if name == "surface_Area":
            return is_same or abs(given - _surface(*arguments)) <= self._tolerance
        return is_same or (name == "digit_distance_nums" and given == _digit_distance(*arguments))


def _is_floats(value: Any) -> bool:
    if isinstance(value, (list, tuple)) and value:
        return all(isinstance(item, float) for item in value)
    return isinstance(value, float) or str(getattr(value, "dtype", "")) in {"float64", "float32"}


def _shape(value: Any) -> tuple[int, ...]:
    """Return the shape of a value as an array; raises ValueError if it has rows of different lengths."""
    import numpy

    return numpy.shape(value)


def _polynomial(coefficients: Sequence[float], x: float) -> float:
    return sum(factor * math.pow(x, power) for power, factor in enumerate(coefficients))


def _surface(edge: float, height: float) -> int:
    slant = math.sqrt((edge / 2) ** 2 + height**2)
    return round(edge**2 + 4 * (edge * slant) / 2)


def _digit_distance(one: int, other: int) -> int:
    width = max(len(str(one)), len(str(other)))
    return sum(abs(int(a) - int(b)) for a, b in zip(str(one).zfill(width), str(other).zfill(width), strict=True))


# --- arguments --------------------------------------------------------------------------------------------------


def _tuples(depth: int) -> Callable[[Any], Any]:
    """Return what makes tuples of the lists at this depth below a list of arguments."""
    if depth == 0:
        return tuple
    return lambda value: [_tuples(depth - 1)(item) for item in value]


def _all_tuples(value: Any) -> Any:
    return tuple(map(_all_tuples, value)) if isinstance(value, list) else value


def _both_tuples(inputs: list[Any]) -> list[Any]:
    return [tuple(tuple(item) if isinstance(item, list) else item for item in value) for value in inputs]


_RESTORED: dict[Callable[[list[Any]], Any], tuple[int, ...]] = {
    _tuples(1): (
        2, 116, 132, 143, 222, 261, 273, 394, 399, 421, 424, 429, 470, 560, 579, 596, 616, 630, 726, 740, 744, 809,
    ),
    _tuples(2): (63, 64, 70, 94, 120, 237, 272, 299, 400, 409, 417, 438, 473, 614, 780),
    lambda given: [_tuples(1)(given[0]), given[1]]: (75, 413, 444, 753),
    lambda given: [given[0], tuple(given[1])]: (106, 750),
    lambda given: [[set(item) if isinstance(item, list) and item else {} for item in given[0]]]: (115,),
    lambda given: [float(given[0]), complex(given[1])]: (124,),
    lambda given: [tuple(given[0]), given[1]]: (250, 405, 446, 617, 720, 763, 808),
    lambda given: [tuple(tuple(item) for item in value) for value in given]: (259, 401, 445),
    _both_tuples: (278,),
    lambda given: [tuple(given[0]), given[1], given[2]]: (307,),
    lambda given: [{key: tuple(value) for key, value in given[0].items()}, *given[1:]]: (722,),
    lambda given: [complex(given[0])]: (252,),
    _all_tuples: (580, 615, 791),
}  # fmt: skip
"""What turns the lists of JSON into the arguments of MBPP+ -> the numbers of its tasks (`mbpp_deserialize_inputs`)."""
_OF_TASK = {f"Mbpp/{number}": restore for restore, numbers in _RESTORED.items() for number in numbers}


def arguments_of(qid: str, given: list[Any]) -> list[Any]:
    """Return the arguments of one call as the task means them."""
    return list(_OF_TASK[qid](given)) if qid in _OF_TASK else given
