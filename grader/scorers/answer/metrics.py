"""Metrics of short answers: accuracy of questions, of sets and of the majority; of yes or no also F1."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Literal

import msgspec

from grader.results import READINGS, Facts, Metric, ReadingName, SampleResult, facts_as
from grader.results.groups import by_group, by_observation, by_task
from grader.scorers.aggregates import pass_at_k_rows
from grader.scorers.answer.careful import is_same
from grader.scorers.answer.declaration import AnswerKind
from grader.scorers.means import Observation, each_task, of_group, of_judged, weighted
from grader.scorers.oddities import FILTER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.results import Reading

ByTask = Callable[[list[SampleResult], ReadingName], list[Observation]]
"""Return one observation per task."""


class AnswerFacts(Facts, frozen=True, kw_only=True):
    """What the metrics need of a sample's question."""

    gold: str
    """The gold answer."""
    kind: AnswerKind | Literal["choice"]
    counted_in: str = ""
    """The grouping in each of whose groups the question counts once, in the overall metrics too; empty: none."""


def facts_of(sample: SampleResult) -> AnswerFacts:
    """Return the scorer's own data of a sample."""
    return facts_as(AnswerFacts, sample.facts)


def metrics(samples: list[SampleResult], ks: Sequence[int] = ()) -> list[Metric]:
    """Return all metrics; `ks`: those of `-k`."""
    facts = {sample.qid: facts_of(sample) for sample in samples}
    rows = _counted_rows(samples, "accuracy", each_task)
    most = max((sample.sample for sample in samples), default=0) + 1
    has_filters = any(isinstance(sample.groups, Mapping) and FILTER in sample.groups for sample in samples)
    if most > 1 and not has_filters:  # the texts of two filters are no two answers
        rows += _counted_rows(with_samples(samples, most), f"maj@{most}", majority)
    rows += pass_at_k_rows(samples, ks)
    golds = {qid: fact.gold for qid, fact in facts.items() if fact.kind == "yes_no"}
    if golds:
        questions = by_group(sample for sample in samples if sample.qid in golds)
        for group, some in questions.items():
            rows += [m for reading in READINGS for m in _yes_no(of_judged(some, reading), reading, group, golds)]
    return rows


def _counted_rows(samples: list[SampleResult], name: str, observe: ByTask) -> list[Metric]:
    found = (
        of_group(name, reading, group, members, partial(counted, group=group, observe=observe))
        for group, members in by_group(samples).items()
        for reading in READINGS
    )
    return [row for row in found if row is not None]


def counted(
    samples: list[SampleResult], reading: ReadingName, *, group: str | None, observe: ByTask
) -> list[Observation]:
    """Return one observation per question of a group, weighted by how often the question counts in it."""
    return weighted(observe(samples, reading), [_times(members[0], group) for members in by_task(samples).values()])


def _times(sample: SampleResult, group: str | None) -> int:
    """Return how often a question counts: in each group of its `counted_in` once, so that it counts more in others."""
    column = facts_of(sample).counted_in
    labels = sample.groups.get(column) if column and isinstance(sample.groups, Mapping) else None
    return len(labels) if isinstance(labels, list) and not (group or "").startswith(f"{column}=") else 1


def majority(samples: list[SampleResult], reading: ReadingName) -> list[Observation]:
    """Return one observation per task: whether its most frequent answer is correct; the first one if there is a tie."""
    return [_majority(members, reading) for members in by_observation(samples).values()]


def with_samples(samples: list[SampleResult], count: int) -> list[SampleResult]:
    """Return the samples of the tasks that have so many."""
    return [one for members in by_observation(samples).values() if len(members) >= count for one in members]


def majority_credit(members: Sequence[SampleResult], reading: ReadingName, votes: int) -> float | None:
    """Return whether a task's most frequent answer is correct; None if it has fewer samples than votes."""
    return _majority(list(members), reading).value if len(members) >= votes else None


def _majority(members: list[SampleResult], reading: ReadingName) -> Observation:
    read = [answer for member in members if (answer := member.reading(reading)).is_scored]
    if not read:
        return Observation(value=None, low=0, high=1)
    kind = facts_of(members[0]).kind
    answers: list[list[Reading]] = []
    for answer in read:
        mine = next((some for some in answers if _is_equal(answer.answer, some[0].answer, kind)), None)
        if mine is None:
            answers.append([answer])
        else:
            mine.append(answer)
    answered = [some for some in answers if some[0].answer is not None] or answers
    credit = max(answered, key=len)[0].points
    return Observation(value=credit, low=credit, high=credit)


def _is_equal(first: str | None, second: str | None, kind: AnswerKind | Literal["choice"]) -> bool:
    if first is None or second is None or kind == "choice":
        return first == second
    return first == second or is_same(first, second, kind)


def _yes_no(
    samples: list[SampleResult], reading: ReadingName, group: str | None, golds: Mapping[str, str]
) -> list[Metric]:
    """Return precision, recall and F1 of "yes", and the share of "yes", as POPE reports them.

    Nothing scored: no metrics. Their bounds are the extremes if all unscored answers were right, wrong, "yes" or "no".
    """
    read = [(sample.reading(reading), golds[sample.qid]) for sample in samples for _ in range(_times(sample, group))]
    pairs = [(answer.answer, gold) for answer, gold in read if answer.is_scored]
    if not pairs:
        return []
    lost = [gold for answer, gold in read if not answer.is_scored]
    wrong = ["no" if gold == "yes" else "yes" for gold in lost]
    filled = [lost, wrong, ["yes"] * len(lost), ["no"] * len(lost)]
    cases = [_values_of_yes([*pairs, *zip(answers, lost, strict=True)]) for answers in filled]
    return [
        Metric(
            name=name,
            reading=reading,
            group=group,
            value=value,
            n=len(pairs),
            bounds=(min(case[name] for case in cases), max(case[name] for case in cases)) if lost else msgspec.UNSET,
            dropped=len(lost) or msgspec.UNSET,
        )
        for name, value in _values_of_yes(pairs).items()
    ]


def _values_of_yes(pairs: Sequence[tuple[str | None, str]]) -> dict[str, float]:
    """Return the metrics of (predicted, gold), in percent; a share of nothing is 0."""
    hits = sum(predicted == gold == "yes" for predicted, gold in pairs)
    predicted, gold = sum(predicted == "yes" for predicted, _ in pairs), sum(gold == "yes" for _, gold in pairs)
    shares = {
        "precision": (hits, predicted),
        "recall": (hits, gold),
        "f1": (2 * hits, predicted + gold),
        "yes_ratio": (predicted, len(pairs)),
    }
    return {name: 100 * part / whole if whole else 0.0 for name, (part, whole) in shares.items()}
