"""Metrics that are means over observations, in both readings, and an item's values by round: most scorers use these."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from grader.results import READINGS, IntervalMethod, Metric, Outcome, ReadingName, SampleResult
from grader.results.groups import by_group, by_round, by_task, in_group
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


def credit(sample: SampleResult, reading: ReadingName) -> float:
    """Return the credit of a sample."""
    return sample.reading(reading).points


def mean_credit(members: Sequence[SampleResult], reading: ReadingName, value: SampleValue = credit) -> float | None:
    """Return the mean credit, or other value, of the scored samples; None if none is scored."""
    scored = [value(sample, reading) for sample in members if sample.reading(reading).is_scored]
    return sum(scored) / len(scored) if scored else None


def metric_rows(
    samples: Iterable[SampleResult], name: str, observe: Callable[[list[SampleResult], ReadingName], list[Observation]]
) -> list[Metric]:
    """Return one metric for every group and reading; `observe` makes the observations of a group's samples."""
    rows = []
    for group, members in by_group(samples).items():
        for reading in READINGS:
            row = of_group(name, reading, group, members, observe)
            if row is not None:
                rows.append(row)
    return rows


def of_group(
    name: str,
    reading: ReadingName,
    group: str | None,
    members: list[SampleResult],
    observe: Callable[[list[SampleResult], ReadingName], list[Observation]],
) -> Metric | None:
    """Return the metric of a group over the tasks that the reading judges; without a value if it judges none."""
    judged = of_judged(members, reading)
    return metric(name, reading, group, observe(judged, reading)) if judged else without_value(name, group)


def is_judged(members: Iterable[SampleResult], reading: ReadingName) -> bool:
    """Whether a reading judges a task."""
    return all(member.reading(reading).outcome is not Outcome.NOT_JUDGED for member in members)


def of_judged(samples: Iterable[SampleResult], reading: ReadingName) -> list[SampleResult]:
    """Return the samples of the tasks that a reading judges."""
    return [sample for sample in samples if is_judged([sample], reading)]


def without_value(name: str, group: str | None) -> Metric:
    """Return a careful metric of samples that are all not judged."""
    return Metric(name=name, reading="careful", group=group, value=None, n=0)


def metric(name: str, reading: ReadingName, group: str | None, observations: list[Observation]) -> Metric | None:
    """Return the mean over scored observations, with bounds if something is unscored; None if nothing is scored.

    The value is never outside of its bounds; where they coincide, it is known.
    """
    low, high = (math.fsum(getattr(o, end) for o in observations) / (len(observations) or 1) for end in ("low", "high"))
    scored = _known(observations)
    summary = intervals.mean(
        [value for value, _ in scored], [one.cluster or str(at) for at, (_, one) in enumerate(scored)]
    )
    if summary is None:
        return None
    value = min(max(summary.value, 100 * low), 100 * high)
    dropped = len(observations) - len(scored)
    return Metric(
        name=name,
        reading=reading,
        group=group,
        value=value,
        ci95=(min(summary.ci95[0], value), max(summary.ci95[1], value)),
        stderr=summary.stderr,
        n=summary.n,
        bounds=(100 * low, 100 * high) if any(not o.value == o.low == o.high for o in observations) else msgspec.UNSET,
        dropped=dropped or msgspec.UNSET,
    )


def _known(observations: list[Observation]) -> list[tuple[float, Observation]]:
    """Return the values of scored observations; of all, if unscored samples cannot change any."""
    if all(one.low == one.high for one in observations):
        return [(one.low, one) for one in observations]
    return [(one.value, one) for one in observations if one.value is not None]


def each_task(samples: list[SampleResult], reading: ReadingName, value: SampleValue = credit) -> list[Observation]:
    """Return one observation per qid: the mean credit, or other value, of its samples."""
    return [mean_of(members, reading, value) for members in by_task(samples).values()]


def mean_of(members: list[SampleResult], reading: ReadingName, value: SampleValue = credit) -> Observation:
    """Return the mean credit, or other value, of samples."""
    return combine(
        [
            Observation(value=None, low=0, high=1, cluster=member.independent_unit)
            if not member.reading(reading).is_scored
            else Observation(value=(one := value(member, reading)), low=one, high=one, cluster=member.independent_unit)
            for member in members
        ]
    )


def combine(parts: list[Observation]) -> Observation:
    """Return the mean of observations, over those that are scored, and the mean of their bounds."""
    scored = [part.value for part in parts if part.value is not None]
    return Observation(
        value=sum(scored) / len(scored) if scored else None,
        low=sum(part.low for part in parts) / len(parts),
        high=sum(part.high for part in parts) / len(parts),
        cluster=parts[0].cluster,
    )


def weighted(found: list[Observation], weights: list[int], scored: list[int] | None = None) -> list[Observation]:
    """Return observations whose mean is the weighted mean; `scored`: the weights in the value, if they are others.

    A value is the mean plus the observation's distance from it, times its weight beside the average one (the linearised
    ratio). It can be outside of [0, 1].
    """
    scored = scored or [0 if one.value is None else weight for one, weight in zip(found, weights, strict=True)]
    values = _linearised([one.value or 0.0 for one in found], scored)
    lows, highs = (_linearised([getattr(one, end) for one in found], weights) for end in ("low", "high"))
    return [
        Observation(value=value if weight else None, low=low, high=high, cluster=one.cluster)
        for value, weight, low, high, one in zip(values, scored, lows, highs, found, strict=True)
    ]


def _linearised(values: list[float], weights: list[int]) -> list[float]:
    if len(set(filter(None, weights))) < 2:
        return values
    total, number = sum(weights), sum(map(bool, weights))
    ratio = math.fsum(value * weight for value, weight in zip(values, weights, strict=True)) / total
    return [ratio + weight * number / total * (value - ratio) for value, weight in zip(values, weights, strict=True)]


def values_by_round(report: Report, observe: Observe, reading: ReadingName) -> dict[str, list[float]]:
    """Return the values of the scored items, in [0, 1], in the metric that `observe` gives.

    An item whose value is not the mean of its rounds (pass@3) has this value alone.
    """
    found: dict[str, list[float]] = {}
    for item, members in in_group(report, None).items():
        value = observe(members, reading)
        if value is None:
            continue
        each = [one for of in by_round(members).values() if (one := observe(of, reading)) is not None]
        is_mean = bool(each) and math.isclose(value, math.fsum(each) / len(each), abs_tol=1e-9)
        found[item] = each if is_mean else [value]
    return found
