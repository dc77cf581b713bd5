"""Exports of `grade` to experiment trackers: each logs one run, with the tracker's own library and settings."""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

from grader.errors import UsageError
from grader.integrations.exports.interface import Exported, Wanted, model_id, with_value
from grader.results import READINGS

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.decisions.comparison import RunName
    from grader.reports.material import Material
    from grader.results import Report


def to_mlflow(report: Report, name: RunName, material: Callable[[], Material], wanted: Wanted) -> Exported:
    """Log to MLflow; `MLFLOW_TRACKING_URI` chooses the destination."""
    del material
    mlflow = _library("mlflow")
    mlflow.set_experiment(wanted.project or "grade")
    with mlflow.start_run(run_name=f"{name.short} {report.benchmark}") as run:
        mlflow.log_params(_parameters(report, name, wanted))
        # MLflow rejects `@`, `=` and most other signs, and long names.
        names = {metric: re.sub(r"[^\w\-./ ]", "_", metric.replace("@", "_at_"))[:240] for metric in _values(report)}
        mlflow.log_metrics({names[metric]: value for metric, value in _values(report).items()})
        rows = _samples(report)
        mlflow.log_table({column: [row[column] for row in rows] for column in rows[0]}, artifact_file="samples.json")
    return Exported(said=f"Logged to MLflow: {mlflow.get_tracking_uri()}, run {run.info.run_id}")


def to_wandb(report: Report, name: RunName, material: Callable[[], Material], wanted: Wanted) -> Exported:
    """Log to Weights & Biases; `WANDB_MODE=offline` keeps the run on this machine."""
    del material
    wandb = _library("wandb")
    run = wandb.init(
        project=wanted.project or "grade",
        name=f"{name.short} {report.benchmark}",
        config=_parameters(report, name, wanted),
        job_type="evaluation",
    )
    try:
        for metric, value in _values(report).items():
            run.summary[metric] = value
        rows = _samples(report)
        table = wandb.Table(columns=list(rows[0]), data=[list(row.values()) for row in rows])
        run.log({"samples": table})
        place = run.url or run.dir
    finally:
        run.finish()
    return Exported(said=f"Logged to W&B: {place}")


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise UsageError(
            f"{name} is not installed ({error}). Install it: pip install 'grade-trackers[{name}]'"
        ) from error


def _parameters(report: Report, name: RunName, wanted: Wanted) -> dict[str, str]:
    """Return what distinguishes this run from others."""
    provenance = report.provenance
    parameters = {
        "model": model_id(report, name, wanted),
        "benchmark": report.benchmark,
        "split": report.split,
        "protocol": report.protocol,
        "predictions": provenance.predictions,
        "grade": provenance.grade,
        "data_digest": provenance.data_digest or "",
        "part": f"{report.part.n} of {report.part.of}" if report.part else "",
    }
    return {name: value for name, value in parameters.items() if value}


def _values(report: Report) -> dict[str, float]:
    """Return `official/accuracy` or `official/accuracy/category=x` -> value, with the ends of overall intervals."""
    values = {}
    for metric in with_value(report):
        name = "/".join(filter(None, (metric.reading, metric.name, metric.group)))
        values[name] = metric.number
        if metric.ci95 is not None and metric.group is None:
            values[f"{name}/ci95_low"], values[f"{name}/ci95_high"] = metric.ci95
    return values


def _samples(report: Report) -> list[dict[str, object]]:
    """Return a row per sample, without texts."""
    return [
        {"qid": sample.qid, "sample": sample.sample}
        | {
            f"{reading}_{part}": value
            for reading in READINGS
            for part, value in (
                ("outcome", sample.reading(reading).outcome.value),
                ("credit", float(sample.reading(reading).credit)),
                ("answer", sample.reading(reading).answer or ""),
            )
        }
        for sample in report.samples
    ]
