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
    leave_one_out: Values
    """Its value without one observation, for each observation."""
    padded_leave_one_out: Values
    """The same after two pseudo-observations are added, one all right and one all wrong: their spread is never 0."""


class Interval(msgspec.Struct, frozen=True, kw_only=True):
    """The interval of a metric."""

    low: float
    high: float
    stderr: float | None
    """None: the observations show no spread, so it is unknown."""


def interval(strata: Sequence[Stratum]) -> Interval:
    """Return Student's 95 % interval around the bias-corrected mean over strata; it always holds the plain mean.

    The interval is from the padded values, so that it never has width 0. The standard error is that of the observations
    alone, as other tools give it.
    """
    number = len(strata)
    plain_mean = math.fsum(stratum.value for stratum in strata) / number
    centre = math.fsum(map(_bias_corrected_value, strata)) / number
    variances = [_variance(stratum.padded_leave_one_out) / number**2 for stratum in strata]
    dfs = [max(1, len(stratum.leave_one_out) - 1) for stratum in strata]
    variance = math.fsum(variances)
    welch_df = variance**2 / math.fsum(part**2 / df for part, df in zip(variances, dfs, strict=True))
    half_width = student_quantile(welch_df, 0.975) * math.sqrt(variance)
    plain_variance = math.fsum(_variance(stratum.leave_one_out) for stratum in strata) / number**2
    return Interval(
        low=min(plain_mean, centre - half_width),
        high=max(plain_mean, centre + half_width),
        stderr=math.sqrt(plain_variance) if plain_variance > 0 else None,
    )


def _bias_corrected_value(stratum: Stratum) -> float:
    """Return the mean of a stratum's pseudo-values."""
    number = len(stratum.leave_one_out)
    return number * stratum.value - (number - 1) * float(stratum.leave_one_out.mean())


def _variance(leave_one_out: Values) -> float:
    """Return the jackknife's variance of a metric."""
    return (len(leave_one_out) - 1) * float(leave_one_out.var())
