"""Accuracy over questions and over circular groups, overall and by group, in both readings; position bias."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from grader.results import (
    READINGS,
    Outcome,
    ReadingName,
    SampleResult,
    by_observation,
    read_facts,
    write_facts,
)
from grader.scorers.choice.facts import LetterCounts, PositionBias, SampleFacts, UnitOutcome
from grader.scorers.interface import MISSING_RULE, mean_credit
from grader.scorers.means import Observation, combine, each_task, mean_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grader.scorers.interface import Observe


def first_passes(samples: list[SampleResult], reading: ReadingName) -> list[Observation]:
    """Return one observation per question: its first pass only (vanilla evaluation)."""
    lead = {s.cluster: s.qid for s in reversed(samples)} | {s.cluster: s.qid for s in samples if s.qid == s.cluster}
    return each_task([s for s in samples if s.qid == lead[s.cluster]], reading)


def all_passes(samples: list[SampleResult], reading: ReadingName) -> list[Observation]:
    """Return one observation per question: the mean over its passes."""
    return [mean_of(members, reading) for members in by_observation(samples).values()]


def whole_groups(samples: list[SampleResult], reading: ReadingName) -> list[Observation]:
    """Return one observation per question: correct if every pass is; several samples are separate trials."""
    observations = []
    for members in by_observation(samples).values():
        trials = by_sample(members).values()
        observations.append(combine([_all_right(trial, reading) for trial in trials]))
    return observations


def by_sample(samples: list[SampleResult]) -> dict[int, list[SampleResult]]:
    """Return the samples of each round; a round has the samples with the same number."""
    rounds: dict[int, list[SampleResult]] = {}
    for sample in samples:
        rounds.setdefault(sample.sample, []).append(sample)
    return rounds


def with_unit_outcomes(samples: list[SampleResult]) -> list[SampleResult]:
    """Return the samples, each with its question's outcome, which explains why a correct letter may earn no credit."""
    rounds: dict[tuple[str, int], list[SampleResult]] = {}
    for sample in samples:
        rounds.setdefault((sample.cluster, sample.sample), []).append(sample)
    outcomes = {key: _unit_outcome(members) for key, members in rounds.items()}
    return [_with_outcome(sample, outcomes[sample.cluster, sample.sample]) for sample in samples]


def _unit_outcome(members: list[SampleResult]) -> UnitOutcome:
    official, careful = (_all_right(members, name).value for name in READINGS)
    return UnitOutcome(official=_as_outcome(official), careful=_as_outcome(careful))


def _as_outcome(value: float | None) -> Outcome:
    if value is None:
        return Outcome.UNSCORED
    return Outcome.CORRECT if value else Outcome.WRONG


def _with_outcome(sample: SampleResult, outcome: UnitOutcome) -> SampleResult:
    facts = SampleFacts(gold=facts_of(sample).gold, question=outcome)
    return msgspec.structs.replace(sample, facts=write_facts(facts))


def facts_of(sample: SampleResult) -> SampleFacts:
    """Return the scorer's own data of a sample; raises InputError."""
    return read_facts(sample.facts, SampleFacts, f"sample {sample.qid} #{sample.sample}")


def _all_right(trial: list[SampleResult], reading: ReadingName) -> Observation:
    """Score a question. One wrong pass makes it wrong; else an unscored pass makes it unscored.

    The official reading ignores missing passes.
    """
    present = [r for s in trial if not ((r := s.reading(reading)).rule == MISSING_RULE and reading == "official")]
    if any(r.credit < 1 and r.outcome is not Outcome.UNSCORED for r in present) or not present:
        return Observation(value=0, low=0, high=0)
    if any(r.outcome is Outcome.UNSCORED for r in present):
        return Observation(value=None, low=0, high=1)
    return Observation(value=1, low=1, high=1)


def position_bias(samples: list[SampleResult]) -> PositionBias:
    """Return, by reading and letter, how often it was predicted, how often it is gold, and the accuracy if it is."""
    official, careful = (_letters(samples, name) for name in READINGS)
    return PositionBias(official=official, careful=careful)


def _letters(samples: list[SampleResult], name: ReadingName) -> dict[str, LetterCounts]:
    chosen: Counter[str] = Counter()
    gold: Counter[str] = Counter()
    hits: Counter[str] = Counter()
    for sample in samples:
        reading = sample.reading(name)
        if reading.outcome is Outcome.UNSCORED:
            continue
        right = facts_of(sample).gold or ""
        gold[right] += 1
        hits[right] += reading.credit >= 1
        if reading.answer:
            chosen[reading.answer] += 1
    return {
        letter: LetterCounts(
            chosen=chosen[letter],
            right=gold[letter],
            accuracy=100 * hits[letter] / gold[letter] if gold[letter] else None,
        )
        for letter in sorted(chosen.keys() | gold.keys())
    }


def observe(name: str) -> Observe | None:
    """Return the function that gives an observation's value in a metric of this module; None for another metric."""
    return _OBSERVE.get(name)


def _only(observations: Callable[[list[SampleResult], ReadingName], list[Observation]]) -> Observe:
    def value(members: Sequence[SampleResult], reading: ReadingName) -> float | None:
        (one,) = observations(list(members), reading)
        return one.value

    return value


_OBSERVE: dict[str, Observe] = {
    "accuracy": mean_credit,
    "circular_accuracy": _only(whole_groups),
    "vanilla_accuracy": _only(first_passes),
    "vanilla_accuracy_all_passes": mean_credit,
}
