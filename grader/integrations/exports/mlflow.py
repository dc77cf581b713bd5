"""A run in MLflow, logged with its own library: metrics, parameters, and the samples as a table."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.integrations.exports.interface import Exported, Wanted, library, model_id
from grader.integrations.exports.logged import parameters, sample_rows, values

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.decisions.comparison import RunName
    from grader.reports.material import Material
    from grader.results import Report

_FORBIDDEN = re.compile(r"[^\w\-./ ]")
_MOST_CHARACTERS = 240


def export(report: Report, name: RunName, material: Callable[[], Material], wanted: Wanted) -> Exported:
    """Log one run; MLflow's own settings (`MLFLOW_TRACKING_URI`) choose the destination."""
    del material
    mlflow = library("mlflow", "mlflow")
    columns, rows = sample_rows(report)
    mlflow.set_experiment(wanted.project or "grade")
    with mlflow.start_run(run_name=f"{name.short} {report.benchmark}") as run:
        mlflow.log_params({"model": model_id(report, name, wanted), **parameters(report)})
        mlflow.log_metrics({_allowed(metric): value for metric, value in values(report).items()})
        table = {column: [row[at] for row in rows] for at, column in enumerate(columns)}
        mlflow.log_table(table, artifact_file="samples.json")
    return Exported(said=f"Logged to MLflow: {mlflow.get_tracking_uri()}, run {run.info.run_id}")


def _allowed(name: str) -> str:
    """Return a name that MLflow accepts: it rejects `@`, `=` and most other signs."""
    return _FORBIDDEN.sub("_", name.replace("@", "_at_"))[:_MOST_CHARACTERS]
