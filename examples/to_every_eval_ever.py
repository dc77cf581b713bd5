"""Results in the format of Every Eval Ever (github.com/evaleval/every_eval_ever, schemas 0.3.0).

`python examples/to_every_eval_ever.py RESULTS FOLDER ORG/MODEL DATA` writes the metrics, and a line for each scored
sample and reading. DATA is the benchmark's data; the predictions, a JSON array, are beside RESULTS.
"""

import hashlib
import json
import re
import sys
import time
import uuid
from pathlib import Path

import grader
from grader.grading.setup import load_tasks, make_setup
from grader.options import Options
from grader.results import Metric


def main(results: str, folder: str, model: str, data: str) -> None:
    """Write both files into `data/BENCHMARK/ORG/MODEL/` of the folder."""
    report, now = grader.read_report(results), int(time.time())
    asked = Options(benchmark=report.benchmark, split=report.split, protocol=report.protocol, data=Path(data))
    tasks = load_tasks(make_setup(asked))
    headline = report.metrics[0].name if report.metrics else ""
    run = f"{report.benchmark}/{model.replace('/', '_')}/{now}"
    shared = {"schema_version": "0.3.0", "evaluation_id": run}
    made = shared | {
        "retrieved_timestamp": str(now),
        "source_metadata": {"source_name": "grade", "source_type": "evaluation_run",
                            "source_organization_name": "unknown", "evaluator_relationship": "other"},
        "eval_library": {"name": "grade", "version": grader.__version__},
        "model_info": {"name": model.rpartition("/")[2], "id": model, "additional_details": {
            "deployment_type": "unknown", "model_availability": "unknown"}},
        "evaluation_results": [
            {
                "evaluation_result_id": f"{run}/{metric.name}/{metric.reading}/{metric.group or ''}",
                "evaluation_name": report.benchmark + (f", {metric.group}" if metric.group else ""),
                "source_data": {"dataset_name": report.benchmark, "source_type": "other"},
                "metric_config": {
                    "evaluation_description": f"{metric.name}, {metric.reading} reading, protocol {report.protocol}",
                    "metric_name": metric.name, "metric_unit": "percent", "lower_is_better": False,
                    "score_type": "continuous", "min_score": -100 if metric.name == "mcc" else 0, "max_score": 100,
                },
                "score_details": {"score": metric.value, "uncertainty": {"num_samples": metric.n} | interval(metric)},
            }
            for metric in report.metrics if metric.value is not None
        ],
    }  # fmt: skip
    organization, _, name = model.rpartition("/")
    parts = [re.sub(r"[^\w.-]|^\.+", "_", part)[:80] for part in (report.benchmark, organization or "unknown", name)]
    stem = Path(folder, "data", *parts, str(uuid.uuid4()))
    stem.parent.mkdir(parents=True)
    predictions = Path(results).with_name(report.provenance.predictions or "predictions.json")
    texts = {str(one["qid"]): one["predictions"] for one in json.loads(predictions.read_text())}
    lines = [
        shared | {
            "model_id": model,
            "evaluation_name": report.benchmark,
            "evaluation_result_id": f"{run}/{headline}/{reading}/",
            "sample_id": f"{sample.qid}#{sample.sample}",
            "sample_hash": hashlib.sha256("".join([task.text, *task.golds]).encode()).hexdigest(),
            "interaction_type": "single_turn",
            "input": {"raw": task.text, "reference": list(task.golds), "choices": list(task.options.values()) or None},
            "output": {"raw": [text]},
            "messages": None,
            "answer_attribution": [] if read.answer is None else [
                {"turn_idx": 0, "source": "output.raw", "extracted_value": read.answer,
                 "extraction_method": read.rule_name or "custom", "is_terminal": True}
            ],
            "evaluation": {"score": float(read.credit), "is_correct": read.credit == 1},
            "metadata": {"reading": reading, "outcome": read.outcome.value, "detail": read.detail}
            | ({"span": json.dumps(read.span)} if isinstance(read.span, tuple) else {}),
        }
        for sample in report.samples
        for reading, read in (("official", sample.official), ("careful", sample.careful))
        if read.outcome.value not in {"unscored", "not_judged"}
        for task in [tasks[sample.qid]]
        for text in texts.get(sample.qid, [])[sample.sample : sample.sample + 1]
    ]  # fmt: skip
    file = stem.with_name(f"{stem.name}_samples.jsonl")
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    made["detailed_evaluation_results"] = {
        "format": "jsonl", "file_path": str(file.relative_to(folder)), "hash_algorithm": "sha256",
        "checksum": hashlib.sha256(file.read_bytes()).hexdigest(), "total_rows": len(lines),
    }  # fmt: skip
    stem.with_name(f"{stem.name}.json").write_text(json.dumps(made, indent=1))


def interval(metric: Metric) -> dict[str, object]:
    """Return a metric's 95 % interval, if it has one."""
    if metric.ci95 is None:
        return {}
    low, high = metric.ci95
    return {"confidence_interval": {"lower": low, "upper": high, "confidence_level": 0.95}}


if __name__ == "__main__":
    main(*sys.argv[1:])
