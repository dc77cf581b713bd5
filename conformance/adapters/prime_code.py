"""verl: `prime_code.compute_score` as verl calls it, loaded without the rest of verl, which needs torch."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

from conformance.adapters import answer, by_call

found = importlib.util.find_spec("verl")
if found is None or found.origin is None:
    raise ImportError("verl could not be installed")
sys.path.insert(0, str(Path(found.origin).parent / "utils/reward_score"))

from prime_code import compute_score  # noqa: E402


def judge(task: dict[str, Any], source: str) -> str:
    """Judge by inputs and outputs; verl's reward is 1 for a pass."""
    success, _ = compute_score(source, by_call(task), continuous=True)
    return "passed" if success == 1 else "failed"


if __name__ == "__main__":
    answer(judge)
