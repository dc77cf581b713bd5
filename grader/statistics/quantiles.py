"""Quantiles and tails of the normal and Student's distribution, and the root of a function that rises or falls.

They stand here because to import them from scipy takes three times as long as a whole run on a small benchmark.
"""

from __future__ import annotations

import functools
import math
from statistics import NormalDist
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PRECISION = 1e-13
SMALLEST = 1e-300
"""Takes the place of 0, whose logarithm and quantile are infinite."""


def normal_quantile(probability: float) -> float:
    """Return z such that a standard normal value is at most z with this probability, below 1."""
    return NormalDist().inv_cdf(max(probability, SMALLEST))


def normal_tail(z: float) -> float:
    """Return the probability that a standard normal value is above z."""
    return math.erfc(z / math.sqrt(2)) / 2


@functools.lru_cache(maxsize=1000)
def student_quantile(freedom: float, probability: float) -> float:
    """Return Student's quantile of a probability in [0.5, 1); `freedom` is at least 1, and may be a fraction."""
    # No tail is longer than that of one degree of freedom, which is less than 1 / (pi t).
    return root(lambda t: student_tail(freedom, t) - (1 - probability), 0, 1 / (math.pi * (1 - probability)))


def student_tail(freedom: float, t: float) -> float:
    """Return the probability that a value of Student's distribution is above t, which is not negative."""
    square = t * t
    share, rest = freedom / (freedom + square), square / (freedom + square)
    # The continued fraction converges fast on this side of the mean of the beta distribution only.
    if share < (freedom + 2) / (freedom + 5):
        return _incomplete_beta(freedom / 2, 0.5, share, rest) / 2
    return (1 - _incomplete_beta(0.5, freedom / 2, rest, share)) / 2


def _incomplete_beta(a: float, b: float, x: float, rest: float) -> float:
    """Return the regularised incomplete beta function of x = 1 - `rest`, by its continued fraction (DLMF 8.17.22)."""
    fraction = 1.0
    for at in range(30 + 2 * math.isqrt(int(a + b)), 0, -1):
        half = at // 2
        part = (half * (b - half) if at % 2 == 0 else -(a + half) * (a + b + half)) * x
        fraction = 1 + part / ((a + at - 1) * (a + at)) / fraction
    logarithm = a * math.log(max(x, SMALLEST)) + b * math.log(max(rest, SMALLEST))
    return math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + logarithm) / (a * fraction)


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function that rises or falls is 0, between two places where its signs differ."""
    rises = function(low) < 0
    while high - low > PRECISION * max(1.0, abs(high)):
        middle = (low + high) / 2
        if (function(middle) < 0) == rises:
            low = middle
        else:
            high = middle
    return (low + high) / 2
