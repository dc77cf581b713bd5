"""The difference between the means of two runs, paired by observation, with its interval and its test.

Pairing removes the difficulty of the items from the noise, so that it shows smaller differences than a comparison of
two intervals (Miller, arXiv 2411.00640, section 4).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import msgspec

from grader.statistics.quantiles import normal_quantile, normal_tail, root, student_quantile

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    import numpy as np
    from numpy.typing import NDArray

LARGEST_DENOMINATOR = 1000
LARGEST_SUM = 40_000
"""In units of the lattice; more would be slow, and would change no p value that matters."""
PRECISION = 1e-9
SMALLEST = 1e-14
"""Rounding errors of the transform are smaller than this p value."""


def permutation(changes: Sequence[float]) -> float:
    """Return the two-sided p value of changes that are not 0.

    Changes that are multiples of one size (shares of m samples: 1/m) are counted in it. Others are rounded to a fine
    lattice first, which keeps the test exact: it is that of the rounded changes.
    """
    import numpy as np

    units = _units(np.asarray(changes, dtype=np.float64))
    reach, observed = int(np.abs(units).sum()), abs(int(units.sum()))
    if not observed:
        return 1.0
    tail = float(_distribution(np.abs(units), reach)[(reach + observed) // 2 :].sum())
    return min(1.0, max(2 * tail, SMALLEST))


def _units(changes: NDArray[np.float64]) -> NDArray[np.int64]:
    import numpy as np

    parts = [Fraction(size).limit_denominator(LARGEST_DENOMINATOR) for size in np.unique(np.abs(changes)).tolist()]
    whole = float(np.lcm.reduce([part.denominator for part in parts], dtype=object))
    units = changes * whole
    if np.abs(units).sum() > LARGEST_SUM or np.abs(units - np.rint(units)).max() > whole * PRECISION:
        units = changes * (LARGEST_SUM / np.abs(changes).sum())
    return np.rint(units).astype(np.int64)


def _distribution(sizes: NDArray[np.int64], reach: int) -> NDArray[np.float64]:
    """Return the probability of each sum, from 0 to `reach`, of the sizes that rise, if each does with probability 1/2.

    It is the inverse Fourier transform of the product of cosines.
    """
    import numpy as np

    points: int = 1 << reach.bit_length()
    angles = np.arange(points // 2 + 1) * (np.pi / points)
    product = np.exp(-1j * angles * reach)
    for size, number in zip(*np.unique(sizes, return_counts=True), strict=True):
        product *= np.cos(angles * size) ** number
    found: NDArray[np.float64] = np.fft.irfft(product, points)
    return np.clip(found[: reach + 1], 0.0, None)


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


def difference(
    before: Sequence[float],
    after: Sequence[float],
    clusters: Sequence[Hashable] = (),
    *,
    value: float | None = None,
) -> Difference:
    """Compare two runs' observations, in the same order. Raises ValueError if there are none.

    `clusters` names the cluster of each observation; empty: each is independent of the others. `value`: the change of
    the metric, if it is only nearly the mean change of the observations.
    """
    changes = _changes(before, after)
    together = _by_cluster(changes, clusters) if clusters else changes
    scale = max(1.0, *map(abs, together))
    return of_changes(
        [change / scale for change in together],
        value=math.fsum(changes) / len(changes) if value is None else value,
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
        return agreeing_with_test(max(-reach, low), min(reach, high), value, p_value, level)

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


def agreeing_with_test(low: float, high: float, value: float, p_value: float, level: float) -> tuple[float, float]:
    """Return an interval that excludes 0 if and only if the test rejects 0 at this level.

    If they disagree, the end beside 0 moves to the limit that belongs to the test (Miettinen, American Journal of
    Epidemiology 103, 1976, 226-235): `value` minus z times the standard error with which it has this p value.
    """
    rejected = p_value < 1 - level
    if rejected == (not low <= 0 <= high):
        return low, high
    if not rejected and value == 0:
        return min(low, 0.0), max(high, 0.0)
    limit = value * (1 + normal_quantile((1 + level) / 2) / normal_quantile(p_value / 2)) if p_value < 1 else 0.0
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
    (z, bound), (more, wider) = bounds
    if wider <= bound:
        return 0.0 if bound < limit else 1.0
    return normal_tail(z + (more - z) * (limit - bound) / (wider - bound))


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
        return _sign_test(moved.count(1), len(moved)), "exact McNemar"
    return permutation(moved), "paired permutation"


def _sign_test(risen: int, n: int) -> float:
    """Return the two-sided p value of a fair coin that fell `risen` times on one side in `n` throws."""
    fewer = min(risen, n - risen)
    if 2 * fewer == n:
        return 1.0
    ways = all_ways = 1
    for part in range(1, fewer + 1):
        ways = ways * (n - part + 1) // part
        all_ways += ways
    return 2 * all_ways / (1 << n)


HALF = 0.5
END = 1 - 1e-9
TINY = 1e-9


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


def _score_interval(changes: Sequence[float], level: float) -> tuple[float, float]:
    """Invert the score test, with continuity and skewness corrections, of changes that are multiples of one size.

    At a level of 5 %, Tango's test (Statistics in Medicine 17, 1998, 891-908) has an error rate of up to 9 % if few
    items change. With a continuity correction of half an item and a skewness correction (Laud, Pharmaceutical
    Statistics 16, 2017, 334-348; in Hall's monotone form) it is at most 5 %. Changes of different sizes are replaced by
    changes of one size with the same second moment; half a whole change is added, so that a single small change does
    not set the scale.
    """
    total = math.fsum(map(abs, changes))
    size = (math.fsum(change * change for change in changes) + HALF) / (total + HALF)
    fallen = -math.fsum(change for change in changes if change < 0) / size
    risen = total / size - fallen
    n, z = len(changes), normal_quantile((1 + level) / 2)

    def excess(low: float) -> float:
        return _score(risen, fallen, n, low, HALF) - z

    def lack(high: float) -> float:
        return _score(risen, fallen, n, high, -HALF) + z

    # From the estimate outwards the score leaves [-z, z] once. If it never does, the bound is the end of the scale.
    middle = max(-END, min(END, (risen - fallen) / n))
    left = root(excess, -END, middle) if excess(-END) > 0 > excess(middle) else -1.0
    right = root(lack, middle, END) if lack(middle) > 0 > lack(END) else 1.0
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
    n, mean = len(changes), math.fsum(changes) / len(changes)
    spread = math.sqrt(math.fsum((change - mean) ** 2 for change in changes) / n)
    if spread <= TINY:
        return mean, mean
    bend = math.fsum((change - mean) ** 3 for change in changes) / n / spread**3 / math.sqrt(n) / 3
    stderr, t = spread / math.sqrt(n - 1), student_quantile(n - 1, (1 + level) / 2)

    def unbent(quantile: float) -> float:
        return (math.cbrt(1 + 3 * bend * (quantile - bend / 2)) - 1) / bend if abs(bend) > TINY else quantile

    return mean - stderr * unbent(t), mean - stderr * unbent(-t)
