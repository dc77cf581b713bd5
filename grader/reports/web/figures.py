"""The metrics for the page: one row per metric and group, with both readings."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from grader.results import Metric, Report


def breakdown(report: Report) -> list[dict[str, object]]:
    """Return one row per metric and group, in the report's order, overall metrics first."""
    rows: dict[tuple[str, str | None], dict[str, object]] = {}
    for metric in report.metrics:
        row = rows.setdefault((metric.name, metric.group), {"name": metric.name, "group": metric.group})
        row[metric.reading] = _figure(metric)
    return sorted(rows.values(), key=lambda row: row["group"] is not None)


def _figure(metric: Metric) -> dict[str, object]:
    value = metric.value if metric.value is not None and math.isfinite(metric.value) else None
    made: dict[str, object] = {"value": value, "n": metric.n}
    if metric.ci95 is not None:
        made["ci"] = metric.ci95
    if metric.bounds is not msgspec.UNSET:
        made["bounds"] = metric.bounds
    return made
