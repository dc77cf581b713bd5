"""Samples that are scored outside of a run: what is asked of a scorer, as processes hand it to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Self

import msgspec

from grader.results import Outcome, Reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.results import SampleResult

NOT_ASKED = Reading(
    outcome=Outcome.UNSCORED, credit=0, detail="not asked for (official=True asks for it)", rule="not_asked"
)
"""The official reading of a sample that was only read carefully."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """One sample that is to be scored."""

    qid: str
    text: str
    """The raw model output."""
    official: bool = False
    """Whether the official reading is wanted, where it takes more than reading the text."""
    interactive: bool = True
    """Whether its program may run beside its tests, where the task allows no other way."""


class SampleScorer(Protocol):
    """Scores samples, batch after batch. A context manager, and one thread's."""

    def __enter__(self) -> Self:
        """Make ready what it needs; raises a GradeError."""

    def __exit__(self, *_: object) -> None:
        """End it."""

    def begin(self) -> None:
        """Samples will come soon: start what takes long to start."""

    def score(self, asked: Sequence[Asked]) -> list[SampleResult]:
        """Return a result for each sample, in this order, all with `sample` 0; raises a GradeError.

        After an InfrastructureError it can be asked again.
        """
