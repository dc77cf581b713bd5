"""Hugging Face's `.eval_results/*.yaml`, for model pages and benchmark leaderboards.

A model repository has one value per task. The default is the official value, because it is compared with others.
"""

from __future__ import annotations

from datetime import UTC, datetime
from importlib import import_module
from typing import TYPE_CHECKING

from grader.errors import UsageError
from grader.integrations.exports.interface import Exported, Wanted, hub_of
from grader.predictions.record import counted
from grader.scorers.interface import official_notes

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.decisions.comparison import RunName
    from grader.reports.material import Material
    from grader.results import Metric, Report


def export(report: Report, name: RunName, material: Callable[[], Material], wanted: Wanted) -> Exported:
    """Return the file of one model repository; raises UsageError if the value or the data set is unknown."""
    hub = import_module("huggingface_hub")
    if not hasattr(hub, "EvalResultEntry"):
        raise UsageError("This huggingface_hub has no .eval_results. Update it: pip install -U huggingface_hub")
    import yaml

    if report.part is not None:
        raise UsageError(
            "These results are for a part of the benchmark; .eval_results needs the whole. Grade all of it."
        )
    reading = wanted.reading or "official"
    metric = next((one for one in report.metrics if one.group is None and one.reading == reading), None)
    if metric is None or metric.value is None:
        raise UsageError(f"These results have no {reading} value. Choose the other reading with --reading.")
    entry = hub.EvalResultEntry(
        dataset_id=wanted.dataset or _dataset(report),
        task_id=wanted.task or report.benchmark,
        value=round(metric.value, 4),
        date=datetime.fromtimestamp(wanted.now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        notes=_notes(report, metric),
    )
    text = yaml.safe_dump(hub.eval_result_entries_to_yaml([entry]), sort_keys=False, allow_unicode=True)
    return Exported(files={f".eval_results/{report.benchmark}.yaml": text.encode()})


def _notes(report: Report, metric: Metric) -> str:
    """Return what the value is, and what it should not be read without."""
    notes = [metric.name, f"{metric.reading} reading", f"protocol {report.protocol}", f"split {report.split}"]
    notes.append(f"n = {metric.n}")
    if lost := getattr(report.unscored_by_reading, metric.reading):
        notes.append(f"{counted(lost, 'sample')} unscored")
    if metric.reading == "official" and official_notes(report):
        notes.append("may differ from the value of the official scorer")
    return ", ".join(notes)


def _dataset(report: Report) -> str:
    if hub := hub_of(report):
        return hub
    raise UsageError(f"The data set of {report.benchmark} on the hub is not known. Name it with --dataset ORG/NAME.")
