"""What the Mr-Ben scorer keeps of a sample and of a run in the results file."""

from __future__ import annotations

from typing import Any

import msgspec

from grader.results import ReadingName, SampleResult, read_facts
from grader.scorers.mr_ben.figures import RowFacts, Weights

CORRECT = "correct"


class ReadingFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What one reading found in a response."""

    correctness: str | None
    """`correct` or `incorrect`; None: not read."""
    step: bool | None
    """Whether the first error step is credited; None: not judged."""
    reason: bool | None
    """Whether the error reason is credited; None: not judged."""
    lost: bool = False
    """Whether there is no response, because the model's server failed: then nothing else here counts."""


class SampleFacts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What MR-Score is computed from, and what a person wants to see beside it."""

    gold: str
    gold_step: str | None = None
    official: ReadingFacts
    careful: ReadingFacts
    judge: str | None = None
    """The judge's reply, cut at 4,000 characters."""
    difference: str | None = None
    """In a word, why the readings differ."""

    def row(self, reading: ReadingName) -> RowFacts:
        """Return what MR-Score is computed from."""
        said = self.official if reading == "official" else self.careful
        predicted = None if said.correctness is None else said.correctness == CORRECT
        return RowFacts(
            gold_correct=self.gold == CORRECT,
            predicted_correct=predicted,
            step=said.step,
            reason=said.reason,
            judged=self.judge is not None and said.reason is not None,
            lost=said.lost,
        )


class RunFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of a run."""

    weights: dict[str, float] = msgspec.field(default_factory=lambda: Weights()._asdict())
    judged: int = 0
    """Rows whose error reason has to be judged in one of the readings."""
    difference_kinds: dict[str, int] = {}
    counts: dict[str, dict[str, dict[str, int]]] = {}
    """Reading -> subject -> what the metrics are computed from (positive class: a correct solution)."""


def facts_of(sample: SampleResult) -> SampleFacts:
    """Return what is kept of a sample; raises InputError."""
    return read_facts(sample.facts, SampleFacts, f"sample {sample.qid} #{sample.sample}")


def as_table(facts: RunFacts) -> dict[str, Any]:
    """Return the facts of a run as reports show them."""
    made: dict[str, Any] = msgspec.to_builtins(facts)
    return made
