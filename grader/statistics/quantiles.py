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

Z90 = 1.6448536269514722
"""The normal quantile of one-sided bounds at the 5 % level."""
Z95 = 1.959963984540054
"""The normal quantile of 95 % intervals."""
ROOT_TOLERANCE = 1e-13
"""Relative error of a root: float64 has 16 digits, of which the functions lose up to three."""
INSTEAD_OF_ZERO = 1e-300
"""The logarithm and the quantile of 0 itself are infinite."""


def normal_quantile(probability: float) -> float:
    """Return z such that a standard normal value is at most z with this probability, below 1."""
    return NormalDist().inv_cdf(max(probability, INSTEAD_OF_ZERO))


def normal_tail(z: float) -> float:
    """Return the probability that a standard normal value is above z."""
    return math.erfc(z / math.sqrt(2)) / 2


@functools.lru_cache(maxsize=1000)
def student_quantile(df: float, probability: float) -> float:
    """Return Student's quantile of a probability in [0.5, 1). `df`, the degrees of freedom: 1 or any larger number."""
    # No tail is longer than that of one degree of freedom, which is less than 1 / (pi t).
    return find_root(lambda t: student_tail(df, t) - (1 - probability), 0, 1 / (math.pi * (1 - probability)))


def student_tail(df: float, t: float) -> float:
    """Return the probability that a value of Student's distribution is above t, which is not negative."""
    x, one_minus_x = df / (df + t * t), t * t / (df + t * t)
    # The continued fraction converges fast only for x below (a + 1) / (a + b + 2); here a = df / 2 and b = 1 / 2.
    if x < (df + 2) / (df + 5):
        return _incomplete_beta(df / 2, 0.5, x, one_minus_x) / 2
    return (1 - _incomplete_beta(0.5, df / 2, one_minus_x, x)) / 2


def _incomplete_beta(a: float, b: float, x: float, one_minus_x: float) -> float:
    """Return the regularised incomplete beta function of x, by its continued fraction (DLMF 8.17.22).

    `one_minus_x` is given because 1 - x would lose digits where x is close to 1. The fraction is evaluated from its
    last term backwards; it converges to float64 in O(sqrt(a + b)) terms if x is below (a + 1) / (a + b + 2); these
    are more than enough (compared with scipy in the tests).
    """
    terms = 30 + 2 * math.isqrt(int(a + b))
    fraction = 1.0
    for number in range(terms, 0, -1):
        m = number // 2
        numerator = m * (b - m) * x if number % 2 == 0 else -(a + m) * (a + b + m) * x
        fraction = 1 + numerator / ((a + number - 1) * (a + number)) / fraction
    log_power = a * math.log(max(x, INSTEAD_OF_ZERO)) + b * math.log(max(one_minus_x, INSTEAD_OF_ZERO))
    return math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + log_power) / (a * fraction)


def find_root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a monotone function is 0, by bisection; its signs at `low` and `high` differ."""
    rises = function(low) < 0
    while high - low > ROOT_TOLERANCE * max(1.0, abs(high)):
        middle = (low + high) / 2
        if (function(middle) < 0) == rises:
            low = middle
        else:
            high = middle
    return (low + high) / 2
