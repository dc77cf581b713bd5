"""The metrics for pages: one row per metric and group with both readings, and what a page says about these."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

from grader import resources

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.results import Metric, Report

_PUBLISHED = "of the published scorer, bug for bug"
_OWN = "of the rules that the benchmark's protocol names"


def breakdown(report: Report) -> list[dict[str, object]]:
    """Return one row per metric and group, in the report's order, overall metrics first."""
    rows: list[dict[str, object]] = [
        {"name": name, "group": group} | {metric.reading: _figure(metric) for metric in pair if metric is not None}
        for (name, group), pair in report.pairs().items()
    ]
    return sorted(rows, key=lambda row: row["group"] is not None)


def _figure(metric: Metric) -> dict[str, object]:
    value = metric.value if metric.value is not None and math.isfinite(metric.value) else None
    made: dict[str, object] = {"value": value, "n": metric.n}
    if metric.ci95 is not None:
        made["ci"] = metric.ci95
    if metric.bounds is not msgspec.UNSET:
        made["bounds"] = metric.bounds
    return made


def lead(benchmarks: Iterable[str]) -> str:
    """Return the sentences above a table of metrics of these benchmarks, given by id."""
    official = _PUBLISHED if set(benchmarks) <= set(resources.bundled_benchmarks()) else _OWN
    return (
        f"In percent, with 95 % intervals. Official is the verdict {official}; careful is the verdict of an attentive "
        "person."
    )


def official(benchmark: str) -> str:
    """Return the explanation of the official reading of a benchmark, given by id."""
    if benchmark in resources.bundled_benchmarks():
        return (
            "The verdict of the benchmark's published scorer, bug for bug, under the protocol named above. Compare "
            "this number with a leaderboard."
        )
    return "The verdict of the rules that the protocol named above stands for. This benchmark has no published scorer."
