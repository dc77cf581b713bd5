"""The difference between the means of two runs, paired by observation, with its interval and its test.

Pairing removes the difficulty of the items from the noise, so that it shows smaller differences than a comparison of
two intervals (Miller, arXiv 2411.00640, section 4). Quantiles, root finding and the exact test come from scipy.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import msgspec

from grader.statistics.paired_bounds import interval
from grader.statistics.permutation import permutation

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

TestName = Literal["exact McNemar", "paired permutation", "no difference to test"]
POWER = 0.8
FEWEST_FOR_POWER = 10
"""Minimum number of pairs for a minimum detectable change."""
LEVEL = 0.05
POWER_QUANTILE = 0.8416212335729143
"""The normal quantile of `POWER`."""
Z90 = 1.6448536269514722
"""The normal quantile of one-sided bounds at the 5 % level."""
Z95 = 1.959963984540054


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """The change of a mean from one run to another, in percentage points."""

    value: float
    ci95: tuple[float, float]
    """It excludes 0 if and only if `p_value` is below 0.05."""
    ci90: tuple[float, float]
    """Each end is a one-sided bound at the 5 % level; gates use these bounds."""
    p_value: float
    """Of the two-sided test of no difference."""
    test: TestName
    n: int
    """Number of paired observations."""
    differing: int
    """Number of pairs that differ."""
    stderr: float
    """Standard error, from the spread of the changes; 0 if they show none."""
    detectable: float
    """The smallest true difference that this data would show with 80 % power (5 % level)."""


def difference(before: Sequence[float], after: Sequence[float], clusters: Sequence[Hashable] = ()) -> Difference:
    """Compare two runs' observations, each in [0, 1], in the same order. Raises ValueError if there are none.

    `clusters` names the cluster of each observation; empty: each is independent of the others.
    """
    changes = _changes(before, after)
    together = _by_cluster(changes, clusters) if clusters else changes
    scale = max(1.0, *map(abs, together))
    return of_changes(
        [change / scale for change in together],
        value=math.fsum(changes) / len(changes),
        scale=scale,
        n=len(changes),
        differing=sum(change != 0 for change in changes),
    )


def of_changes(
    changes: Sequence[float], *, value: float, scale: float, n: int, differing: int, reach: float = 1.0
) -> Difference:
    """Return the difference of a metric of which `scale` times the mean of `changes`, each in [-1, 1], is the change.

    `value`: the change of the metric itself, `reach`: its largest possible change.
    """
    p_value, test = _test(changes)
    rest = value - scale * math.fsum(changes) / len(changes)

    def around(level: float) -> tuple[float, float]:
        low, high = (scale * end + rest for end in interval(changes, level))
        return agreeing(max(-reach, low), min(reach, high), value, p_value, level)

    narrow, wide = around(1 - 2 * LEVEL), around(1 - LEVEL)
    # Where only one of them had to agree with the test, they may not lie in each other.
    wide = min(wide[0], narrow[0]), max(wide[1], narrow[1])
    return Difference(
        value=100 * value,
        ci95=(100 * wide[0], 100 * wide[1]),
        ci90=(100 * narrow[0], 100 * narrow[1]),
        p_value=p_value,
        test=test,
        n=n,
        differing=differing,
        stderr=100 * scale * _standard_error(changes),
        detectable=100 * detectable(*wide),
    )


def agreeing(low: float, high: float, value: float, p_value: float, level: float) -> tuple[float, float]:
    """Return an interval that excludes 0 if and only if the test rejects 0 at this level.

    If they disagree, the end beside 0 moves to the limit that belongs to the test (Miettinen, American Journal of
    Epidemiology 103, 1976, 226-235): `value` minus z times the standard error with which it has this p value.
    """
    from scipy.special import ndtri

    rejected = p_value < 1 - level
    if rejected == (not low <= 0 <= high):
        return low, high
    if not rejected and value == 0:
        return min(low, 0.0), max(high, 0.0)
    limit = value * (1 + float(ndtri((1 + level) / 2) / ndtri(p_value / 2))) if p_value < 1 else 0.0
    return (limit, high) if value > 0 else (low, limit)


def detectable(low: float, high: float) -> float:
    """Return the difference that data with a 95 % interval as wide as [low, high] would show with 80 % power."""
    return (high - low) / (2 * Z95) * (Z95 + POWER_QUANTILE)


def _standard_error(changes: Sequence[float]) -> float:
    number, middle = len(changes), math.fsum(changes) / len(changes)
    squares = math.fsum((change - middle) ** 2 for change in changes)
    return math.sqrt(squares / (number - 1) / number) if number > 1 else 0.0


def smallest_margin(shares: Sequence[float], trials: Sequence[int], changing: float) -> float:
    """Return the drop in points that an unchanged model excludes with 80 % power, by simulation.

    Each item has a share of right samples. An item of one trial cannot show its noise: `changing` is the share of such
    items that change.
    """
    import numpy as np

    rng, draws = np.random.default_rng(0), 200
    right, several = np.asarray(shares), np.asarray(trials)
    # With one trial less, the variance of drawn shares is that of new samples on average.
    fewer = np.maximum(several - 1, 1)
    again = [rng.binomial(fewer, right, (draws, len(right))) / fewer for _ in range(2)]
    flips = rng.choice([-1.0, 0.0, 1.0], (draws, len(right)), p=[changing / 2, 1 - changing, changing / 2])
    changes = np.where(several > 1, again[1] - again[0], flips).round(12)
    lows = [interval(row, 1 - 2 * LEVEL)[0] for row in changes.tolist()]
    return -100 * float(np.quantile(lows, 1 - POWER))


def p_at_least(limit: float, bounds: Sequence[tuple[float, float]]) -> float:
    """Return the one-sided p value of "it is at least `limit`".

    `bounds`: two upper bounds as (z, bound), smaller first; the line through them gives the z of the limit.
    """
    from scipy.special import ndtr

    (z, bound), (more, wider) = bounds
    if wider <= bound:
        return 0.0 if bound < limit else 1.0
    return float(ndtr(-(z + (more - z) * (limit - bound) / (wider - bound))))


def detectable_in_words(change: Difference) -> str:
    """Return the minimum detectable change as text; empty if it is not meaningful.

    The normal approximation does not hold for few pairs, and no change can be larger than the whole scale.
    """
    if change.n < FEWEST_FOR_POWER or not 0 < change.detectable < 100:
        return ""
    return f"minimum detectable change {change.detectable:.1f} points ({100 * POWER:.0f} % power, n = {change.n})"


def _changes(before: Sequence[float], after: Sequence[float]) -> list[float]:
    if not before:
        raise ValueError("nothing to compare")
    # Means of the same credits can differ in the last bit, because of the order of addition; this is not a change.
    return [round(b - a, 12) for a, b in zip(before, after, strict=True)]


def _by_cluster(changes: Sequence[float], clusters: Sequence[Hashable]) -> list[float]:
    """Return one change per cluster, weighted by its relative size: their mean is that of all changes."""
    sums: dict[Hashable, float] = {}
    for change, cluster in zip(changes, clusters, strict=True):
        sums[cluster] = sums.get(cluster, 0.0) + change
    usual = len(changes) / len(sums)
    return [round(total / usual, 12) for total in sums.values()]


def _test(changes: Sequence[float]) -> tuple[float, TestName]:
    moved = [change for change in changes if change]
    if not moved:
        return 1.0, "no difference to test"
    if all(change in {-1, 1} for change in moved):
        from scipy.stats import binomtest

        return float(binomtest(moved.count(1), len(moved)).pvalue), "exact McNemar"
    return permutation(moved), "paired permutation"
