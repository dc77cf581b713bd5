"""The curve of pass@k over k, in both readings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.results import READINGS, Outcome, by_observation
from grader.scorers.execution.metrics import pass_observations
from grader.scorers.interface import CurveBlock
from grader.scorers.means import metric

if TYPE_CHECKING:
    from grader.results import ReadingName, Report, SampleResult

MOST_K = 200
"""Maximum number of points on a curve: more would not be visible."""


def curve(report: Report) -> CurveBlock | None:
    """Return pass@k in both readings for every k up to the number of samples of a task; None if that is below 2.

    The values are those of the metric.
    """
    tasks = list(by_observation(report.samples).values())
    most = min(MOST_K, max((_scored(members, reading) for members in tasks for reading in READINGS), default=0))
    if most < 2:
        return None
    ks = list(range(1, most + 1))
    official, careful = ([_point(tasks, k, reading) for k in ks] for reading in READINGS)
    return CurveBlock(
        title="pass@k against k", axis="k, samples drawn", prefix="pass@", k=ks, official=official, careful=careful
    )


def _scored(members: list[SampleResult], reading: ReadingName) -> int:
    return sum(member.reading(reading).outcome is not Outcome.UNSCORED for member in members)


def _point(tasks: list[list[SampleResult]], k: int, reading: ReadingName) -> tuple[float | None, int]:
    """Return (pass@k in percent, number of tasks)."""
    found = metric(f"pass@{k}", reading, None, pass_observations(tasks, k, reading))
    return (None, 0) if found is None else (found.value, found.n)
