"""What is expected of an input where a reference solution answers differently from run to run.

It runs with several hash seeds. An order that differs is no order: items are compared as a multiset, also in the
answers to other inputs of the task, where the runs have the same order by chance. Else an answer must be that of a run.

Nothing else that varies (a choice, a random number, an order in a text or deeper in a value) is compared by less than
equality: none of the references of HumanEval+ and MBPP+ needs it.
"""

from __future__ import annotations

from grade_sandbox.judging.comparisons import SEQUENCES, near_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def is_like(runs: Sequence[Any], answer: Any, *, is_unordered: bool = False) -> bool:
    """Whether an answer is like those of the reference's runs. `is_unordered`: for some input these differ in order."""
    try:
        if any(near_values(run, answer) for run in runs):
            return True
        is_unordered = is_unordered or has_other_order([runs])  # the runs for this input
        return is_unordered and _is_same_without_order(runs[0], answer)
    except Exception:  # A program may return any type.
        return False


def varies(answers: Sequence[Sequence[Any]]) -> bool:
    """Whether a reference's runs differ. `answers`: for each call, the answers of all runs."""
    return not all(near_values(runs[0], run) for runs in answers for run in runs[1:])


def has_other_order(answers: Sequence[Sequence[Any]]) -> bool:
    """Whether the runs differ in some call, and only in the order of items there."""
    return any(varies([runs]) and all(_is_same_without_order(runs[0], run) for run in runs[1:]) for runs in answers)


def _is_same_without_order(one: Any, two: Any) -> bool:
    try:
        return near_values(_without_order(one), _without_order(two))
    except (ValueError, RecursionError):  # An item cannot be written as a text.
        return False


def _without_order(value: Any) -> Any:
    """Return the items of a sequence in an order that depends on nothing else."""
    items = value.tolist() if hasattr(value, "tolist") else value
    return sorted(items, key=repr) if isinstance(items, SEQUENCES) else items
