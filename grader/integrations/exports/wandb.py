"""A run in Weights & Biases, logged with its own library: metrics as the summary, samples as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.integrations.exports.interface import Exported, Wanted, library, model_id
from grader.integrations.exports.logged import parameters, sample_rows, values

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.decisions.comparison import RunName
    from grader.reports.material import Material
    from grader.results import Report


def export(report: Report, name: RunName, material: Callable[[], Material], wanted: Wanted) -> Exported:
    """Log one run; W&B's own settings choose the destination (`WANDB_MODE=offline` keeps it on this machine)."""
    del material
    wandb = library("wandb", "wandb")
    columns, rows = sample_rows(report)
    run = wandb.init(
        project=wanted.project or "grade",
        name=f"{name.short} {report.benchmark}",
        config={"model": model_id(report, name, wanted), **parameters(report)},
        job_type="evaluation",
    )
    try:
        for metric, value in values(report).items():
            run.summary[metric] = value
        run.log({"samples": wandb.Table(columns=columns, data=rows)})
        place = run.url or run.dir
    finally:
        run.finish()
    return Exported(said=f"Logged to W&B: {place}")
