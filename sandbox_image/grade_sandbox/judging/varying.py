"""What is expected where a reference solution answers differently from run to run.

It runs with several hash seeds. An order that differs is no order: items are compared as a multiset, also in the
answers to other calls of the task, where the runs agree by chance. Elsewhere the kind decides.
"""

from __future__ import annotations

import math
import re
from collections import deque

from grade_sandbox.judging.comparisons import near_values
from grade_sandbox.judging.likeness import LARGEST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    Form = Callable[[Any], Any]

_SEQUENCES = (list, tuple, deque)
_TOKEN = re.compile(r"\w+|[^\w\s]")


def is_like(runs: Sequence[Any], given: Any, form: Form | None = None) -> bool:
    """Whether an answer is like those of the reference's runs. `form`: the form in which its answers have no order."""
    try:
        return _is_like([*map(_plain, runs)], _plain(given), form)
    except Exception:  # A program may return any type.
        return False


def variation(answers: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """Return whether a reference's runs differ, and the name of the form in which its answers have no order."""
    form = order_of(answers)
    return {"varies": differ(answers), "order": next((name for name, one in FORMS.items() if one is form), "")}


def order_of(answers: Sequence[Sequence[Any]]) -> Form | None:
    """Return the form in which the answers of a reference have no order; None if their order is always the same.

    `answers`: of each call, the answers of all runs.
    """
    for form in FORMS.values():
        for runs in answers:
            if not _agree(runs) and all(is_same_in(form, runs[0], one) for one in runs[1:]):
                return form
    return None


def differ(answers: Sequence[Sequence[Any]]) -> bool:
    """Whether the answers to some call are not the same in all runs."""
    return not all(_agree([*map(_plain, runs)]) for runs in answers)


def items(value: Any) -> Any:
    """Return a value without the order of its items: of a sequence, of the lines of a text, or of its words."""
    if isinstance(value, str):
        parts = value.splitlines()
        return sorted(parts if len(parts) > 1 else _TOKEN.findall(value))
    return sorted(value, key=repr) if isinstance(value, _SEQUENCES) else value


def everything(value: Any) -> Any:
    """Return a value without the order of anything in it; of a text without that of its characters."""
    if isinstance(value, str):
        return sorted(map(sorted, value.split("\n")))
    if isinstance(value, _SEQUENCES):
        return sorted(map(everything, value), key=repr)
    return {key: everything(item) for key, item in value.items()} if isinstance(value, dict) else value


FORMS: dict[str, Form] = {"items": items, "everything": everything}


def is_same_in(form: Form, one: Any, other: Any) -> bool:
    """Whether two values are the same without their order. What cannot be written as a text has none."""
    try:
        return bool(near_values(form(_plain(one)), form(_plain(other))))
    except (ValueError, RecursionError):
        return False


def _is_like(runs: list[Any], given: Any, form: Form | None = None) -> bool:
    if any(near_values(one, given) for one in runs):
        return True
    if form is not None and is_same_in(form, runs[0], given):
        return True
    if _agree(runs):
        return False
    if (found := order_of([runs])) is not None:
        return is_same_in(found, runs[0], given)
    own, *parts = [_parts(one) for one in (given, *runs)]
    if None not in parts and len({tuple(part) for part in parts if part is not None}) == 1:
        has_all = own is not None and own.keys() == parts[0].keys()  # type: ignore[union-attr]
        return has_all and all(_is_like([part[key] for part in parts], own[key]) for key in own)  # type: ignore[index,union-attr]
    return any(_is_of_kind(one, given) for one in runs)


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value


def _agree(runs: Sequence[Any]) -> bool:
    return all(near_values(runs[0], one) for one in runs[1:])


def _parts(value: Any) -> dict[Any, Any] | None:
    """Return the parts of a value by their places; None if it has none."""
    if isinstance(value, str) and len(value.split("\n")) > 1:
        value = value.split("\n")
    return value if isinstance(value, dict) else dict(enumerate(value)) if isinstance(value, _SEQUENCES) else None


def _is_of_kind(expected: Any, given: Any) -> bool:
    """Whether both are numbers, texts, sequences, mappings, or of one other type.

    A given value may be empty only if the expected one is, and a given number has to be finite and not much larger.
    """
    if isinstance(expected, bool) or not isinstance(expected, (int, float)):
        kind = next((kind for kind in (str, _SEQUENCES, dict) if isinstance(expected, kind)), type(expected))
        return isinstance(given, kind) and (not hasattr(given, "__len__") or bool(given) or not expected)
    is_number = isinstance(given, (int, float)) and not isinstance(given, bool) and math.isfinite(given)
    return is_number and abs(given) <= LARGEST * max(1, abs(expected))
