"""Uncertainty of a mean over tasks, questions or circular groups; tasks of one family are one cluster.

The interval is Wilson's (JASA 22, 1927, 209-212) with an effective number of observations: n for values that are 0 or
1, more for values that vary less than those, as shares of many samples do.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

Z95 = 1.959963984540054


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
    sums = _by_cluster(values, clusters or range(len(values)))
    average = math.fsum(values) / len(values)
    low, high = wilson(average, effective_number(sums))
    spread = _spread(sums, average)
    stderr = math.sqrt(spread / (len(sums) - 1) / len(sums)) if len(sums) > 1 and spread > 1e-18 else None
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
    half = Z95 * math.sqrt(proportion * (1 - proportion) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return max(0.0, centre - half), min(1.0, centre + half)


def p_beyond(value: float, ci95: tuple[float, float], limit: float) -> float:
    """Return the one-sided p value of a true value that is at `limit` or beyond it, seen from the value; all in [0, 1].

    It is that of the score test to which Wilson's interval belongs, with its effective number, corrected for
    continuity: without the correction, a share of 100 items at a limit of 0.9 would be found beyond it in 7 %.
    """
    end = ci95[1] if limit > value else ci95[0]
    if end == value:
        return 0.5 if limit == value else 0.0
    z = Z95 * abs(limit - value) / abs(end - value)
    if 0 < end < 1 and 0 < limit < 1:
        number = Z95**2 * end * (1 - end) / (end - value) ** 2
        z = max(0.0, abs(limit - value) - 0.5 / number) / math.sqrt(limit * (1 - limit) / number)
    return math.erfc(z / math.sqrt(2)) / 2


def effective_number(sums: Sequence[tuple[float, int]]) -> float:
    """Return how many right-or-wrong observations would say as much as these clusters: (sum of values, size) of each.

    Their variance is that of the values and of two more, 0 and 1, so that it is never 0: values that are all equal, or
    that happen to be close, prove little. The number is at least that of the clusters (if some are larger, that of
    equal clusters with the same weight; Kish, Survey Sampling, 1965).
    """
    number, size = len(sums), sum(size for _, size in sums)
    middle = (math.fsum(total for total, _ in sums) * number / size + 1) / (number + 2)
    variance = (_spread(sums, middle) + middle**2 + (1 - middle) ** 2) / (number + 1)
    fewest = size * size / sum(size * size for _, size in sums)
    return max(fewest, number * middle * (1 - middle) / variance)


def _by_cluster(values: Sequence[float], clusters: Sequence[Hashable]) -> list[tuple[float, int]]:
    members: dict[Hashable, list[float]] = {}
    for value, cluster in zip(values, clusters, strict=True):
        members.setdefault(cluster, []).append(value)
    return sorted((math.fsum(found), len(found)) for found in members.values())


def _spread(sums: Sequence[tuple[float, int]], middle: float) -> float:
    """Return the sum of squares of the clusters' distances from `middle`, each weighted by its relative size."""
    usual = sum(size for _, size in sums) / len(sums)
    return math.fsum(((total - middle * size) / usual) ** 2 for total, size in sums)
