"""Requests to score single samples outside a run, in a form that processes can send to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Self

import msgspec

from grader.results import Outcome, Reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.results import SampleResult

NOT_ASKED = Reading(
    outcome=Outcome.UNSCORED, credit=0, detail="not requested (official=True requests it)", rule="not_asked"
)
"""The official reading of a sample for which only the careful reading was requested."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A request to score one sample."""

    qid: str
    text: str
    """The raw model output."""
    official: bool = False
    """Whether to produce the official reading too, if it takes more than reading the text."""
    interactive: bool = True
    """Whether the program may run beside its tests, if its task cannot be graded in another way."""


class SampleScorer(Protocol):
    """A scorer of batches of samples. It is a context manager and must be used by one thread only."""

    def __enter__(self) -> Self:
        """Prepare for scoring; raises a GradeError."""

    def __exit__(self, *_: object) -> None:
        """Release all resources."""

    def begin(self) -> None:
        """Announce that samples will come soon: start now what takes long to start."""

    def score(self, asked: Sequence[Asked]) -> list[SampleResult]:
        """Return one result per sample, in the given order, all with `sample` 0; raises a GradeError.

        After an InfrastructureError it can be asked again.
        """
