"""Uncertainty of a mean over independent observations (tasks, questions, circular groups)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

Z95 = 1.959963984540054


class Mean(msgspec.Struct, frozen=True, kw_only=True):
    """A mean in percent, its standard error and its 95 % interval."""

    value: float
    stderr: float
    ci95: tuple[float, float]
    n: int


def mean(values: Sequence[float]) -> Mean | None:
    """Summarise observations in [0, 1], one a cluster; None where there is none.

    Observations that are all 0 or 1 get the Wilson score interval (Wilson, 1927); others the normal one, clipped.
    """
    n = len(values)
    if not n:
        return None
    average = math.fsum(values) / n
    spread = math.fsum((v - average) ** 2 for v in values)
    stderr = math.sqrt(spread / (n - 1) / n) if n > 1 else 0.0
    low, high = wilson(average, n) if all(v in {0, 1} for v in values) else _normal(average, stderr)
    return Mean(value=100 * average, stderr=100 * stderr, ci95=(100 * low, 100 * high), n=n)


def wilson(proportion: float, n: int) -> tuple[float, float]:
    """Return the Wilson score interval of a proportion in [0, 1]."""
    z2 = Z95 * Z95
    centre = (proportion + z2 / (2 * n)) / (1 + z2 / n)
    half = Z95 * math.sqrt(proportion * (1 - proportion) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return max(0.0, centre - half), min(1.0, centre + half)


def _normal(average: float, stderr: float) -> tuple[float, float]:
    return max(0.0, average - Z95 * stderr), min(1.0, average + Z95 * stderr)
