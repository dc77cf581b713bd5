"""Functions with inputs in the data: bundled samples of the plus benchmarks, and a benchmark of one's own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.acceptance.command import grade

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.bubblewrap

SANDBOX = ["--sandbox", "bubblewrap", "--workers", "1", "--no-cache"]
FILES = {"livecodebench": "problems.jsonl"}
SAMPLES = {
    "mbpp": {"pass@1": 50.0, "calls_right": 100 * (1 + 2 / 3 + 1) / 4},
    "livecodebench": {"pass@1": 50.0, "calls_right": 62.5},
    "humaneval-plus": {"pass@1": 50.0, "base_pass@1": 100.0},
    "mbpp-plus": {"pass@1": 50.0, "base_pass@1": 75.0},
}


@pytest.mark.parametrize("benchmark", SAMPLES)
def test_the_bundled_sample(benchmark: str, sample: Callable[[str], tuple[Path, Path]]) -> None:
    path, folder = sample(benchmark)
    done = grade(path, "-b", benchmark, "--data", folder / FILES.get(benchmark, "tasks.jsonl"), *SANDBOX)
    assert done.returncode == 0, done.stderr
    results = json.loads(path.with_name("predictions_results.json").read_text())
    values = {(m["name"], m["reading"]): m["value"] for m in results["metrics"] if not m["group"]}
    for name, value in SAMPLES[benchmark].items():
        for reading in ("careful",) if name == "calls_right" else ("official", "careful"):
            assert values[name, reading] == pytest.approx(value), name
    again = grade(path, "-b", benchmark, "--data", folder / FILES.get(benchmark, "tasks.jsonl"), "--score-only")
    assert again.returncode == 0, again.stderr
    assert json.loads(path.with_name("predictions_results.json").read_text())["metrics"] == results["metrics"]
