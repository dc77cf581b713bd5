"""The figures as the page draws them: a row a metric and group with both readings, and pass@k against k."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

from grader.results import READINGS, Outcome
from grader.scorers.execution.pass_at_k import pass_at_k

if TYPE_CHECKING:
    from grader.results import Metric, ReadingName, Report

MOST_K = 200
"""Points of a curve: with more samples, k beyond this adds nothing to see."""


def breakdown(report: Report) -> list[dict[str, object]]:
    """Return one row a metric and group, in the report's order, overall figures first."""
    rows: dict[tuple[str, str | None], dict[str, object]] = {}
    for metric in report.metrics:
        row = rows.setdefault((metric.name, metric.group), {"name": metric.name, "group": metric.group})
        row[metric.reading] = _figure(metric)
    return sorted(rows.values(), key=lambda row: row["group"] is not None)


def _figure(metric: Metric) -> dict[str, object]:
    made: dict[str, object] = {"value": metric.value if math.isfinite(metric.value) else None, "n": metric.n}
    if metric.ci95 is not None:
        made["ci"] = metric.ci95
    if metric.bounds is not msgspec.UNSET:
        made["bounds"] = metric.bounds
    return made


def curves(report: Report) -> dict[str, object] | None:
    """Return pass@k in both readings for every k up to the samples of a task; None where there is no curve.

    As the metric does: unscored samples are left out, and a task with fewer than k scored samples is not counted.
    """
    by_task: dict[ReadingName, dict[str, tuple[int, int]]] = {}
    for reading in READINGS:
        counts = by_task.setdefault(reading, {})
        for sample in report.samples:
            read = sample.reading(reading)
            scored, passed = counts.get(sample.qid, (0, 0))
            lost = read.outcome is Outcome.UNSCORED
            counts[sample.qid] = (scored + (not lost), passed + (read.credit >= 1))
    most = min(MOST_K, max((scored for counts in by_task.values() for scored, _ in counts.values()), default=0))
    if most < 2:
        return None
    made: dict[str, object] = {"k": list(range(1, most + 1))}
    for reading, counts in by_task.items():
        made[reading] = [_point(list(counts.values()), k) for k in range(1, most + 1)]
    return made


def _point(counts: list[tuple[int, int]], k: int) -> list[float | int | None]:
    """Return [pass@k in percent, tasks behind it]."""
    values = [pass_at_k(scored, passed, k) for scored, passed in counts if scored >= k]
    return [100 * math.fsum(values) / len(values) if values else None, len(values)]
