"""A run for Weights & Biases: `python examples/to_wandb.py RESULTS [PROJECT]`; `WANDB_MODE=offline` keeps it here."""

import sys

import wandb

import grader

COLUMNS = ("qid", "sample", "official", "official credit", "careful", "careful credit")


def main(results: str, project: str = "grade") -> None:
    """Log what the run was, its metrics with the ends of their intervals, and a row for each sample."""
    report = grader.read_report(results)
    facts = {"model": report.model, "benchmark": report.benchmark, "split": report.split, "protocol": report.protocol,
             "predictions": report.provenance.predictions, "grade": report.provenance.grade}  # fmt: skip
    name = f"{report.model or report.provenance.predictions} {report.benchmark}"
    with wandb.init(project=project, name=name, config=facts, job_type="evaluation") as run:
        for metric in (one for one in report.metrics if one.value is not None):
            called = "/".join(filter(None, (metric.reading, metric.name, metric.group)))
            run.summary[called] = metric.value
            if metric.ci95 is not None and metric.group is None:
                run.summary[f"{called}/ci95_low"], run.summary[f"{called}/ci95_high"] = metric.ci95
        rows = [
            [one.qid, one.sample, one.official.outcome.value, float(one.official.credit),
             one.careful.outcome.value, float(one.careful.credit)]
            for one in report.samples
        ]  # fmt: skip
        run.log({"samples": wandb.Table(columns=list(COLUMNS), data=rows)})
        print(f"Logged to W&B: {run.url or run.dir}")


if __name__ == "__main__":
    main(*sys.argv[1:])
