"""Metrics that are means over observations, in both readings, and an item's values by round: most scorers use these."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from grader.results import READINGS, IntervalMethod, Metric, Outcome, ReadingName, SampleResult
from grader.results.groups import by_group, by_observation, by_round, in_group
from grader.statistics import intervals

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.results import Report

SampleValue = Callable[[SampleResult, ReadingName], float]
"""Return the value of one scored sample in a metric, in [0, 1]."""
Observe = Callable[[Sequence[SampleResult], ReadingName], float | None]
"""Return the credit of one observation's samples, in [0, 1]; None if it is unscored."""
METHOD = IntervalMethod(
    level=95,
    proportions="Wilson score",
    means="Wilson score with the effective number of tasks or questions",
)


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """The credit of one observation: over scored samples, and over all samples if unscored ones are wrong or right."""

    value: float | None
    low: float
    high: float
    cluster: str = ""
    """Observations of one cluster are not independent of each other (a family of tasks); empty: independent."""


ObserveAll = Callable[[list[SampleResult], ReadingName], list[Observation]]
"""Return the observations that samples make."""
MakeRow = Callable[[list[SampleResult], ReadingName, str | None], Metric | None]
"""Return the metric of a group's samples in a reading; the group is None for all samples."""


def credit(sample: SampleResult, reading: ReadingName) -> float:
    """Return the credit of a sample."""
    return sample.reading(reading).points


def mean_credit(members: Sequence[SampleResult], reading: ReadingName, value: SampleValue = credit) -> float | None:
    """Return the mean credit, or other value, of the scored samples; None if none is scored."""
    scored = [value(sample, reading) for sample in members if sample.reading(reading).is_scored]
    return sum(scored) / len(scored) if scored else None


# --- metrics ----------------------------------------------------------------------------------------------------------


def metric_rows(samples: Iterable[SampleResult], name: str, observe: ObserveAll) -> list[Metric]:
    """Return one metric for every group and reading; `observe` makes the observations of a group's samples."""
    return rows_by_group(samples, partial(group_metric, name=name, observe=observe))


def rows_by_group(samples: Iterable[SampleResult], make_row: MakeRow) -> list[Metric]:
    """Return the metrics that `make_row` gives for every group and reading."""
    rows = (make_row(members, reading, group) for group, members in by_group(samples).items() for reading in READINGS)
    return [row for row in rows if row is not None]


def group_metric(
    members: list[SampleResult], reading: ReadingName, group: str | None, *, name: str, observe: ObserveAll
) -> Metric | None:
    """Return the metric of a group over the tasks that the reading judges; without a value if it judges none."""
    judged = judged_samples(members, reading)
    return metric(name, reading, group, observe(judged, reading)) if judged else metric_without_value(name, group)


def is_judged(members: Iterable[SampleResult], reading: ReadingName) -> bool:
    """Whether a reading judges a task."""
    return all(member.reading(reading).outcome is not Outcome.NOT_JUDGED for member in members)


def judged_samples(samples: Iterable[SampleResult], reading: ReadingName) -> list[SampleResult]:
    """Return the samples of the tasks that a reading judges."""
    return [sample for sample in samples if is_judged([sample], reading)]


def metric_without_value(name: str, group: str | None) -> Metric:
    """Return the metric of samples none of which is judged; only the careful reading has such samples."""
    return Metric(name=name, reading="careful", group=group, value=None, n=0)


def metric(name: str, reading: ReadingName, group: str | None, observations: list[Observation]) -> Metric | None:
    """Return the mean over scored observations in percent, with bounds if something is unscored; None if all is.

    The value is never outside of its bounds; where they coincide, it is known.
    """
    number = len(observations) or 1
    low, high = (math.fsum(getattr(one, bound) for one in observations) / number for bound in ("low", "high"))
    scored = _scored_values(observations)
    clusters = [observation.cluster or str(index) for index, (_, observation) in enumerate(scored)]
    summary = intervals.mean([value for value, _ in scored], clusters)
    if summary is None:
        return None
    value = min(max(summary.value, 100 * low), 100 * high)
    is_complete = all(one.value == one.low == one.high for one in observations)
    return Metric(
        name=name,
        reading=reading,
        group=group,
        value=value,
        ci95=(min(summary.ci95[0], value), max(summary.ci95[1], value)),
        stderr=summary.stderr,
        n=summary.n,
        bounds=msgspec.UNSET if is_complete else (100 * low, 100 * high),
        dropped=len(observations) - len(scored) or msgspec.UNSET,
    )


def _scored_values(observations: list[Observation]) -> list[tuple[float, Observation]]:
    """Return the values of the scored observations; of all, if nothing unscored changes one (low equals high)."""
    if all(one.low == one.high for one in observations):
        return [(one.low, one) for one in observations]
    return [(one.value, one) for one in observations if one.value is not None]


# --- observations -----------------------------------------------------------------------------------------------------


def each_observation(
    samples: list[SampleResult], reading: ReadingName, value: SampleValue = credit
) -> list[Observation]:
    """Return one observation per task, or unit of several tasks: the mean credit, or other value, of its samples."""
    return [mean_of_samples(members, reading, value) for members in by_observation(samples).values()]


def mean_of_samples(members: list[SampleResult], reading: ReadingName, value: SampleValue = credit) -> Observation:
    """Return the mean credit, or other value, of samples."""
    return mean_of_observations([_observation(member, reading, value) for member in members])


def _observation(sample: SampleResult, reading: ReadingName, value: SampleValue) -> Observation:
    if not sample.reading(reading).is_scored:
        return Observation(value=None, low=0, high=1, cluster=sample.independent_unit)
    number = value(sample, reading)
    return Observation(value=number, low=number, high=number, cluster=sample.independent_unit)


def mean_of_observations(parts: list[Observation]) -> Observation:
    """Return the mean of observations, over those that are scored, and the mean of their bounds."""
    scored = [part.value for part in parts if part.value is not None]
    return Observation(
        value=sum(scored) / len(scored) if scored else None,
        low=sum(part.low for part in parts) / len(parts),
        high=sum(part.high for part in parts) / len(parts),
        cluster=parts[0].cluster,
    )


def weight_observations(
    observations: list[Observation], bound_weights: list[int], value_weights: list[int] | None = None
) -> list[Observation]:
    """Return observations whose plain mean, which intervals and tests need, is the weighted mean of the given ones.

    Their values can be outside of [0, 1].
    `bound_weights`: the weights of low and high, which count all samples of an observation.
    `value_weights`: the weights of the values, which count the scored samples; None: those of the bounds, and 0 for an
    unscored observation.
    """
    value_weights = value_weights or [
        0 if one.value is None else weight for one, weight in zip(observations, bound_weights, strict=True)
    ]
    values = _linearise([one.value or 0.0 for one in observations], value_weights)
    lows = _linearise([one.low for one in observations], bound_weights)
    highs = _linearise([one.high for one in observations], bound_weights)
    return [
        Observation(value=value if weight else None, low=low, high=high, cluster=one.cluster)
        for value, weight, low, high, one in zip(values, value_weights, lows, highs, observations, strict=True)
    ]


def _linearise(values: list[float], weights: list[int]) -> list[float]:
    """Return values whose plain mean and standard error are those of the weighted mean: R + w n / W (x - R).

    R is the weighted mean, n the number of weights above 0, W their sum. Equal weights change nothing.
    """
    if len(set(filter(None, weights))) < 2:
        return values
    total, number = sum(weights), sum(map(bool, weights))
    ratio = math.fsum(value * weight for value, weight in zip(values, weights, strict=True)) / total
    return [ratio + weight * number / total * (value - ratio) for value, weight in zip(values, weights, strict=True)]


def values_by_round(report: Report, observe: Observe, reading: ReadingName) -> dict[str, list[float]]:
    """Return the values of the scored items, in [0, 1], in the metric that `observe` gives.

    An item whose value is not the mean of its rounds (pass@3) has this value alone.
    """
    values: dict[str, list[float]] = {}
    for item, members in in_group(report, group=None).items():
        value = observe(members, reading)
        if value is None:
            continue
        rounds = (observe(samples, reading) for samples in by_round(members).values())
        scored = [round_value for round_value in rounds if round_value is not None]
        is_mean = bool(scored) and math.isclose(value, math.fsum(scored) / len(scored), abs_tol=1e-9)
        values[item] = scored if is_mean else [value]
    return values
