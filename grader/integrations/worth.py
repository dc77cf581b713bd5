"""What a result is worth as a reward."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.results import Outcome

if TYPE_CHECKING:
    from grader.results import SampleResult


def reward_of(result: SampleResult) -> float | None:
    """Return what the careful reading credits; None where nothing is known: that is not a 0."""
    return None if is_unscored(result) else float(result.careful.credit)


def is_unscored(result: SampleResult) -> bool:
    """Whether nothing is known of a sample."""
    return result.careful.outcome is Outcome.UNSCORED


def is_suspect(result: SampleResult) -> bool:
    """Whether a sample cannot be judged apart from its tests, or passes only in their own process."""
    return result.careful.outcome is Outcome.SUSPECT
