"""The stratified jackknife: the interval of a mean over strata of a metric that is not itself a mean.

Tukey's pseudo-values remove the bias of order 1/n from each stratum's metric (Efron and Stein, Annals of Statistics 9,
1981, 586-596); the variances of strata add up, and Satterthwaite's approximation gives the degrees of freedom.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

from grader.statistics.quantiles import student_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Values = NDArray[np.float64]


class Stratum(msgspec.Struct, frozen=True, kw_only=True):
    """A metric of one stratum."""

    value: float
    without: Values
    """Its value without one observation, for each observation."""
    extended: Values
    """As `without`, with two pseudo-observations added, one all right and one all wrong: their spread is never 0."""


class Interval(msgspec.Struct, frozen=True, kw_only=True):
    """The interval of a metric."""

    low: float
    high: float
    stderr: float | None
    """None: the observations show no spread, so it is unknown."""


def interval(strata: Sequence[Stratum], level: float = 0.95) -> Interval:
    """Return Student's interval around the bias-corrected mean over strata; it always holds the plain mean."""
    number = len(strata)
    plain = math.fsum(stratum.value for stratum in strata) / number
    centre = math.fsum(map(_bias_corrected_mean, strata)) / number
    parts = [_variance(stratum.extended) / number**2 for stratum in strata]
    freedom = [max(1, len(stratum.without) - 1) for stratum in strata]
    total = math.fsum(parts)
    shared = total**2 / math.fsum(part**2 / df for part, df in zip(parts, freedom, strict=True))
    half = student_quantile(shared, (1 + level) / 2) * math.sqrt(total)
    seen = math.fsum(_variance(stratum.without) for stratum in strata) / number**2
    return Interval(
        low=min(plain, centre - half),
        high=max(plain, centre + half),
        stderr=math.sqrt(seen) if seen > 0 else None,
    )


def _bias_corrected_mean(stratum: Stratum) -> float:
    number = len(stratum.without)
    return number * stratum.value - (number - 1) * float(stratum.without.mean())


def _variance(without: Values) -> float:
    return (len(without) - 1) * float(without.var())
