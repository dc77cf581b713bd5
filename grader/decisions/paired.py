"""Two runs of one benchmark, paired by observation: the difference of their means, its interval and its test.

Pairing takes the difficulty of the items out of the noise, which is why it shows smaller differences than two
intervals side by side do (Miller, arXiv 2411.00640, section 4). Quantiles, root finding and the exact test are scipy's.
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
"""Up to so many changed observations every one of their signs is tried."""
RESAMPLES = 9_999
SEED = 0
POWER = 0.8
FEWEST_FOR_POWER = 10
"""Pairs from which a minimum detectable change is stated."""
LEVEL = 0.05
HALF = 0.5
END = 1 - 1e-9
TINY = 1e-9


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """How far a mean moved from one run to the other, in percentage points."""

    value: float
    ci95: tuple[float, float]
    ci90: tuple[float, float]
    """Each of its ends is a one-sided bound at the 5 % level: what a gate decides on."""
    p_value: float
    """Of the two-sided test that the runs differ by nothing."""
    test: TestName
    n: int
    """Paired observations."""
    differing: int
    """Of these, how many differ at all."""
    detectable: float
    """The smallest true difference that this many pairs, this noisy, show with 80 % power (5 % level)."""


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
    """In percent, over what is paired and scored in both runs."""
    after: float
    difference: Difference


def difference(before: Sequence[float], after: Sequence[float]) -> Difference:
    """Compare two runs' observations, each in [0, 1] and in the same order; raises ValueError where there is none."""
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
    """Return the difference that data with a 95 % interval as wide as [low, high] show with 80 % power."""
    from scipy.special import ndtri

    stderr = (high - low) / (2 * ndtri(1 - LEVEL / 2))
    return float(stderr * (ndtri(1 - LEVEL / 2) + ndtri(POWER)))


def detectable_in_words(change: Difference) -> str:
    """Return the minimum detectable change as a sentence says it; empty where it would say nothing.

    Its normal approximation holds for no handful of pairs, and no value moves by more than the whole scale.
    """
    if change.n < FEWEST_FOR_POWER or not 0 < change.detectable < 100:
        return ""
    return f"minimum detectable change {change.detectable:.1f} points ({100 * POWER:.0f} % power, n = {change.n})"


def interval(changes: Sequence[float], level: float) -> tuple[float, float]:
    """Return the interval of the mean change, within [-1, 1]; each end by itself is a bound at half of 1 - level.

    Changes that are all -1, 0 or 1 get the score interval alone, which keeps its level where few items change. Others
    get what that and Hall's interval cover together: the one is careful where few items change, the other where a few
    large changes hide among many small ones.
    """
    low, high = _score_interval(changes, level)
    if len(changes) > 1 and not all(change in {-1, 0, 1} for change in changes):
        left, right = _hall_interval(changes, level)
        low, high = max(-1.0, min(low, left)), min(1.0, max(high, right))
    return low, high


def _changes(before: Sequence[float], after: Sequence[float]) -> list[float]:
    if not before:
        raise ValueError("nothing to compare")
    # Means of the same credits can differ in their last bit by the order of adding; that is no change.
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
    """Return the chance that changes of these sizes and of any sign add up to as much."""
    import numpy as np

    if len(moved) <= FEW_MOVED:
        sums = np.zeros(1)
        for change in moved:
            sums = np.concatenate((sums + change, sums - change))
        return float(np.mean(np.abs(sums) >= abs(math.fsum(moved)) - TINY))
    # Changes of one size are interchangeable: how many of them rise is a binomial draw.
    rng, sums = np.random.default_rng(SEED), np.zeros(RESAMPLES)
    for size, number in sorted(Counter(map(abs, moved)).items()):
        sums += size * (2 * rng.binomial(number, 0.5, RESAMPLES) - number)
    extreme = np.abs(sums) >= abs(math.fsum(moved)) - TINY
    return float((1 + extreme.sum()) / (1 + RESAMPLES))


def _score_interval(changes: Sequence[float], level: float) -> tuple[float, float]:
    """Invert the score test, with continuity and skewness corrections, of changes that are multiples of one size.

    Tango's test (Statistics in Medicine 17, 1998, 891-908) fails up to 9 % where few items change, at a level of 5 %;
    with half an item's correction and the skewness taken out (Laud, Pharmaceutical Statistics 16, 2017, 334-348; in
    Hall's monotone form) it is at most 5 %. Changes that are not all of one size count as so many of the size that has
    the same second moment, half a whole change being added so that a single small one does not set the scale.
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

    # From the estimate outwards the score leaves [-z, z] once; where it never does, the end of the scale is the bound.
    middle = max(-END, min(END, (risen - fallen) / n))
    left = brentq(excess, -END, middle, xtol=1e-12) if excess(-END) > 0 > excess(middle) else -1.0
    right = brentq(lack, middle, END, xtol=1e-12) if lack(middle) > 0 > lack(END) else 1.0
    return size * left, size * right


def _score(risen: float, fallen: float, n: int, delta: float, correction: float = 0.0) -> float:
    """Return how many standard errors, if the mean change were delta, n items with these that changed lie above it.

    `correction` (items) is taken off first. Variance and skewness are those of the likeliest shares of risen and fallen
    items that differ by delta.
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
    # More skewness than half is more than the correction can take out; so kept, the score falls as delta grows.
    bend = -max(-0.5, min(0.5, third / (variance * math.sqrt(variance * n)))) / 6
    raw = gap / math.sqrt(n * variance)
    return raw + bend * raw**2 + bend**2 * raw**3 / 3 - bend


def _hall_interval(changes: Sequence[float], level: float) -> tuple[float, float]:
    """Return Student's interval with the sample's skewness taken out (Hall, JRSS B 54, 1992, 221-228)."""
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
