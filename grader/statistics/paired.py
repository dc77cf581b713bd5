"""The difference between the means of two runs, paired by observation, with its interval and its test.

Pairing removes the difficulty of the items from the noise, so that it shows smaller differences than a comparison of
two intervals (Miller, arXiv 2411.00640, section 4).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import msgspec

from grader.statistics.quantiles import Z95, find_root, normal_quantile, normal_tail, student_quantile

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    import numpy as np
    from numpy.typing import NDArray

LARGEST_DENOMINATOR = 1000
LARGEST_SUM = 40_000
"""In units of the lattice; more would be slow, and would change no p value that matters."""
INTEGER_TOLERANCE = 1e-9
"""Relative distance from a whole number that is a rounding error."""
SMALLEST_P_VALUE = 1e-14
"""Rounding errors of the transform are smaller."""
DECIMALS = 12
"""Of changes: means of the same credits can differ in later decimals, because of the order of addition."""


def permutation_p_value(changes: Sequence[float]) -> float:
    """Return the two-sided p value of changes that are not 0, if each had either sign with probability 1/2.

    Changes with a small common denominator (shares of m samples: m) are scaled to whole numbers. Others are rounded to
    multiples of a small number first, which keeps the test exact: it is that of the rounded changes.
    """
    import numpy as np

    multiples = _as_integers(np.asarray(changes, dtype=np.float64))
    largest_sum, observed = int(np.abs(multiples).sum()), abs(int(multiples.sum()))
    if not observed:
        return 1.0
    # If the changes sum to s, the positive ones sum to (largest_sum + s) / 2.
    positive_sum = (largest_sum + observed) // 2
    tail = float(_positive_sum_probabilities(np.abs(multiples), largest_sum)[positive_sum:].sum())
    return min(1.0, max(2 * tail, SMALLEST_P_VALUE))


def _as_integers(changes: NDArray[np.float64]) -> NDArray[np.int64]:
    """Scale changes to integers: without rounding if they have a small common denominator, else to a fine lattice."""
    import numpy as np

    sizes = np.unique(np.abs(changes)).tolist()
    denominators = [Fraction(size).limit_denominator(LARGEST_DENOMINATOR).denominator for size in sizes]
    common = float(np.lcm.reduce(denominators, dtype=object))
    scaled = changes * common
    is_exact = np.abs(scaled - np.rint(scaled)).max() <= common * INTEGER_TOLERANCE
    if not is_exact or np.abs(scaled).sum() > LARGEST_SUM:
        scaled = changes * (LARGEST_SUM / np.abs(changes).sum())
    return np.rint(scaled).astype(np.int64)


def _positive_sum_probabilities(sizes: NDArray[np.int64], largest_sum: int) -> NDArray[np.float64]:
    """Return the probability of each sum (0 to `largest_sum`) of positive changes, each positive with probability 1/2.

    It is the inverse Fourier transform of the characteristic function, which is a product: the factor of a change that
    is -size or +size is (exp(-i angle size) + exp(i angle size)) / 2 = cos(angle * size).
    """
    import numpy as np

    points: int = 1 << largest_sum.bit_length()
    angles = np.arange(points // 2 + 1) * (np.pi / points)
    # Shifts the sums from -largest_sum..largest_sum, in steps of 2, to 0..largest_sum, in steps of 1.
    transform = np.exp(-1j * angles * largest_sum)
    for size, count in zip(*np.unique(sizes, return_counts=True), strict=True):
        transform *= np.cos(angles * size) ** count
    probabilities: NDArray[np.float64] = np.fft.irfft(transform, points)
    return np.clip(probabilities[: largest_sum + 1], 0.0, None)


TestName = Literal["exact McNemar", "paired permutation", "no difference to test"]
POWER = 0.8
FEWEST_FOR_POWER = 10
"""Minimum number of pairs for a minimum detectable change."""
LEVEL = 0.05
POWER_QUANTILE = 0.8416212335729143
"""The normal quantile of `POWER`."""


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
    cluster_changes = _cluster_changes(changes, clusters) if clusters else changes
    # Intervals and tests need changes in [-1, 1]; that of a large cluster may be outside.
    scale = max(1.0, *map(abs, cluster_changes))
    return difference_from_changes(
        [change / scale for change in cluster_changes],
        value=math.fsum(changes) / len(changes) if value is None else value,
        scale=scale,
        n=len(changes),
        differing=sum(change != 0 for change in changes),
    )


def difference_from_changes(
    changes: Sequence[float], *, value: float, scale: float, n: int, differing: int, largest: float = 1.0
) -> Difference:
    """Return the difference of a metric. `changes`: of each item, divided by `scale`, so that they are in [-1, 1].

    `value` is the metric's own change, which can differ a little from `scale` times the mean of `changes`: intervals
    are moved by this distance. `largest` is the largest change that the metric can have.
    """
    p_value, test = _p_value_and_test(changes)
    offset = value - scale * math.fsum(changes) / len(changes)

    def metric_interval(level: float) -> tuple[float, float]:
        low, high = (scale * end + offset for end in interval(changes, level))
        return align_with_test(max(-largest, low), min(largest, high), value, p_value, level)

    narrow, wide = metric_interval(1 - 2 * LEVEL), metric_interval(1 - LEVEL)
    # If the test moved an end of only one of them, this end can have passed that of the other.
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


def align_with_test(low: float, high: float, value: float, p_value: float, level: float) -> tuple[float, float]:
    """Return an interval of `value` that excludes 0 if and only if the test rejects 0 at this level.

    If they disagree, the end beside 0 moves to the limit that belongs to the test (Miettinen, American Journal of
    Epidemiology 103, 1976, 226-235): `value` minus z times the standard error with which it has this p value.
    """
    rejected = p_value < 1 - level
    if rejected == (not low <= 0 <= high):
        return low, high
    limit = value * (1 + normal_quantile((1 + level) / 2) / normal_quantile(p_value / 2)) if p_value < 1 else 0.0
    return (limit, high) if value > 0 else (low, limit)


def detectable(low: float, high: float) -> float:
    """Return the difference that data with a 95 % interval as wide as [low, high] would show with 80 % power."""
    return (high - low) / (2 * Z95) * (Z95 + POWER_QUANTILE)


def _standard_error(changes: Sequence[float]) -> float:
    number, mean = len(changes), math.fsum(changes) / len(changes)
    squares = math.fsum((change - mean) ** 2 for change in changes)
    return math.sqrt(squares / (number - 1) / number) if number > 1 else 0.0


SIMULATED_RUNS = 200
"""The quantile of so many simulated lower ends is certain to about a tenth of their spread; it takes a second."""


def smallest_margin(shares: Sequence[float], trials: Sequence[int], change_rate: float) -> float:
    """Return the smallest margin, in points, within which an unchanged model stays with 80 % power, by simulation.

    `shares`: of right samples, for each item; `trials`: its number of samples. How often new samples of an item differ
    is only seen in several: `change_rate` is the assumed share of the items with one sample that change.
    """
    import numpy as np

    rng = np.random.default_rng(0)
    right, counts = np.asarray(shares), np.asarray(trials)
    size = (SIMULATED_RUNS, len(right))
    # p (1 - p) of the observed shares is too small by the factor (m - 1) / m on average: m - 1 trials make up for it.
    simulated_trials = np.maximum(counts - 1, 1)
    before, after = (rng.binomial(simulated_trials, right, size) / simulated_trials for _ in range(2))
    flips = rng.choice([-1.0, 0.0, 1.0], size, p=[change_rate / 2, 1 - change_rate, change_rate / 2])
    changes = np.where(counts > 1, after - before, flips).round(DECIMALS)
    lower_ends = [interval(run, 1 - 2 * LEVEL)[0] for run in changes.tolist()]
    return -100 * float(np.quantile(lower_ends, 1 - POWER))


def p_value_of_reaching(limit: float, bounds: Sequence[tuple[float, float]]) -> float:
    """Return the one-sided p value of "the true value is at least `limit`".

    `bounds`: two upper bounds as (normal quantile of its level, bound), smaller first. The line through them gives the
    quantile at which the bound would be the limit. Equal bounds have no spread: the p value is 0 or 1.
    """
    (z_1, bound_1), (z_2, bound_2) = bounds
    if bound_2 <= bound_1:
        return 0.0 if bound_1 < limit else 1.0
    return normal_tail(z_1 + (z_2 - z_1) * (limit - bound_1) / (bound_2 - bound_1))


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
    return [round(b - a, DECIMALS) for a, b in zip(before, after, strict=True)]


def _cluster_changes(changes: Sequence[float], clusters: Sequence[Hashable]) -> list[float]:
    """Return one change per cluster, weighted by its relative size: their mean is that of all changes."""
    sums: dict[Hashable, float] = {}
    for change, cluster in zip(changes, clusters, strict=True):
        sums[cluster] = sums.get(cluster, 0.0) + change
    mean_size = len(changes) / len(sums)
    return [round(total / mean_size, DECIMALS) for total in sums.values()]


def _p_value_and_test(changes: Sequence[float]) -> tuple[float, TestName]:
    """Return the two-sided p value of no difference, and the test that gives it: an exact one in every case."""
    nonzero = [change for change in changes if change]
    if not nonzero:
        return 1.0, "no difference to test"
    if all(change in {-1, 1} for change in nonzero):
        return _sign_test(nonzero.count(1), len(nonzero)), "exact McNemar"
    return permutation_p_value(nonzero), "paired permutation"


def _sign_test(risen: int, n: int) -> float:
    """Return the two-sided p value of a fair coin that fell `risen` times on one side in `n` throws."""
    fewer = min(risen, n - risen)
    if 2 * fewer == n:
        # Twice the tail would count the middle twice.
        return 1.0
    binomial = tail = 1
    for k in range(1, fewer + 1):
        binomial = binomial * (n - k + 1) // k
        tail += binomial
    return 2 * tail / (1 << n)


CONTINUITY = 0.5
"""Items by which the observed number is moved towards the tested one."""
ALMOST_ONE = 1 - 1e-9
"""Largest true change that is tried: at 1 the variance is 0."""
ALMOST_ZERO = 1e-9
"""A spread, or a skewness, below it is a rounding error."""


def interval(changes: Sequence[float], level: float) -> tuple[float, float]:
    """Return the interval of the mean change, in [-1, 1]; each end alone is a bound at half of 1 - level.

    Changes that are all -1, 0 or 1 get the score interval, which keeps its level if few items change. Others get the
    union of two intervals, each of which is wide enough where the other may not be: the score interval if few items
    change, Hall's interval if a few large changes are among many small ones.
    """
    low, high = _score_interval(changes, level)
    if len(changes) > 1 and not all(change in {-1, 0, 1} for change in changes):
        hall_low, hall_high = _hall_interval(changes, level)
        low, high = max(-1.0, min(low, hall_low)), min(1.0, max(high, hall_high))
    return low, high


def _score_interval(changes: Sequence[float], level: float) -> tuple[float, float]:
    """Invert the score test, with continuity and skewness corrections, of changes that are multiples of one size.

    At a level of 5 %, Tango's test (Statistics in Medicine 17, 1998, 891-908) has an error rate of up to 9 % if few
    items change. With a continuity correction of half an item and a skewness correction (Laud, Pharmaceutical
    Statistics 16, 2017, 334-348; in Hall's monotone form) it is at most 5 %.

    Changes of different sizes are replaced by changes of one size with the same second moment. Half a change of size 1
    is added to both sums that give this size, so that a single small change does not set the scale.
    """
    total = math.fsum(map(abs, changes))
    size = (math.fsum(change * change for change in changes) + 0.5) / (total + 0.5)
    fallen = -math.fsum(change for change in changes if change < 0) / size
    risen = total / size - fallen
    n, z = len(changes), normal_quantile((1 + level) / 2)

    def score_above_z(low: float) -> float:
        return _score_statistic(risen, fallen, n, low, CONTINUITY) - z

    def score_above_minus_z(high: float) -> float:
        return _score_statistic(risen, fallen, n, high, -CONTINUITY) + z

    # From the estimate outwards the score leaves [-z, z] once. If it never does, the bound is the end of the scale.
    estimate = max(-ALMOST_ONE, min(ALMOST_ONE, (risen - fallen) / n))
    lower, upper = -1.0, 1.0
    if score_above_z(-ALMOST_ONE) > 0 > score_above_z(estimate):
        lower = find_root(score_above_z, -ALMOST_ONE, estimate)
    if score_above_minus_z(estimate) > 0 > score_above_minus_z(ALMOST_ONE):
        upper = find_root(score_above_minus_z, estimate, ALMOST_ONE)
    return size * lower, size * upper


def _score_statistic(risen: float, fallen: float, n: int, delta: float, correction: float) -> float:
    """Return the distance of the observed mean change from `delta`, in standard errors under a true change of `delta`.

    `correction` (in items) is subtracted first. Variance and skewness are those of the most likely shares of risen and
    fallen items that differ by `delta` (Tango's equations; the skewness correction is Laud's, in Hall's form).
    """
    p_fallen = _most_likely_share_fallen(risen, fallen, n, delta)
    p_risen = p_fallen + delta
    variance = p_risen + p_fallen - delta * delta
    distance = risen - fallen - n * delta - correction
    if variance <= 0:
        return math.copysign(math.inf, distance) if distance else 0.0
    third_moment = p_risen - p_fallen - 3 * delta * (p_risen + p_fallen) + 2 * delta**3
    skewness = third_moment / (variance * math.sqrt(variance * n))
    # The correction cannot remove a skewness above 0.5. With this limit, the score decreases as delta grows.
    skewness_term = -max(-0.5, min(0.5, skewness)) / 6
    raw = distance / math.sqrt(n * variance)
    return raw + skewness_term * raw**2 + skewness_term**2 * raw**3 / 3 - skewness_term


def _most_likely_share_fallen(risen: float, fallen: float, n: int, delta: float) -> float:
    """Return the most likely share p of fallen items: 2n p^2 + b p - fallen delta (1 - delta) = 0."""
    b = -risen - fallen + (2 * n - risen + fallen) * delta
    discriminant = max(0.0, b * b + 8 * n * fallen * delta * (1 - delta))
    return max(0.0, -delta, (math.sqrt(discriminant) - b) / (4 * n))


def _hall_interval(changes: Sequence[float], level: float) -> tuple[float, float]:
    """Return Student's interval, corrected for the sample's skewness (Hall, JRSS B 54, 1992, 221-228).

    Hall's transform of the t statistic has Student's distribution. Its inverse turns quantiles into those of the
    statistic, (mean - true mean) / stderr, of which the upper one gives the lower end.
    """
    n, mean = len(changes), math.fsum(changes) / len(changes)
    deviation = math.sqrt(math.fsum((change - mean) ** 2 for change in changes) / n)
    if deviation <= ALMOST_ZERO:
        return mean, mean
    skewness_term = math.fsum((change - mean) ** 3 for change in changes) / n / deviation**3 / math.sqrt(n) / 3
    stderr, t = deviation / math.sqrt(n - 1), student_quantile(n - 1, (1 + level) / 2)

    def inverse_transform(quantile: float) -> float:
        if abs(skewness_term) <= ALMOST_ZERO:
            return quantile
        return (math.cbrt(1 + 3 * skewness_term * (quantile - skewness_term / 2)) - 1) / skewness_term

    return mean - stderr * inverse_transform(t), mean - stderr * inverse_transform(-t)
