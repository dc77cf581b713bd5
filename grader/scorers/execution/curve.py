"""The curve of pass@k over k, in both readings."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from grader.results import READINGS, Outcome
from grader.scorers.execution.pass_at_k import pass_at_k
from grader.scorers.interface import CurveBlock

if TYPE_CHECKING:
    from grader.results import ReadingName, Report

MOST_K = 200
"""Maximum number of points on a curve: more would not be visible."""


def curve(report: Report) -> CurveBlock | None:
    """Return pass@k in both readings for every k up to the number of samples of a task; None if that is below 2.

    As in the metric, unscored samples are left out, and a task with fewer than k scored samples is skipped.
    """
    counts = {reading: _counts(report, reading) for reading in READINGS}
    most = min(MOST_K, max((scored for tasks in counts.values() for scored, _ in tasks), default=0))
    if most < 2:
        return None
    ks = list(range(1, most + 1))
    official, careful = ([_point(counts[reading], k) for k in ks] for reading in READINGS)
    return CurveBlock(
        title="pass@k against k", axis="k, samples drawn", prefix="pass@", k=ks, official=official, careful=careful
    )


def _counts(report: Report, reading: ReadingName) -> list[tuple[int, int]]:
    """Return (scored, passed) of every task."""
    counts: dict[str, tuple[int, int]] = {}
    for sample in report.samples:
        read = sample.reading(reading)
        scored, passed = counts.get(sample.qid, (0, 0))
        counts[sample.qid] = (scored + (read.outcome is not Outcome.UNSCORED), passed + (read.credit >= 1))
    return list(counts.values())


def _point(counts: list[tuple[int, int]], k: int) -> tuple[float | None, int]:
    """Return (pass@k in percent, number of tasks)."""
    values = [pass_at_k(scored, passed, k) for scored, passed in counts if scored >= k]
    return 100 * math.fsum(values) / len(values) if values else None, len(values)
