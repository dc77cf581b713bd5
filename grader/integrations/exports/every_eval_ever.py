"""The format of Every Eval Ever (github.com/evaleval/every_eval_ever, schemas 0.3.0): results, one line per sample."""

from __future__ import annotations

import hashlib
import re
import uuid
from typing import TYPE_CHECKING, Any

import msgspec

from grader.integrations.exports.interface import Exported, Wanted, hub_of, model_id, with_value
from grader.resources import version
from grader.results import READINGS, Outcome
from grader.scorers import declarations

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.decisions.comparison import RunName
    from grader.reports.material import Material
    from grader.results import Metric, ReadingName, Report, SampleResult

SCHEMA = "0.3.0"


def export(report: Report, name: RunName, material: Callable[[], Material], wanted: Wanted) -> Exported:
    """Return the results, and the samples if their outputs are available."""
    model = model_id(report, name, wanted)
    run = f"{report.benchmark}/{model.replace('/', '_')}/{int(wanted.now)}"
    samples = b"".join(msgspec.json.encode(line) + b"\n" for line in _samples(report, material(), run, model))
    made = _results(report, name, wanted, run, model)
    stem = _place(report, model, msgspec.json.encode(made))
    files = {}
    if samples:
        files[f"{stem}_samples.jsonl"] = samples
        made["detailed_evaluation_results"] = {
            "format": "jsonl",
            "file_path": f"{stem}_samples.jsonl",
            "hash_algorithm": "sha256",
            "checksum": hashlib.sha256(samples).hexdigest(),
            "total_rows": samples.count(b"\n"),
        }
    files[f"{stem}.json"] = msgspec.json.format(msgspec.json.encode(made), indent=1) + b"\n"
    return Exported(files=files)


def _place(report: Report, model: str, content: bytes) -> str:
    """Return the path of such a file in the repository: data/benchmark/developer/model/UUID."""
    developer, _, name = model.rpartition("/")
    parts = [re.sub(r"[^\w.-]|^\.+", "_", part)[:80] for part in (report.benchmark, developer or "unknown", name)]
    return f"data/{'/'.join(parts)}/{uuid.UUID(bytes=hashlib.sha256(content).digest()[:16], version=4)}"


def _results(report: Report, name: RunName, wanted: Wanted, run: str, model: str) -> dict[str, Any]:
    library = {"name": "grade", "version": report.provenance.grade or version()}
    return {
        "schema_version": SCHEMA,
        "evaluation_id": run,
        "retrieved_timestamp": str(wanted.now),
        "source_metadata": {
            "source_name": "grade",
            "source_type": "evaluation_run",
            "source_organization_name": wanted.organization or "unknown",
            "evaluator_relationship": "other",
        },
        "eval_library": library | ({"additional_details": {"bundle": wanted.bundle}} if wanted.bundle else {}),
        "model_info": {
            "name": name.short,
            "id": model,
            "additional_details": {"deployment_type": "unknown", "model_availability": "unknown"},
        },
        "evaluation_results": [_result(report, metric, run) for metric in with_value(report)],
    }


def _result(report: Report, metric: Metric, run: str) -> dict[str, Any]:
    group = f", {metric.group}" if metric.group else ""
    base, _, k = metric.name.partition("@")
    return {
        "evaluation_result_id": f"{run}/{metric.name}/{metric.reading}{group}",
        "evaluation_name": f"{declarations.name_of(report)}{group}",
        "source_data": _data(report),
        "metric_config": {
            "evaluation_description": f"{metric.name}, {metric.reading} reading, protocol {report.protocol}",
            "metric_id": "pass_at_k" if base == "pass" else metric.name,
            "metric_name": metric.name,
            "metric_kind": "pass_rate" if base == "pass" else base,
            "metric_unit": "percent",
            "metric_parameters": {"k": int(k)} if k.isdigit() else {},
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": -100 if base == "mcc" else 0,
            "max_score": 100,
            "additional_details": {"reading": metric.reading, "group": metric.group or "", "protocol": report.protocol},
        },
        "score_details": {"score": metric.value, "uncertainty": _uncertainty(metric)},
    }


def _data(report: Report) -> dict[str, Any]:
    hub = hub_of(report)
    source = {"source_type": "hf_dataset", "hf_repo": hub} if hub else {"source_type": "other"}
    digest = {"data_digest": report.provenance.data_digest or "unknown", "split": report.split}
    return {"dataset_name": report.benchmark, **source, "additional_details": digest}


def _uncertainty(metric: Metric) -> dict[str, Any]:
    made: dict[str, Any] = {"num_samples": metric.n}
    if metric.stderr is not None:
        made["standard_error"] = {"value": metric.stderr, "method": "analytic"}
    if metric.ci95 is not None:
        low, high = metric.ci95
        made["confidence_interval"] = {"lower": low, "upper": high, "confidence_level": 0.95}
    return made


def _samples(report: Report, material: Material, run: str, model: str) -> Iterator[dict[str, Any]]:
    """Yield one line for each scored sample and reading; none if the outputs are missing."""
    for sample in report.samples:
        texts = material.predictions.get(sample.qid, [])
        if sample.sample >= len(texts):
            continue
        for reading in READINGS:
            if sample.reading(reading).outcome is not Outcome.UNSCORED:
                yield _sample(report, sample, reading, material, texts[sample.sample]) | {
                    "evaluation_id": run,
                    "model_id": model,
                }


def _sample(
    report: Report, sample: SampleResult, reading: ReadingName, material: Material, text: str
) -> dict[str, Any]:
    task, read = material.tasks.get(sample.qid), sample.reading(reading)
    answer = {
        "turn_idx": 0,
        "source": "output.raw",
        "extracted_value": read.answer or "",
        "extraction_method": read.rule_name or "custom",
        "is_terminal": True,
    }
    return {
        "schema_version": SCHEMA,
        "evaluation_name": declarations.name_of(report),
        "sample_id": f"{sample.qid}#{sample.sample}",
        "sample_hash": hashlib.sha256(text.encode()).hexdigest(),
        "interaction_type": "single_turn",
        "input": {
            "raw": task.text if task else "",
            "reference": [task.gold] if task and task.gold is not None else [],
            "choices": list(task.options.values()) if task and task.options else None,
        },
        "output": {"raw": [text]},
        "messages": None,
        "answer_attribution": [answer] if read.answer is not None else [],
        "evaluation": {"score": float(read.credit), "is_correct": read.credit == 1},
        "metadata": {"reading": reading, "outcome": read.outcome.value, "detail": read.detail},
    }
