"""A run for MLflow: `python examples/to_mlflow.py RESULTS [EXPERIMENT]`; `MLFLOW_TRACKING_URI` says where it goes."""

import re
import sys

import mlflow

import grader


def main(results: str, experiment: str = "grade") -> None:
    """Log what the run was, its metrics with the ends of their intervals, and a row for each sample."""
    report = grader.read_report(results)
    values = {}
    for metric in (one for one in report.metrics if one.value is not None):
        # MLflow rejects `@`, `=` and most other signs, and long names.
        name = "/".join(filter(None, (metric.reading, metric.name.replace("@", "_at_"), metric.group)))
        name = re.sub(r"[^\w\-./ ]", "_", name)[:230]
        values[name] = metric.value
        if metric.ci95 is not None and metric.group is None:
            values[f"{name}/ci95_low"], values[f"{name}/ci95_high"] = metric.ci95
    table: dict[str, list[object]] = {"qid": [], "sample": []}
    for sample in report.samples:
        table["qid"].append(sample.qid)
        table["sample"].append(sample.sample)
        for reading, read in (("official", sample.official), ("careful", sample.careful)):
            table.setdefault(f"{reading}_outcome", []).append(read.outcome.value)
            table.setdefault(f"{reading}_credit", []).append(float(read.credit))
            table.setdefault(f"{reading}_answer", []).append(read.answer or "")
    mlflow.set_experiment(experiment)
    with mlflow.start_run(run_name=f"{report.model or report.provenance.predictions} {report.benchmark}") as run:
        facts = {"model": report.model, "benchmark": report.benchmark, "split": report.split,
                 "protocol": report.protocol, "predictions": report.provenance.predictions,
                 "grade": report.provenance.grade, "data_digest": report.provenance.data_digest}  # fmt: skip
        mlflow.log_params({name: fact for name, fact in facts.items() if fact})
        mlflow.log_metrics(values)
        mlflow.log_table(table, artifact_file="samples.json")
    print(f"Logged to MLflow: {mlflow.get_tracking_uri()}, run {run.info.run_id}")


if __name__ == "__main__":
    main(*sys.argv[1:])
