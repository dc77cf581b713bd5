"""The difference between the means of two runs, paired by observation, with its interval and its test.

Pairing removes the difficulty of the items from the noise, so that it shows smaller differences than a comparison of
two intervals (Miller, arXiv 2411.00640, section 4). Quantiles, root finding and the exact test come from scipy.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Literal

import msgspec

from grader.errors import UsageError
from grader.results import ReadingName

if TYPE_CHECKING:
    from collections.abc import Sequence

TestName = Literal["exact McNemar", "paired permutation", "no difference to test"]
FEW_MOVED = 13
"""Up to this number of changed observations, all combinations of their signs are computed."""
RESAMPLES = 9_999
SEED = 0
POWER = 0.8
FEWEST_FOR_POWER = 10
"""Minimum number of pairs for a minimum detectable change."""
LEVEL = 0.05
HALF = 0.5
END = 1 - 1e-9
TINY = 1e-9


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """The change of a mean from one run to another, in percentage points."""

    value: float
    ci95: tuple[float, float]
    ci90: tuple[float, float]
    """Each end is a one-sided bound at the 5 % level; gates use these bounds."""
    p_value: float
    """Of the two-sided test of no difference."""
    test: TestName
    n: int
    """Number of paired observations."""
    differing: int
    """Number of pairs that differ."""
    detectable: float
    """The smallest true difference that this data would show with 80 % power (5 % level)."""


class NothingPairedError(UsageError):
    """No observation is scored in both runs."""

    def __init__(self) -> None:
        super().__init__("These runs cannot be compared: no item is scored in both.")


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """One metric in one reading, in both runs."""

    name: str
    reading: ReadingName
    group: str | None
    before: float
    """In percent, over the pairs that are scored in both runs."""
    after: float
    difference: Difference


def difference(before: Sequence[float], after: Sequence[float]) -> Difference:
    """Compare two runs' observations, each in [0, 1], in the same order. Raises ValueError if there are none."""
    changes = _changes(before, after)
    p_value, test = _test(changes)
    wide, narrow = interval(changes, 1 - LEVEL), interval(changes, 1 - 2 * LEVEL)
    return Difference(
        value=100 * math.fsum(changes) / len(changes),
        ci95=_points(wide),
        ci90=_points(narrow),
        p_value=p_value,
        test=test,
        n=len(changes),
        differing=sum(change != 0 for change in changes),
        detectable=100 * detectable(*wide),
    )


def _points(bounds: tuple[float, float]) -> tuple[float, float]:
    return 100 * bounds[0], 100 * bounds[1]


def detectable(low: float, high: float) -> float:
    """Return the difference that data with a 95 % interval as wide as [low, high] would show with 80 % power."""
    from scipy.special import ndtri

    stderr = (high - low) / (2 * ndtri(1 - LEVEL / 2))
    return float(stderr * (ndtri(1 - LEVEL / 2) + ndtri(POWER)))


def detectable_in_words(change: Difference) -> str:
    """Return the minimum detectable change as text; empty if it is not meaningful.

    The normal approximation does not hold for few pairs, and no change can be larger than the whole scale.
    """
    if change.n < FEWEST_FOR_POWER or not 0 < change.detectable < 100:
        return ""
    return f"minimum detectable change {change.detectable:.1f} points ({100 * POWER:.0f} % power, n = {change.n})"


def interval(changes: Sequence[float], level: float) -> tuple[float, float]:
    """Return the interval of the mean change, in [-1, 1]; each end alone is a bound at half of 1 - level.

    Changes that are all -1, 0 or 1 get the score interval, which keeps its level if few items change. Others get the
    union of the score interval and Hall's interval: the first one is conservative if few items change, the second one
    if there are a few large changes among many small ones.
    """
    low, high = _score_interval(changes, level)
    if len(changes) > 1 and not all(change in {-1, 0, 1} for change in changes):
        left, right = _hall_interval(changes, level)
        low, high = max(-1.0, min(low, left)), min(1.0, max(high, right))
    return low, high


def _changes(before: Sequence[float], after: Sequence[float]) -> list[float]:
    if not before:
        raise ValueError("nothing to compare")
    # Means of the same credits can differ in the last bit, because of the order of addition; this is not a change.
    return [round(b - a, 12) for a, b in zip(before, after, strict=True)]


def _test(changes: list[float]) -> tuple[float, TestName]:
    moved = [change for change in changes if change]
    if not moved:
        return 1.0, "no difference to test"
    if all(change in {-1, 1} for change in moved):
        from scipy.stats import binomtest

        return float(binomtest(moved.count(1), len(moved)).pvalue), "exact McNemar"
    return permutation(moved), "paired permutation"


def permutation(moved: list[float]) -> float:
    """Return the probability that changes of these sizes with random signs have a sum at least as large."""
    import numpy as np

    if len(moved) <= FEW_MOVED:
        sums = np.zeros(1)
        for change in moved:
            sums = np.concatenate((sums + change, sums - change))
        return float(np.mean(np.abs(sums) >= abs(math.fsum(moved)) - TINY))
    # Changes of one size are interchangeable: the number of rises is a binomial draw.
    rng, sums = np.random.default_rng(SEED), np.zeros(RESAMPLES)
    for size, number in sorted(Counter(map(abs, moved)).items()):
        sums += size * (2 * rng.binomial(number, 0.5, RESAMPLES) - number)
    extreme = np.abs(sums) >= abs(math.fsum(moved)) - TINY
    return float((1 + extreme.sum()) / (1 + RESAMPLES))


def _score_interval(changes: Sequence[float], level: float) -> tuple[float, float]:
    """Invert the score test, with continuity and skewness corrections, of changes that are multiples of one size.

    At a level of 5 %, Tango's test (Statistics in Medicine 17, 1998, 891-908) has an error rate of up to 9 % if few
    items change. With a continuity correction of half an item and a skewness correction (Laud, Pharmaceutical
    Statistics 16, 2017, 334-348; in Hall's monotone form) it is at most 5 %. Changes of different sizes are replaced by
    changes of one size with the same second moment; half a whole change is added, so that a single small change does
    not set the scale.
    """
    from scipy.optimize import brentq
    from scipy.special import ndtri

    total = math.fsum(map(abs, changes))
    size = (math.fsum(change * change for change in changes) + HALF) / (total + HALF)
    fallen = -math.fsum(change for change in changes if change < 0) / size
    risen = total / size - fallen
    n, z = len(changes), float(ndtri((1 + level) / 2))

    def excess(low: float) -> float:
        return _score(risen, fallen, n, low, HALF) - z

    def lack(high: float) -> float:
        return _score(risen, fallen, n, high, -HALF) + z

    # From the estimate outwards the score leaves [-z, z] once. If it never does, the bound is the end of the scale.
    middle = max(-END, min(END, (risen - fallen) / n))
    left = brentq(excess, -END, middle, xtol=1e-12) if excess(-END) > 0 > excess(middle) else -1.0
    right = brentq(lack, middle, END, xtol=1e-12) if lack(middle) > 0 > lack(END) else 1.0
    return size * left, size * right


def _score(risen: float, fallen: float, n: int, delta: float, correction: float = 0.0) -> float:
    """Return the distance of the observed mean change from `delta`, in standard errors under a true change of `delta`.

    `correction` (in items) is subtracted first. Variance and skewness are those of the most likely shares of risen and
    fallen items that differ by `delta`.
    """
    b = -risen - fallen + (2 * n - risen + fallen) * delta
    root = math.sqrt(max(0.0, b * b + 8 * n * fallen * delta * (1 - delta)))
    down = max(0.0, -delta, (root - b) / (4 * n))
    up = down + delta
    variance = up + down - delta * delta
    gap = risen - fallen - n * delta - correction
    if variance <= 0:
        return math.copysign(math.inf, gap) if gap else 0.0
    third = up - down - 3 * delta * (up + down) + 2 * delta**3
    # The correction cannot remove a skewness above 0.5. With this limit, the score decreases as delta grows.
    bend = -max(-0.5, min(0.5, third / (variance * math.sqrt(variance * n)))) / 6
    raw = gap / math.sqrt(n * variance)
    return raw + bend * raw**2 + bend**2 * raw**3 / 3 - bend


def _hall_interval(changes: Sequence[float], level: float) -> tuple[float, float]:
    """Return Student's interval, corrected for the sample's skewness (Hall, JRSS B 54, 1992, 221-228)."""
    from scipy.special import stdtrit

    n, mean = len(changes), math.fsum(changes) / len(changes)
    spread = math.sqrt(math.fsum((change - mean) ** 2 for change in changes) / n)
    if spread <= TINY:
        return mean, mean
    bend = math.fsum((change - mean) ** 3 for change in changes) / n / spread**3 / math.sqrt(n) / 3
    stderr, t = spread / math.sqrt(n - 1), float(stdtrit(n - 1, (1 + level) / 2))

    def unbent(quantile: float) -> float:
        return (math.cbrt(1 + 3 * bend * (quantile - bend / 2)) - 1) / bend if abs(bend) > TINY else quantile

    return mean - stderr * unbent(t), mean - stderr * unbent(-t)
