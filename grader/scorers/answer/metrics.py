"""Metrics of short answers: accuracy of questions, of sets and of the majority; of yes or no also F1."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Literal

import msgspec

from grader.results import READINGS, Facts, Metric, ReadingName, SampleResult, facts_as
from grader.results.groups import by_group, by_observation
from grader.scorers.answer.careful import is_same
from grader.scorers.answer.declaration import AnswerKind
from grader.scorers.means import (
    Observation,
    ObserveAll,
    each_observation,
    group_metric,
    judged_samples,
    rows_by_group,
    weight_observations,
)
from grader.scorers.pass_at_k import pass_at_k_rows, samples_per_task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.results import Reading


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


def metrics(samples: list[SampleResult], k_values: Sequence[int] = ()) -> list[Metric]:
    """Return all metrics; `k_values`: the numbers given with `-k`."""
    rows = _weighted_rows(samples, "accuracy", each_observation)
    votes = samples_per_task(samples)
    if votes > 1:
        rows += _weighted_rows(_with_samples(samples, votes), f"maj@{votes}", majority)
    rows += pass_at_k_rows(samples, k_values)
    yes_no = [sample for sample in samples if facts_of(sample).kind == "yes_no"]
    return rows + (_yes_no_rows(yes_no) if yes_no else [])


def _weighted_rows(samples: list[SampleResult], name: str, observe: ObserveAll) -> list[Metric]:
    return rows_by_group(samples, partial(_weighted_row, name=name, observe=observe))


def _weighted_row(
    members: list[SampleResult], reading: ReadingName, group: str | None, *, name: str, observe: ObserveAll
) -> Metric | None:
    observe_weighted = partial(weighted_by_count, group=group, observe=observe)
    return group_metric(members, reading, group, name=name, observe=observe_weighted)


def weighted_by_count(
    samples: list[SampleResult], reading: ReadingName, *, group: str | None, observe: ObserveAll
) -> list[Observation]:
    """Return one observation per question of a group, weighted by how often the question counts in it.

    `observe` returns one observation per question.
    """
    counts = [_count_in_group(members[0], group) for members in by_observation(samples).values()]
    return weight_observations(observe(samples, reading), counts)


def _count_in_group(sample: SampleResult, group: str | None) -> int:
    """Return how often a question counts in a group, or overall (None).

    With two labels in the column `counted_in`, it counts once in each group of this column, and twice elsewhere.
    """
    column = facts_of(sample).counted_in
    labels = sample.groups.get(column) if column and isinstance(sample.groups, Mapping) else None
    is_group_of_column = group is not None and group.startswith(f"{column}=")
    return len(labels) if isinstance(labels, list) and not is_group_of_column else 1


def majority(samples: list[SampleResult], reading: ReadingName) -> list[Observation]:
    """Return one observation per task: whether its most frequent answer is correct; the first one if there is a tie."""
    return [_majority(members, reading) for members in by_observation(samples).values()]


def _with_samples(samples: list[SampleResult], count: int) -> list[SampleResult]:
    """Return the samples of the tasks that have so many."""
    tasks = by_observation(samples).values()
    return [sample for members in tasks if len(members) >= count for sample in members]


def majority_credit(members: Sequence[SampleResult], reading: ReadingName, votes: int) -> float | None:
    """Return whether a task's most frequent answer is correct; None if it has fewer samples than votes."""
    return _majority(list(members), reading).value if len(members) >= votes else None


def _majority(members: list[SampleResult], reading: ReadingName) -> Observation:
    """Return the credit of the largest set of equal answers, of the first one if there is a tie.

    Samples without an answer vote only if no sample has one. Its bounds are the credits of all sets that could be
    the largest with the votes of the unscored samples.
    """
    cluster = members[0].independent_unit
    scored = [sample_reading for member in members if (sample_reading := member.reading(reading)).is_scored]
    if not scored:
        return Observation(value=None, low=0, high=1, cluster=cluster)
    kind = facts_of(members[0]).kind
    answer_sets: list[list[Reading]] = []
    set_of: dict[str | None, list[Reading]] = {}  # Text -> its set: each text is compared once.
    for sample_reading in scored:
        answer = sample_reading.answer
        if answer not in set_of:
            equal = (answers for answers in answer_sets if _is_equal(answer, answers[0].answer, kind))
            set_of[answer] = next(equal, [])
        if not set_of[answer]:
            answer_sets.append(set_of[answer])
        set_of[answer].append(sample_reading)
    with_answer = [answers for answers in answer_sets if answers[0].answer is not None]
    credit = max(with_answer or answer_sets, key=len)[0].points
    possible = [credit]
    if unscored := len(members) - len(scored):
        most_votes = max(map(len, with_answer), default=0)
        possible += [answers[0].points for answers in with_answer if len(answers) + unscored >= most_votes]
        possible += [0, 1] if unscored >= most_votes else []  # All of them may have one new answer.
    return Observation(value=credit, low=min(possible), high=max(possible), cluster=cluster)


def _is_equal(first: str | None, second: str | None, kind: AnswerKind | Literal["choice"]) -> bool:
    """Whether two different texts are the same answer."""
    return first is not None and second is not None and kind != "choice" and is_same(first, second, kind)


def _yes_no_rows(samples: list[SampleResult]) -> list[Metric]:
    """Return precision, recall and F1 of "yes", and the share of "yes", as POPE reports them, by group and reading."""
    return [
        row
        for group, members in by_group(samples).items()
        for reading in READINGS
        for row in _yes_no_metrics(judged_samples(members, reading), reading, group)
    ]


def _yes_no_metrics(samples: list[SampleResult], reading: ReadingName, group: str | None) -> list[Metric]:
    """Return the metrics of a group; none if nothing is scored.

    Their bounds are the extremes if all unscored answers were right, wrong, "yes" or "no".
    """
    readings_with_gold = [
        (sample.reading(reading), facts_of(sample).gold)
        for sample in samples
        for _ in range(_count_in_group(sample, group))
    ]
    pairs = [(each.answer, gold) for each, gold in readings_with_gold if each.is_scored]
    if not pairs:
        return []
    unscored_golds = [gold for each, gold in readings_with_gold if not each.is_scored]
    wrong = ["no" if gold == "yes" else "yes" for gold in unscored_golds]
    number = len(unscored_golds)
    extremes = [
        _yes_values([*pairs, *zip(answers, unscored_golds, strict=True)])
        for answers in (unscored_golds, wrong, ["yes"] * number, ["no"] * number)
    ]
    return [
        Metric(
            name=name,
            reading=reading,
            group=group,
            value=value,
            n=len(pairs),
            bounds=(min(values[name] for values in extremes), max(values[name] for values in extremes))
            if number
            else msgspec.UNSET,
            dropped=number or msgspec.UNSET,
        )
        for name, value in _yes_values(pairs).items()
    ]


def _yes_values(pairs: Sequence[tuple[str | None, str]]) -> dict[str, float]:
    """Return the metrics of (predicted, gold), in percent; a share of nothing is 0."""
    hits = sum(predicted == gold == "yes" for predicted, gold in pairs)
    predicted, gold = sum(predicted == "yes" for predicted, _ in pairs), sum(gold == "yes" for _, gold in pairs)
    shares = {
        "precision": (hits, predicted),
        "recall": (hits, gold),
        "f1": (2 * hits, predicted + gold),
        "yes_ratio": (predicted, len(pairs)),
    }
    return {name: 100 * part / total if total else 0.0 for name, (part, total) in shares.items()}
