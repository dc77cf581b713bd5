"""LiveCodeBench: `evaluate_generations_by_problem`, with its default limit of six seconds a test."""

from __future__ import annotations

import json
from typing import Any

from conformance.adapters import answer, by_call
from livecodebench.evaluation.compute_code_generation_metrics import evaluate_generations_by_problem


def judge(task: dict[str, Any], source: str) -> str:
    """Judge by inputs and outputs; a pass is a result above 0 for each of them, as in its pass@k."""
    sample = {"input_output": json.dumps(by_call(task))}
    (found,), _ = evaluate_generations_by_problem(([source], sample, False, 6))
    return "passed" if all(one > 0 for one in found) else "failed"


if __name__ == "__main__":
    answer(judge)
