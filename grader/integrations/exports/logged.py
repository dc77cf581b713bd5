"""The data of a report for experiment trackers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.integrations.exports.interface import with_value
from grader.results import READINGS

if TYPE_CHECKING:
    from grader.results import Metric, Report


def metric_name(metric: Metric) -> str:
    """Return `official/accuracy`, or `official/accuracy/category=x`."""
    return "/".join(filter(None, (metric.reading, metric.name, metric.group)))


def values(report: Report) -> dict[str, float]:
    """Return name -> value of all metrics, with the ends of the overall metrics' 95 % intervals."""
    found = {}
    for metric in with_value(report):
        name = metric_name(metric)
        found[name] = metric.number
        if metric.ci95 is not None and metric.group is None:
            found[f"{name}/ci95_low"], found[f"{name}/ci95_high"] = metric.ci95
    return found


def parameters(report: Report) -> dict[str, str]:
    """Return the parameters that distinguish this run from others."""
    provenance = report.provenance
    found = {
        "benchmark": report.benchmark,
        "split": report.split,
        "protocol": report.protocol,
        "predictions": provenance.predictions,
        "grade": provenance.grade,
        "data_digest": provenance.data_digest or "",
        "unscored": str(report.unscored),
        "part": f"{report.part.n} of {report.part.of}" if report.part else "",
    }
    return {name: value for name, value in found.items() if value}


def sample_rows(report: Report) -> tuple[list[str], list[list[object]]]:
    """Return the columns and rows of a table of samples, without texts."""
    columns = [
        "qid",
        "sample",
        *(f"{reading}_{part}" for reading in READINGS for part in ("outcome", "credit", "answer")),
    ]
    rows: list[list[object]] = []
    for sample in report.samples:
        readings = [sample.reading(name) for name in READINGS]
        cells = [cell for one in readings for cell in (one.outcome.value, float(one.credit), one.answer or "")]
        rows.append([sample.qid, sample.sample, *cells])
    return columns, rows
