"""A result for a model page of Hugging Face: `python examples/to_hugging_face.py RESULTS FOLDER DATASET [TASK]`.

It writes `.eval_results/BENCHMARK.yaml` into FOLDER, a model repository. DATASET is the id of the data set on the
hub. TASK is the id of the task in the `eval.yaml` of the data set; a few are known here. A model has one value for
each task: the official one, because it is compared with others.
"""

import datetime
import sys
from pathlib import Path

import yaml
from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml

import grader

TASKS = {"mmlu-pro": "mmlu_pro", "mmmu": "mmmu", "gsm8k": "gsm8k"}
"""Benchmark -> the task that its data set registers."""


def main(results: str, folder: str, dataset: str, task: str = "") -> None:
    """Write the file; stop if the results are of a part of the benchmark, or have no official value."""
    report = grader.read_report(results)
    if report.part is not None:
        sys.exit(f"{results} is of a part of the benchmark. Grade all of it.")
    metric = next((one for one in report.metrics if one.group is None and one.reading == "official"), None)
    if metric is None or metric.value is None:
        sys.exit(f"{results} has no official value.")
    notes = [metric.name, "official reading", f"protocol {report.protocol}", f"split {report.split}", f"n = {metric.n}"]
    notes += [f"{lost} unscored"] if (lost := report.unscored_by_reading.official) else []
    # These say why official values may differ from those of the published scorer.
    notes += report.official_notes()
    entry = EvalResultEntry(
        dataset_id=dataset,
        task_id=task or TASKS.get(report.benchmark, report.benchmark),
        value=round(metric.value, 4),
        date=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        notes=", ".join(notes),
    )
    path = Path(folder, ".eval_results", f"{report.benchmark}.yaml")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(eval_result_entries_to_yaml([entry]), sort_keys=False, allow_unicode=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
