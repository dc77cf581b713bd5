"""The reward of a result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.results import Calls, Outcome

if TYPE_CHECKING:
    from grader.pool.settings import RewardName
    from grader.results import SampleResult


def reward_of(result: SampleResult, name: RewardName = "passed") -> float | None:
    """Return the reward of a result by its careful reading, from 0 to 1; None, not 0, if the sample is unscored.

    `passed`: the credit. `calls_right`, `tests_right`: the share of calls, or of tests, that are right; 1 for a program
    that passes. A suspect program earns nothing in any of them, and one of whose calls or tests nothing is known is
    worth its credit.
    """
    if is_unscored(result):
        return None
    credit = float(result.careful.credit)
    if name == "passed" or is_suspect(result) or credit:
        return credit
    if name == "tests_right" and isinstance(result.tests, list):
        return sum(result.tests) / max(1, len(result.tests))
    calls = result.calls
    return calls.same / calls.n if isinstance(calls, Calls) and calls.n else credit


def is_unscored(result: SampleResult) -> bool:
    """Whether a sample has no careful verdict."""
    return result.careful.outcome is Outcome.UNSCORED


def is_suspect(result: SampleResult) -> bool:
    """Whether a sample cannot be judged apart from its tests, or passes only in the same process as its tests."""
    return result.careful.outcome is Outcome.SUSPECT
