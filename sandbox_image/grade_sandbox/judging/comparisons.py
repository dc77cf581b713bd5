"""The rules by which an answer is compared with the expected one, by the name in a protocol's `compare`.

A rule is a function of the expected and the given value. To add one, write it here, and its name in the grader's
`scorers/execution/comparison_names.py`. `lines` is LiveCodeBench's (`testing_util.py` at 28fef95, `grade_stdio`).
"""

from __future__ import annotations

import functools
import math
import re
from collections import deque
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Rule = Callable[[Any, Any], bool]
    """Takes the expected answer and a program's."""

RELATIVE_TOLERANCE, ABSOLUTE_TOLERANCE = 1e-6, 1e-12
"""Relative and absolute difference of floats that count as equal in the careful reading."""
SEQUENCES = (list, tuple, deque)


class Verdicts(NamedTuple):
    """Whether an answer is right in each reading."""

    official: bool
    careful: bool


def rule(name: str) -> Rule:
    """Return the rule with this name."""
    kind, _, tolerance = name.partition(":")
    return _TOLERANT[kind](float(tolerance)) if tolerance else _PLAIN[kind]


def exact(expected: str, printed: str) -> bool:
    """Compare character by character."""
    return expected == printed


def trimmed(expected: str, printed: str) -> bool:
    """Compare character by character, but for blanks at the end of lines and empty lines at the end."""
    first, second = ([line.rstrip() for line in text.rstrip().split("\n")] for text in (expected, printed))
    return first == second


def tokens(expected: str, printed: str) -> bool:
    """Compare what is between blanks and line breaks."""
    return expected.split() == printed.split()


def lines(expected: str, printed: str) -> bool:
    """Compare line by line without blanks around them; a line is also right if all its tokens are equal decimals."""
    first, second = expected.strip().split("\n"), printed.strip().split("\n")
    return len(first) == len(second) and all(map(_is_same_line, first, second))


def _is_same_line(expected: str, printed: str) -> bool:
    if expected.strip() == printed.strip():
        return True
    try:
        return list(map(Decimal, printed.split())) == list(map(Decimal, expected.split()))
    except InvalidOperation:
        return False


def numbers(expected: str, printed: str) -> bool:
    """Compare tokens, as numbers where both are numbers."""
    return _compare_tokens(expected, printed, _is_equal)


def _near_numbers(tolerance: float, only_with: str = "") -> Rule:
    """Return the rule that compares tokens, and accepts numbers within a relative or absolute difference.

    `only_with`: a text without which an expected number is compared exactly, such as a decimal point.
    """

    def is_near(expected: str, printed: str) -> bool:
        return _is_equal(expected, printed) or (only_with in expected and _is_close(expected, printed, tolerance))

    return lambda expected, printed: _compare_tokens(expected, printed, is_near)


def _compare_tokens(expected: str, printed: str, is_token: Rule) -> bool:
    first, second = expected.split(), printed.split()
    return len(first) == len(second) and all(map(is_token, first, second))


_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,9})?")
"""A number, without what only Python reads as one: underscores, digits of other scripts, `inf`."""


def _are_numbers(*texts: str) -> bool:
    return all(map(_NUMBER.fullmatch, texts))


_POSSIBLE_CODE = re.compile(r"[+-]?0[0-9]|.*[eE][0-9]")
"""What may be a text of digits and not a number: a leading zero (a PIN), an exponent without a sign (hexadecimal)."""


def _is_equal(expected: str, printed: str) -> bool:
    """Compare tokens as numbers, if the expected one has a decimal point or neither may be a code, such as 007."""
    if expected == printed or not _are_numbers(expected, printed):
        return expected == printed
    is_number = "." in expected or not any(map(_POSSIBLE_CODE.match, (expected, printed)))
    return is_number and Decimal(expected) == Decimal(printed)


def _is_close(expected: str, printed: str, tolerance: float) -> bool:
    if not _are_numbers(expected, printed):
        return False
    first, second = float(expected), float(printed)
    return math.isfinite(first) and math.isclose(first, second, rel_tol=tolerance, abs_tol=tolerance)


def _false_if_raising(compare: Callable[[Any, Any], Any]) -> Callable[[Any, Any], bool]:
    """Return a comparison that is false if Python cannot compare the two values."""

    @functools.wraps(compare)
    def compare_or_false(expected: Any, answer: Any) -> bool:
        try:
            return bool(compare(expected, answer))
        except Exception:  # A program may return any type: arrays, signalling NaN, integers beyond float, deep lists.
            return False

    return compare_or_false


@_false_if_raising
def same_values(expected: Any, answer: Any) -> Any:
    """Compare what a function returned as LiveCodeBench does: by `==`, and a tuple is taken as a list."""
    return (list(answer) if isinstance(answer, tuple) else answer) == expected


@_false_if_raising
def near_values(expected: Any, answer: Any) -> Any:
    """Compare values part by part. Floats may differ a little, and a list may be a tuple, a deque or an array."""
    return _are_near(expected, answer, SEQUENCES)


@_false_if_raising
def near_values_of_kind(expected: Any, answer: Any) -> Any:
    """Compare in the same way, but a list never equals a tuple, as in tests that compare by `==`."""
    return _are_near(expected, answer, ())


def _are_near(expected: Any, answer: Any, interchangeable: tuple[type, ...]) -> bool:
    """Compare values part by part. `interchangeable`: the types of sequences that may stand for each other."""
    expected, answer = (value.tolist() if hasattr(value, "tolist") else value for value in (expected, answer))
    if isinstance(expected, float) and isinstance(answer, (int, float)) and not isinstance(answer, bool):
        # With an absolute bound, 0 would be near every small number.
        absolute = ABSOLUTE_TOLERANCE if expected else RELATIVE_TOLERANCE
        is_close = math.isclose(expected, answer, rel_tol=RELATIVE_TOLERANCE, abs_tol=absolute)
        return is_close or (math.isnan(expected) and math.isnan(answer))
    has_same_type = type(expected) is type(answer) and isinstance(expected, SEQUENCES)
    if has_same_type or (isinstance(expected, interchangeable) and isinstance(answer, interchangeable)):
        if len(expected) != len(answer):
            return False
        return all(_are_near(*pair, interchangeable) for pair in zip(expected, answer, strict=True))
    if isinstance(expected, dict) and isinstance(answer, dict):
        if expected.keys() != answer.keys():
            return False
        return all(_are_near(part, answer[key], interchangeable) for key, part in expected.items())
    return bool(expected == answer)


_PLAIN: dict[str, Rule] = {
    "lines": lines,
    "tokens": tokens,
    "numbers": numbers,
    "exact": exact,
    "trimmed": trimmed,
    "same values": same_values,
    "near values": near_values,
}
_TOLERANT: dict[str, Callable[[float], Rule]] = {
    "float": _near_numbers,
    "near": functools.partial(_near_numbers, only_with="."),
}
