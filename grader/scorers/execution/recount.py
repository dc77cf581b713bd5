"""Compute pass@k by listing all ways to draw k samples, as a check of the formula."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

from grader.results import READINGS, Outcome, ReadingName, by_observation
from grader.scorers.execution.metrics import k_of

if TYPE_CHECKING:
    from grader.results import Report

MOST_DRAWS = 200_000


def recount(report: Report) -> dict[tuple[str, ReadingName], float]:
    """Return pass@k of a whole report in percent; metrics with too many draws are left out."""
    names = {metric.name for metric in report.metrics if k_of(metric.name)}
    return {(name, reading): value for name in names for reading in READINGS
            if (value := _pass_at(report, k_of(name) or 1, reading)) is not None}  # fmt: skip


def _pass_at(report: Report, k: int, reading: ReadingName) -> float | None:
    shares = []
    for members in by_observation(report.samples).values():
        readings = [member.reading(reading) for member in members]
        passes = [each.credit >= 1 for each in readings if each.outcome is not Outcome.UNSCORED]
        if comb(len(passes), k) > MOST_DRAWS:
            return None
        draws = list(combinations(passes, k))
        if draws:
            shares.append(Fraction(sum(map(any, draws)), len(draws)))
    return float(100 * sum(shares) / len(shares)) if shares else None
