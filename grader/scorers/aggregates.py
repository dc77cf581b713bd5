"""Metrics that every scorer has if its benchmark declares them: means over groups, F1 of two groups, sets of tasks.

A task counts with its credit; an observation of several tasks (a circular question) is right if all of them are.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from grader.results import Aggregation
from grader.results.groups import by_observation, by_round, grouped, in_group
from grader.scorers.means import (
    MakeRow,
    Observation,
    group_metric,
    judged_samples,
    mean_of_observations,
    mean_of_samples,
    metric,
    rows_by_group,
)
from grader.scorers.pairing import MetricComparison, NothingPairedError, compare_paired

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grader.benchmark import Benchmark
    from grader.results import Metric, ReadingName, Report, SampleResult
    from grader.scorers.pairing import Side
    from grader.task import Task

MACRO, F1 = "macro_accuracy", "f1"
GLOSSARY: Mapping[str, str] = {
    MACRO: "The mean of the accuracies of groups, each with the same weight.",
    F1: "The harmonic mean of two accuracies.",
}
SET = "The share of sets whose tasks are all right."
"""The explanation of the metric of a set of tasks."""


def aggregation_of(declared: Benchmark, k: Sequence[int]) -> Aggregation:
    """Return what a declaration and `-k` ask for."""
    return Aggregation(mean_over=declared.levels, f1_of=list(declared.f1_of or ()), k=list(k))


def aggregation_problem(declared: Benchmark) -> str:
    """Return what is wrong with the groupings that a declaration names; empty if nothing is."""
    for group in declared.f1_of or ():
        if "=" not in group:
            return f"f1_of: expected FIELD=LABEL, found {group!r}"
    groupings = [*declared.columns.groups, *declared.derived]
    uses = [("mean_over", name, "") for name in declared.levels]
    uses += [("f1_of", name, label) for name, _, label in (group.partition("=") for group in declared.f1_of or ())]
    for field, name, label in uses:
        if name not in groupings:
            listed = ", ".join(groupings) or "none"
            return f"{field}: there is no grouping {name!r}; `groups` and `derived` have {listed}"
        labels = declared.derived[name].labels() if name in declared.derived else [label]
        if label and label not in labels:
            return f"{field}: {name} has no label {label!r}; its labels are {', '.join(labels)}"
    return ""


def metric_names(declared: Benchmark, scorer_names: Sequence[str]) -> list[str]:
    """Return the names of all metrics of a run: those that a declaration asks for, and those of its scorer."""
    sets = (f"{name}_accuracy" for name in declared.together)
    return list(dict.fromkeys(filter(None, (_main_name(aggregation_of(declared, ())), *scorer_names, *sets))))


def with_declared_metrics(report: Report, scorer_metrics: list[Metric]) -> list[Metric]:
    """Return the metrics of a report: those that its declaration asks for, and those of its scorer.

    A declared metric replaces a scorer's metric of its name.
    """
    if not report.samples:
        return scorer_metrics
    main_name = _main_name(report.aggregation)
    to_compute: list[tuple[list[SampleResult], MakeRow]] = []
    if main_name:
        to_compute.append((report.samples, partial(_main_row, name=main_name, aggregation=report.aggregation)))
    sets: dict[str, list[SampleResult]] = {}
    for sample in report.samples:
        for name in _sets_of(sample):
            sets.setdefault(name, []).append(sample)
    for name, members in sets.items():
        observe = partial(_observe_sets, name=name)
        to_compute.append((members, partial(group_metric, name=f"{name}_accuracy", observe=observe)))
    declared = [row for members, make_row in to_compute for row in rows_by_group(members, make_row)]
    main_rows = [row for row in declared if row.name == main_name]
    set_rows = [row for row in declared if row.name != main_name]
    declared_names = {main_name, *(row.name for row in set_rows)}
    return [*main_rows, *(row for row in scorer_metrics if row.name not in declared_names), *set_rows]


def missing_group_notes(declared: Benchmark, samples: Sequence[SampleResult]) -> list[str]:
    """Return a note if no graded task is in a grouping or group that the main metric needs, so that it has no value."""
    labels = {label for sample in samples for label in sample.group_names()}
    labels_and_groupings = labels | {label.partition("=")[0] for label in labels}
    missing = [name for name in (*declared.levels, *(declared.f1_of or ())) if name not in labels_and_groupings]
    if not samples or not missing:
        return []
    name = _main_name(aggregation_of(declared, ()))
    return [f"There is no {name}: no graded task has {' or '.join(missing)} (`mean_over`, `f1_of` in benchmark.toml)."]


# --- means over groups, F1 of two groups ------------------------------------------------------------------------------


def _main_name(aggregation: Aggregation) -> str:
    return F1 if aggregation.f1_of else MACRO if aggregation.mean_over else ""


def _main_row(
    samples: list[SampleResult], reading: ReadingName, group: str | None, *, name: str, aggregation: Aggregation
) -> Metric | None:
    # Within a group, a mean of one mean would repeat the group's accuracy.
    fewest_means = 1 if group is None else 2
    observations = _main_observations(samples, reading, aggregation, fewest_means)
    return metric(name, reading, group, observations) if observations else None


def compare_main_metric(before: Side, after: Side, name: str, group: str | None) -> MetricComparison | None:
    """Compare the main metric of two runs, paired by observation; None for another metric. Raises NothingPairedError.

    An observation's effect is the change of its credit times the slope of the metric halfway between the runs. The
    effects add up to the difference (of F1 except for a small rest).
    """
    aggregation = after.report.aggregation
    if not name or name != _main_name(aggregation):
        return None
    (all_credits_before, _), (all_credits_after, labels) = (_credits(side, group) for side in (before, after))
    credits_before = {unit: credit for unit, credit in all_credits_before.items() if unit in all_credits_after}
    credits_after = {unit: all_credits_after[unit] for unit in credits_before}
    credits_halfway = {unit: (credits_before[unit] + credits_after[unit]) / 2 for unit in credits_before}
    metric_before, metric_after, metric_halfway = (
        _aggregate(values, labels, aggregation.mean_over, aggregation)
        for values in (credits_before, credits_after, credits_halfway)
    )
    if metric_before is None or metric_after is None or metric_halfway is None:
        raise NothingPairedError
    # The effects add up to the difference. A paired comparison takes their mean, so each is multiplied by their number.
    weights = {unit: len(metric_halfway.slopes) * slope for unit, slope in metric_halfway.slopes.items()}
    scaled_before, scaled_after = (
        {unit: weight * credit_of[unit] for unit, weight in weights.items()}
        for credit_of in (credits_before, credits_after)
    )
    metric_values = (metric_before.value, metric_after.value)
    return compare_paired(scaled_before, scaled_after, after, name, group, metric_values=metric_values)


def _credits(side: Side, group: str | None) -> tuple[dict[str, float], dict[str, frozenset[str]]]:
    """Return the credits of a run's scored tasks or units of a group, and their groups as `field=label`."""
    samples = [sample for members in in_group(side.report, group).values() for sample in members]
    credits_, labels = _credits_and_groups(samples, side.reading)
    return {unit: credit.value for unit, credit in credits_.items() if credit.value is not None}, labels


def _main_observations(
    samples: list[SampleResult], reading: ReadingName, aggregation: Aggregation, fewest_means: int
) -> list[Observation]:
    """Return one observation per task or unit; none if the metric averages fewer means than `fewest_means`.

    A value is a pseudo-value, `metric + n * influence`: the mean of all n is the metric, and their spread gives its
    standard error.
    """
    credits_, labels = _credits_and_groups(samples, reading)

    def values_by_unit(field: Literal["value", "low", "high"]) -> dict[str, float]:
        numbers = {unit: getattr(credit, field) for unit, credit in credits_.items()}
        known = {unit: number for unit, number in numbers.items() if number is not None}
        aggregate = _aggregate(known, labels, aggregation.mean_over, aggregation)
        if aggregate is None or aggregate.number_of_means < fewest_means:
            return {}
        number = len(aggregate.influences)
        return {unit: aggregate.value + number * influence for unit, influence in aggregate.influences.items()}

    values, lows, highs = values_by_unit("value"), values_by_unit("low"), values_by_unit("high")
    return [
        Observation(value=values.get(unit), low=lows[unit], high=highs[unit], cluster=credit.cluster)
        for unit, credit in credits_.items()
        if unit in lows
    ]


def _credits_and_groups(
    samples: list[SampleResult], reading: ReadingName
) -> tuple[dict[str, Observation], dict[str, frozenset[str]]]:
    """Return the credits of tasks or units, and their groups as `field=label`."""
    members = by_observation(judged_samples(samples, reading))
    credits_ = {unit: _credit_of(of_unit, reading) for unit, of_unit in members.items()}
    return credits_, {unit: frozenset(of_unit[0].group_names()) for unit, of_unit in members.items()}


def _credit_of(members: list[SampleResult], reading: ReadingName) -> Observation:
    """Return the mean credit of a task's samples; of a unit of several tasks, the share of rounds with all correct."""
    if all(member.qid == members[0].qid for member in members):
        return mean_of_samples(members, reading)
    return _all_correct_by_round(members, reading)


class _Aggregate(NamedTuple):
    """A mean, a mean of means or an F1, and how it depends on each observation."""

    value: float
    slopes: dict[str, float]
    """The value's derivative by each observation's credit. The value is the sum of credits times slopes."""
    influences: dict[str, float]
    """How much an observation's distance from its mean moves the value; their spread gives the standard error."""
    number_of_means: int
    """The number of means that it was made of."""


def _aggregate(
    values: Mapping[str, float], labels: Mapping[str, frozenset[str]], levels: list[str], aggregation: Aggregation
) -> _Aggregate | None:
    """Return a mean of means, with one mean for each label of the first level; None without values.

    The mean of a label's tasks is again one over the labels of the next level. Without a further level, it is the F1,
    if one is declared, else the plain mean.
    """
    if levels:
        level_labels = {label for unit in values for label in labels[unit] if label.startswith(f"{levels[0]}=")}
        inner = (
            _aggregate(_values_in_group(values, labels, label), labels, levels[1:], aggregation)
            for label in sorted(level_labels)
        )
        parts = [part for part in inner if part is not None]
        return _weighted_sum([(part, 1 / len(parts)) for part in parts]) if parts else None
    if not aggregation.f1_of:
        return _mean(values)
    first, second = (_mean(_values_in_group(values, labels, label)) for label in aggregation.f1_of)
    return None if first is None or second is None else _f1(first, second)


def _f1(first: _Aggregate, second: _Aggregate) -> _Aggregate:
    """Return F1 = 2 a b / (a + b) of two means, a and b; 0 if both are 0.

    It is the sum of a and b, weighted with its derivatives by them: 2 (b / (a + b))^2 and 2 (a / (a + b))^2.
    """
    total = first.value + second.value
    slopes = [2 * (other.value / total) ** 2 if total else 0.0 for other in (second, first)]
    return _weighted_sum([(first, slopes[0]), (second, slopes[1])])


def _values_in_group(values: Mapping[str, float], labels: Mapping[str, frozenset[str]], label: str) -> dict[str, float]:
    return {unit: value for unit, value in values.items() if label in labels[unit]}


def _mean(values: Mapping[str, float]) -> _Aggregate | None:
    """Return the plain mean; None without values. An influence is a distance from the mean, over their number."""
    if not values:
        return None
    mean = sum(values.values()) / len(values)
    share = 1 / len(values)
    influences = {unit: (value - mean) * share for unit, value in values.items()}
    return _Aggregate(value=mean, slopes=dict.fromkeys(values, share), influences=influences, number_of_means=1)


def _weighted_sum(parts: list[tuple[_Aggregate, float]]) -> _Aggregate:
    """Return the sum of (part, weight), also of slopes and influences; an observation can be in several parts."""
    slopes: dict[str, float] = {}
    influences: dict[str, float] = {}
    for part, weight in parts:
        for sums, numbers in ((slopes, part.slopes), (influences, part.influences)):
            for unit, number in numbers.items():
                sums[unit] = sums.get(unit, 0.0) + weight * number
    value = sum(weight * part.value for part, weight in parts)
    number_of_means = sum(part.number_of_means for part, _ in parts)
    return _Aggregate(value=value, slopes=slopes, influences=influences, number_of_means=number_of_means)


# --- sets of tasks ----------------------------------------------------------------------------------------------------


def with_sets(samples: list[SampleResult], tasks: Mapping[str, Task]) -> list[SampleResult]:
    """Return the samples with the sets of their tasks."""
    sets = {qid: dict(task.together) for qid, task in tasks.items() if task.together}
    return [
        msgspec.structs.replace(sample, together=sets[sample.qid]) if sample.qid in sets else sample
        for sample in samples
    ]


def _sets_of(sample: SampleResult) -> Mapping[str, str]:
    return {} if sample.together is msgspec.UNSET else sample.together


def _observe_sets(samples: list[SampleResult], reading: ReadingName, name: str) -> list[Observation]:
    """Return one observation per set: whether all of its tasks are correct, as a mean over rounds."""
    sets = grouped(samples, lambda sample: _sets_of(sample)[name])
    return [_all_correct_by_round(members, reading) for members in sets.values()]


def _all_correct_by_round(members: list[SampleResult], reading: ReadingName) -> Observation:
    """Return the share of rounds with all tasks correct: of the rounds that have a sample of each task.

    If no round is complete, all rounds count.
    """
    number_of_tasks = len({member.qid for member in members})
    rounds = list(by_round(members).values())
    complete_rounds = [samples for samples in rounds if len(samples) == number_of_tasks]
    return mean_of_observations([_all_correct(samples, reading) for samples in complete_rounds or rounds])


def _all_correct(samples: list[SampleResult], reading: ReadingName) -> Observation:
    """Return whether all samples are correct; unscored if one is unscored, even if another one is wrong.

    Otherwise, of the sets with an unscored sample, only wrong ones would count, and the mean would be too low.
    """
    readings = [sample.reading(reading) for sample in samples]
    correct = [scored.points >= 1 for scored in readings if scored.is_scored]
    is_complete = len(correct) == len(samples)
    low, high = float(is_complete and all(correct)), float(all(correct))
    return Observation(value=low if is_complete else None, low=low, high=high, cluster=samples[0].independent_unit)
