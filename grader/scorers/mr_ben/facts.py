"""The Mr-Ben scorer's own data of a sample and of a run in the results file."""

from __future__ import annotations

import msgspec

from grader.results import Facts, ReadingName, SampleResult, facts_as
from grader.scorers.mr_ben.mr_score import RowFacts, Weights

CORRECT = "correct"


class ReadingFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one reading of a response."""

    correctness: str | None
    """`correct` or `incorrect`; None: not read."""
    step: bool | None
    """Whether the first error step is credited; None: not judged."""
    reason: bool | None
    """Whether the error reason is credited; None: not judged."""
    lost: bool = False
    """No response, because the model's server failed; the other fields mean nothing."""


class MrBenFacts(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """The data from which MR-Score is computed, and details for people."""

    gold: str
    gold_step: str | None = None
    official: ReadingFacts
    careful: ReadingFacts
    judge: str | None = None
    """The judge's reply, cut at 4,000 characters."""
    difference: str | None = None
    """Why the readings differ, in a word."""

    @property
    def parts_differ(self) -> bool:
        """Whether the readings disagree on the verdict, the step or the reason."""
        return self.official != self.careful

    def row(self, reading: ReadingName) -> RowFacts:
        """Return the data from which MR-Score is computed. It is `lost` if the server failed: there is no response."""
        facts = self.official if reading == "official" else self.careful
        predicted = None if facts.correctness is None else facts.correctness == CORRECT
        return RowFacts(
            gold_correct=self.gold == CORRECT,
            predicted_correct=predicted,
            step=facts.step,
            reason=facts.reason,
            judged=self.judge is not None and facts.reason is not None,
            lost=facts.lost,
        )


class MrBenRunFacts(Facts, frozen=True, kw_only=True):
    """The scorer's own data of a run."""

    weights: dict[str, float] = msgspec.field(default_factory=lambda: Weights()._asdict())
    judged: int = 0
    """Rows whose error reason must be judged."""
    difference_kinds: dict[str, int] = {}
    counts: dict[str, dict[str, dict[str, int]]] = {}
    """Reading -> subject -> the counts behind its metrics (positive: a correct solution)."""


def facts_of(sample: SampleResult) -> MrBenFacts:
    """Return the scorer's own data of a sample."""
    return facts_as(MrBenFacts, sample.facts)
