"""EvalPlus: `untrusted_check`, as `evalplus.evaluate` calls it, with its default limits."""

from __future__ import annotations

from typing import Any

from conformance.adapters import answer
from evalplus.eval import PASS, untrusted_check


def judge(task: dict[str, Any], source: str) -> str:
    """Judge a function by its inputs and outputs; there are no other tests in EvalPlus."""
    status, _ = untrusted_check(
        "humaneval",
        source,
        task["inputs"],
        task["entry_point"],
        expected=task["outputs"],
        atol=0,
        ref_time=[0.0] * len(task["inputs"]),
        fast_check=True,
    )
    return "passed" if status == PASS else "failed"


if __name__ == "__main__":
    answer(judge)
