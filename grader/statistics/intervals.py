"""Uncertainty of a mean over tasks, questions or circular groups; tasks of one family are one cluster.

The interval is Wilson's (JASA 22, 1927, 209-212) with an effective number of observations: n for values that are 0 or
1, more for values that vary less than those, as shares of many samples do.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

from grader.statistics.quantiles import Z95, normal_tail

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

ROUNDING_ERROR = 1e-18
"""A sum of squares below it is that of equal values: their distances from their mean are rounding errors."""


class Mean(msgspec.Struct, frozen=True, kw_only=True):
    """A mean in percent, its standard error and its 95 % interval."""

    value: float
    stderr: float | None
    """None: the values show no spread (there is one cluster, or all are equal), so it is unknown."""
    ci95: tuple[float, float]
    n: int


def mean(values: Sequence[float], clusters: Sequence[Hashable] = ()) -> Mean | None:
    """Summarise values in [0, 1]; return None if there are none.

    `clusters` names the cluster of each value; empty: each value is independent of the others.
    """
    if not values:
        return None
    sums = _cluster_sums(values, clusters or range(len(values)))
    average = math.fsum(values) / len(values)
    low, high = wilson(average, effective_sample_size(sums))
    squares = _sum_of_squares(sums, average)
    has_spread = len(sums) > 1 and squares > ROUNDING_ERROR
    stderr = math.sqrt(squares / (len(sums) - 1) / len(sums)) if has_spread else None
    return Mean(
        value=100 * average,
        stderr=None if stderr is None else 100 * stderr,
        ci95=(100 * low, 100 * high),
        n=len(values),
    )


def wilson(proportion: float, n: float) -> tuple[float, float]:
    """Return the Wilson score interval of a proportion in [0, 1]; `n` need not be a whole number."""
    z2 = Z95 * Z95
    centre = (proportion + z2 / (2 * n)) / (1 + z2 / n)
    half_width = Z95 * math.sqrt(proportion * (1 - proportion) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return max(0.0, centre - half_width), min(1.0, centre + half_width)


def one_sided_p_value(value: float, ci95: tuple[float, float], limit: float) -> float:
    """Return the one-sided p value of "the true value is at `limit` or beyond it, seen from `value`"; all in [0, 1].

    It is that of the score test to which Wilson's interval belongs, with its effective sample size, corrected for
    continuity: without the correction, 7 % of samples of 100 items with the true value 0.9 would reject 0.9, not 5 %.
    """
    end = ci95[1] if limit > value else ci95[0]
    # An interval without width leaves no doubt.
    if end == value:
        return 0.5 if limit == value else 0.0
    if 0 < end < 1 and 0 < limit < 1:
        n = _sample_size_of_interval(value, end)
        half_item = 0.5 / n
        z = max(0.0, abs(limit - value) - half_item) / math.sqrt(limit * (1 - limit) / n)
    else:
        # Under a true value of 0 or 1 the score test has no spread: the interval's own spread stands for it.
        z = Z95 * abs(limit - value) / abs(end - value)
    return normal_tail(z)


def _sample_size_of_interval(value: float, end: float) -> float:
    """Return the n of a Wilson interval of `value` that ends there: (end - value)^2 = z^2 end (1 - end) / n.

    A results file has the interval, not the n.
    """
    return Z95**2 * end * (1 - end) / (end - value) ** 2


def effective_sample_size(sums: Sequence[tuple[float, int]]) -> float:
    """Return how many right-or-wrong observations would say as much as these clusters: (sum of values, size) of each.

    Two pseudo-observations, 0 and 1, are added before mean and variance are taken (as in Agresti and Coull's interval),
    so that the variance is never 0: values that are all equal, or that happen to be close, prove little. The number is
    at least that of the clusters; if their sizes differ, at least Kish's number of equal clusters with the same weight
    (Survey Sampling, 1965).
    """
    clusters, size = len(sums), sum(size for _, size in sums)
    # In units in which a cluster has size 1 on average, so that a pseudo-observation weighs as much as a cluster.
    sum_of_values = math.fsum(total for total, _ in sums) * clusters / size
    observations = clusters + 2
    smoothed_mean = (sum_of_values + 1) / observations
    squares = _sum_of_squares(sums, smoothed_mean) + smoothed_mean**2 + (1 - smoothed_mean) ** 2
    variance = squares / (observations - 1)
    kish_number = size * size / sum(size * size for _, size in sums)
    # A right-or-wrong value has the variance mean (1 - mean): so many of them vary as much as these clusters do.
    return max(kish_number, clusters * smoothed_mean * (1 - smoothed_mean) / variance)


def _cluster_sums(values: Sequence[float], clusters: Sequence[Hashable]) -> list[tuple[float, int]]:
    """Return each cluster's (sum of values, size), in an order that does not depend on that of the values."""
    members: dict[Hashable, list[float]] = {}
    for value, cluster in zip(values, clusters, strict=True):
        members.setdefault(cluster, []).append(value)
    return sorted((math.fsum(group), len(group)) for group in members.values())


def _sum_of_squares(sums: Sequence[tuple[float, int]], centre: float) -> float:
    """Return the sum of squares of the clusters' distances from `centre`, each weighted by its relative size."""
    mean_size = sum(size for _, size in sums) / len(sums)
    return math.fsum(((total - centre * size) / mean_size) ** 2 for total, size in sums)
