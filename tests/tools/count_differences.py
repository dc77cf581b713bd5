"""Counts where the two readings differ: a Markdown table for results files of one benchmark.

    python tests/tools/count_differences.py a_results.json b_results.json

The tables in the benchmarks' READMEs are made with it.
"""

import sys
from collections import Counter
from pathlib import Path

import grader
from grader.results import Report, SampleResult


def main(paths: list[str]) -> None:
    """Print a row for each results file, then what the official rule read where the readings differ."""
    reports = {Path(path).name.removesuffix("_results.json"): grader.read_report(path) for path in paths}
    print("| predictions | samples | metric | official | careful | samples read differently |")
    print("|---|---|---|---|---|---|")
    for name, report in reports.items():
        for metric in dict.fromkeys(m.name for m in report.metrics if m.group is None):
            print(_row(name, report, metric))
    print("\n| official rule | official outcome | careful outcome | samples |\n|---|---|---|---|")
    found = Counter(_kind(sample) for report in reports.values() for sample in report.differences())
    for kind, count in found.most_common():
        print("| " + " | ".join((*kind, str(count))) + " |")


def _row(name: str, report: Report, metric: str) -> str:
    values = [report.metric(metric, reading) for reading in ("official", "careful")]
    shown = ["–" if m is None or m.value is None else f"{m.value:.1f}" for m in values]
    return f"| {name} | {len(report.samples)} | {metric} | {shown[0]} | {shown[1]} | {len(report.differences())} |"


def _kind(sample: SampleResult) -> tuple[str, str, str]:
    rule = sample.official.rule or "no rule"
    return rule, sample.official.outcome.value, sample.careful.outcome.value


if __name__ == "__main__":
    main(sys.argv[1:])
