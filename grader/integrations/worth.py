"""The reward of a result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.results import Outcome

if TYPE_CHECKING:
    from grader.results import SampleResult


def reward_of(result: SampleResult) -> float | None:
    """Return the credit of the careful reading; None, not 0, if the sample is unscored."""
    return None if is_unscored(result) else float(result.careful.credit)


def is_unscored(result: SampleResult) -> bool:
    """Whether a sample has no careful verdict."""
    return result.careful.outcome is Outcome.UNSCORED


def is_suspect(result: SampleResult) -> bool:
    """Whether a sample cannot be judged apart from its tests, or passes only in the same process as its tests."""
    return result.careful.outcome is Outcome.SUSPECT
