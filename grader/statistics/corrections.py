"""Many comparisons at once: corrected p values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from grader.statistics.quantiles import normal_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p values corrected with Holm's step-down method (Scandinavian Journal of Statistics 6, 1979, 65-70).

    A corrected value below 0.05 is a significant difference: the probability of one or more false positives among all
    of them is at most 5 %, for any dependence between the tests.
    """
    corrected = [0.0] * len(p_values)
    highest = 0.0
    rising = sorted(range(len(p_values)), key=p_values.__getitem__)
    for smaller, index in enumerate(rising):
        highest = max(highest, min(1.0, (len(p_values) - smaller) * p_values[index]))
        corrected[index] = highest
    return corrected


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Return p values corrected for the false discovery rate: of the values below 0.05, 5 % are false on average."""
    corrected = [0.0] * len(p_values)
    lowest = 1.0
    falling = sorted(range(len(p_values)), key=p_values.__getitem__, reverse=True)
    for rank, index in zip(range(len(p_values), 0, -1), falling, strict=True):
        corrected[index] = lowest = min(lowest, p_values[index] * len(p_values) / rank)
    return corrected


def shares_differ(first: tuple[int, int], second: tuple[int, int], *, tests: int) -> bool:
    """Whether two shares (part, whole) differ at the 5 % level, as one of `tests` (z test, Bonferroni)."""
    (part_1, whole_1), (part_2, whole_2) = first, second
    if not (whole_1 and whole_2):
        return False
    pooled = (part_1 + part_2) / (whole_1 + whole_2)
    stderr = math.sqrt(pooled * (1 - pooled) * (1 / whole_1 + 1 / whole_2))
    return abs(part_1 / whole_1 - part_2 / whole_2) > stderr * normal_quantile(1 - 0.025 / tests)
