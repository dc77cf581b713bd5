"""Prints MME's two sums: of each category's accuracy, plus its share of pictures with both answers right.

python examples/benchmarks/mme/sums.py answers_results.json
"""

import sys

import grader

report = grader.read_report(sys.argv[1])
reasoning = ("code_reasoning", "commonsense_reasoning", "numerical_calculation", "text_translation")
sums = {"perception": 0.0, "reasoning": 0.0}
for metric in report.metrics:
    if metric.reading == "official" and metric.name in ("accuracy", "picture_accuracy") and metric.group:
        category = metric.group.removeprefix("category=")
        sums["reasoning" if category in reasoning else "perception"] += metric.number
print(sums)
