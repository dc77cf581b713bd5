"""Two runs of one benchmark, paired by observation: the difference of their means, its interval and its test.

Pairing takes the difficulty of the items out of the noise, which is why it shows smaller differences than two
intervals side by side do (Miller, arXiv 2411.00640, section 4). Tests and root finding are scipy's.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

TestName = Literal["exact McNemar", "paired permutation", "no difference to test"]
FEW_DIFFERING = 10
"""Below this many differing observations their spread says little; the interval is then at least the score one."""
RESAMPLES = 9_999
SEED = 0
POWER = 0.8
LEVEL = 0.05


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
    """The smallest true difference that this many pairs, this noisy, show in four of five cases (5 % level)."""


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


def interval(changes: Sequence[float], level: float) -> tuple[float, float]:
    """Return the interval of the mean change, within [-1, 1].

    Changes that are all -1, 0 or 1 get Tango's score interval (Statistics in Medicine 17, 1998, 891-908), which keeps
    its level where few items change; others Student's, and where few of them change the wider of the two.
    """
    risen = math.fsum(change for change in changes if change > 0)
    fallen = -math.fsum(change for change in changes if change < 0)
    score = _tango(risen, fallen, len(changes), level)
    if all(change in {-1, 0, 1} for change in changes):
        return score
    from scipy.stats import ttest_1samp

    student = ttest_1samp(changes, 0).confidence_interval(level)
    low, high = max(-1.0, float(student.low)), min(1.0, float(student.high))
    if sum(change != 0 for change in changes) < FEW_DIFFERING:
        return min(low, score[0]), max(high, score[1])
    return low, high


def _changes(before: Sequence[float], after: Sequence[float]) -> list[float]:
    if not before:
        raise ValueError("nothing to compare")
    # Means of the same credits can differ in their last bit by the order of adding; that is no change.
    return [round(b - a, 12) for a, b in zip(before, after, strict=True)]


def _test(changes: list[float]) -> tuple[float, TestName]:
    risen, fallen = sum(c > 0 for c in changes), sum(c < 0 for c in changes)
    if not risen + fallen:
        return 1.0, "no difference to test"
    if all(change in {-1, 0, 1} for change in changes):
        from scipy.stats import binomtest

        return float(binomtest(risen, risen + fallen).pvalue), "exact McNemar"
    import numpy as np
    from scipy.stats import permutation_test

    moved = np.array([change for change in changes if change])
    result = permutation_test(
        (moved,), np.sum, permutation_type="samples", vectorized=True, n_resamples=RESAMPLES,
        rng=np.random.default_rng(SEED),
    )  # fmt: skip
    return float(result.pvalue), "paired permutation"


def _tango(risen: float, fallen: float, n: int, level: float) -> tuple[float, float]:
    """Invert the score test of a difference of paired proportions; `risen` and `fallen` count the discordant pairs."""
    from scipy.optimize import brentq
    from scipy.special import ndtri

    z = float(ndtri((1 + level) / 2))

    def score(delta: float) -> float:
        a, b = 2 * n, -risen - fallen + (2 * n - risen + fallen) * delta
        c = -fallen * delta * (1 - delta)
        share = max(0.0, (math.sqrt(max(0.0, b * b - 4 * a * c)) - b) / (2 * a))
        variance = n * (2 * share + delta * (1 - delta))
        gap = risen - fallen - n * delta
        if variance <= 0:
            return math.copysign(math.inf, gap) if gap else 0.0
        return gap / math.sqrt(variance)

    def bound(end: float, wanted: float) -> float:
        # The score falls from the left end to the right one; where it never gets to z, the end is the bound.
        left, right = -1 + 1e-9, 1 - 1e-9
        if (score(left) - wanted) * (score(right) - wanted) >= 0:
            return end
        return float(brentq(lambda delta: score(delta) - wanted, left, right, xtol=1e-10))

    return bound(-1.0, z), bound(1.0, -z)
