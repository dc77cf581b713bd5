"""Controls: answers with a place replaced by another value. If the tests accept one, they do not decide that value.

Controls say nothing about a solution: NaN, an empty list, an unrelated text.
"""

from __future__ import annotations

import sys

from grade_sandbox.tests.kinds import is_related, is_truth, truth
from grade_sandbox.tests.sameness import same_number
from grade_sandbox.tests.views import CONTAINERS
from grade_sandbox.values import standing_in
from grade_sandbox.values.constructed import ERROR, ITERATOR, MAPPING, NONE, NUMBER, OBJECT, SEQUENCE, TEXT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from grade_sandbox.tests.views import View

UNRELATED = "\u2603\u2603\u2603"
"""No letter and no digit, which tests may look for."""
HUGE = 1e200


def named(control: Any) -> str:
    """Return a control for people."""
    if isinstance(control, Exception):
        return type(control).__name__
    if control is None or isinstance(control, (bool, int, float, complex, str, bytes)):
        return repr(control)
    return f"another {'iterator' if type(control) is standing_in.Iterated else type(control).__name__}"


def of(seen: View, other: View) -> list[Any]:
    """Return the controls for a place where two values differ; `seen` is the one that will be replaced."""
    if seen.family == other.family == ERROR:
        return [] if is_related(seen, other) else [BufferError(*seen.it.args)]
    families, truths = {seen.family, other.family}, (is_truth(seen), is_truth(other))
    # `True` in place of a number like 5 is tried as a number, not as a truth value.
    if NONE not in families and any(truths) and (all(truths) or families != {NUMBER}):
        if is_truth(seen):
            return [not truth(seen), *([None] if truth(seen) else [])]
        if truth(seen) == truth(other):
            return [not truth(seen)]  # only its truth says something
    if seen.family == NONE:
        return [True]
    return [control for control in _of_value(seen, other) if control is not None or other.family != NONE]


def _of_value(seen: View, other: View) -> list[Any]:
    if seen.family == NUMBER:
        return [*_numbers(seen, other), None]
    if seen.family == TEXT:
        texts: list[Any] = ["", UNRELATED] if isinstance(seen.value, str) else [b"", UNRELATED.encode()]
        return [*(text for text in texts if text not in (seen.value, other.value)), None]
    if seen.family in CONTAINERS and seen.parts and other.parts:
        return [_emptied(seen), None]
    return [False, [], None] if seen.family == OBJECT else [None]


def _numbers(seen: View, other: View) -> Iterator[Any]:
    negative = -seen.value if isinstance(seen.value, (int, float)) else 0
    for value in dict.fromkeys((float("nan"), HUGE, 0, negative)):
        if not any(same_number(value, one.value) for one in (seen, other) if one.family == NUMBER):
            yield value


def _emptied(seen: View) -> Any:
    if seen.family == SEQUENCE:
        if seen.name == "tuple":
            return ()
        return sys.modules["numpy"].empty(0) if seen.name == "array" else []
    if seen.family == ITERATOR:
        return standing_in.Iterated([])
    return {} if seen.family == MAPPING else set()
