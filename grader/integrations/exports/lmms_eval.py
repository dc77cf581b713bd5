"""Files in the format of lmms-eval: `*_results.json`, and `*_samples_<task>.jsonl` if the outputs are available.

The metrics of the two readings have the form of two filters' results in lmms-eval.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from grader.integrations.exports.interface import Exported, Wanted, model_id, overall
from grader.results import READINGS, Outcome, by_task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.decisions.comparison import RunName
    from grader.reports.material import Material
    from grader.results import Report


def export(report: Report, name: RunName, material: Callable[[], Material], wanted: Wanted) -> Exported:
    """Return both files; values are shares from 0 to 1, as in lmms-eval."""
    date = datetime.fromtimestamp(wanted.now, UTC).strftime("%Y%m%d_%H%M%S")
    model = model_id(report, name, wanted)
    found = material()
    items = len({sample.qid for sample in report.samples})
    made = {
        "results": {report.benchmark: {"alias": report.benchmark, **_values(report)}},
        "configs": {report.benchmark: {"task": report.benchmark, "test_split": report.split}},
        "versions": {report.benchmark: report.protocol},
        "n-shot": {report.benchmark: 0},
        "higher_is_better": {report.benchmark: {metric.name: True for metric in overall(report)}},
        "n-samples": {report.benchmark: {"original": report.part.of if report.part else items, "effective": items}},
        "config": {"model": model, "model_args": "", "limit": report.part.n if report.part else None},
        "model_name": model,
        "date": date,
    }
    files = {f"{date}_results.json": msgspec.json.format(msgspec.json.encode(made), indent=2) + b"\n"}
    lines = b"".join(msgspec.json.encode(line) + b"\n" for line in _samples(report, found))
    return Exported(files=files | ({f"{date}_samples_{report.benchmark}.jsonl": lines} if lines else {}))


def _values(report: Report) -> dict[str, float]:
    values: dict[str, float] = {}
    for metric in overall(report):
        values[f"{metric.name},{metric.reading}"] = metric.number / 100
        if metric.stderr is not None:
            values[f"{metric.name}_stderr,{metric.reading}"] = metric.stderr / 100
    return values


def _samples(report: Report, material: Material) -> Iterator[dict[str, Any]]:
    """Yield one line per task, with the outputs of all its samples."""
    for number, (qid, members) in enumerate(by_task(report.samples).items()):
        texts = material.predictions.get(qid)
        if not texts:
            continue
        task = material.tasks.get(qid)
        yield {
            "doc_id": number,
            "doc": {"question_id": qid},
            "input": task.text if task else "",
            "target": (task.gold or "") if task else "",
            "resps": [texts],
            "filtered_resps": [sample.careful.answer or "" for sample in members],
            **{
                f"{reading}_{report.metrics[0].name if report.metrics else 'credit'}": [
                    None if (one := sample.reading(reading)).outcome is Outcome.UNSCORED else one.credit
                    for sample in members
                ]
                for reading in READINGS
            },
        }
