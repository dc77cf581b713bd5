"""The multiple-choice scorer's own data of a sample and of a run in the results file."""

from __future__ import annotations

import msgspec

from grader.results import Facts, Outcome


class UnitOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a circular question in one round of its passes, in both readings."""

    official: Outcome
    careful: Outcome


class ChoiceFacts(Facts, frozen=True, kw_only=True):
    """The gold letter, and why a correct letter may earn no credit."""

    gold: str | None = None
    """The gold letter."""
    question: UnitOutcome | msgspec.UnsetType = msgspec.UNSET
    """Circular: the outcome of its question."""


class LetterCounts(msgspec.Struct, frozen=True, kw_only=True):
    """How often a letter was predicted and how often it is gold."""

    chosen: int
    """Number of samples that predicted it."""
    right: int
    """Number of samples with this gold letter."""
    accuracy: float | None = None
    """Percent of these that are correct; None: there are none."""


class PositionBias(msgspec.Struct, frozen=True, kw_only=True):
    """Letter -> counts, in both readings, without unscored samples."""

    official: dict[str, LetterCounts] = {}
    careful: dict[str, LetterCounts] = {}


class ChoiceRunFacts(Facts, frozen=True, kw_only=True):
    """The scorer's own data of a run."""

    position_bias: PositionBias = PositionBias()
