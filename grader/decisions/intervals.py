"""Uncertainty of a mean over independent observations: a task, a question or a circular group.

The formulas are those of scipy (`binomtest(...).proportion_ci("wilson")`, `bootstrap(..., method="percentile")`), and
the tests compare them with scipy. They are implemented here because importing `scipy.stats` takes longer than a whole
V* run may take. Comparisons and gates use scipy itself, see `paired.py`.
"""

from __future__ import annotations

import contextlib
import math
from typing import TYPE_CHECKING

import msgspec

from grader.results import IntervalMethod

if TYPE_CHECKING:
    from collections.abc import Sequence

Z95 = 1.959963984540054
RESAMPLES = 10_000
SEED = 0
MANY_KINDS = 100
"""With more distinct values than this, drawing observations one by one is faster."""
METHOD = IntervalMethod(
    level=95,
    proportions="Wilson score",
    means="percentile bootstrap over tasks or questions",
    resamples=RESAMPLES,
    seed=SEED,
)


class Mean(msgspec.Struct, frozen=True, kw_only=True):
    """A mean in percent, its standard error and its 95 % interval."""

    value: float
    stderr: float
    ci95: tuple[float, float]
    n: int


def load() -> None:
    """Load NumPy, if it is installed. Otherwise the first bootstrap loads it, or raises ImportError."""
    with contextlib.suppress(ImportError):
        import numpy as np  # noqa: F401


def mean(values: Sequence[float]) -> Mean | None:
    """Summarise observations in [0, 1], one per cluster; return None if there are none.

    Observations that are all 0 or 1 get the Wilson score interval (Wilson, 1927), others the percentile bootstrap over
    observations. Observations that are all equal get Wilson's interval too, because their bootstrap interval would have
    no width.
    """
    n = len(values)
    if not n:
        return None
    average = math.fsum(values) / n
    spread = math.fsum((v - average) ** 2 for v in values)
    stderr = math.sqrt(spread / (n - 1) / n) if n > 1 else 0.0
    is_wilson = all(v in {0, 1} for v in values) or min(values) == max(values)
    low, high = wilson(average, n) if is_wilson else bootstrap(values)
    return Mean(value=100 * average, stderr=100 * stderr, ci95=(100 * low, 100 * high), n=n)


def wilson(proportion: float, n: int) -> tuple[float, float]:
    """Return the Wilson score interval of a proportion in [0, 1]."""
    z2 = Z95 * Z95
    centre = (proportion + z2 / (2 * n)) / (1 + z2 / n)
    half = Z95 * math.sqrt(proportion * (1 - proportion) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return max(0.0, centre - half), min(1.0, centre + half)


def bootstrap(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % percentile bootstrap interval of a mean. The order of the values does not matter.

    Equal observations are interchangeable: with few distinct values, a resample is a multinomial draw over them.
    """
    import numpy as np

    n, rng = len(values), np.random.default_rng(SEED)
    kinds, sizes = np.unique(np.asarray(values, dtype=np.float64), return_counts=True)
    if len(kinds) <= MANY_KINDS:
        means = rng.multinomial(n, sizes / n, size=RESAMPLES) @ kinds / n
    else:
        ordered = np.repeat(kinds, sizes)
        means = np.array([ordered[rng.integers(n, size=n)].mean() for _ in range(RESAMPLES)])
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)
