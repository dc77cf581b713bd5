"""What the multiple-choice scorer keeps of a sample and of a run in the results file."""

from __future__ import annotations

import msgspec

from grader.results import Outcome


class UnitOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a circular question in one round of its passes, in both readings."""

    official: Outcome
    careful: Outcome


class SampleFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The right letter, and why a right letter may earn nothing."""

    gold: str | None = None
    """The right letter."""
    question: UnitOutcome | msgspec.UnsetType = msgspec.UNSET
    """Circular: what became of the question this is a pass of."""


class LetterCounts(msgspec.Struct, frozen=True, kw_only=True):
    """How often a letter was predicted and was right."""

    chosen: int
    """Samples in which it was predicted."""
    right: int
    """Samples in which it is the right one."""
    accuracy: float | None = None
    """Percent of the latter that were answered right; None where there are none."""


class PositionBias(msgspec.Struct, frozen=True, kw_only=True):
    """Letter -> counts, in both readings; unscored samples are left out."""

    official: dict[str, LetterCounts] = {}
    careful: dict[str, LetterCounts] = {}


class RunFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of a run."""

    position_bias: PositionBias = PositionBias()
