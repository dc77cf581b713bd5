"""The result of a self-test in words."""

from grader.selftest import outcome
from grader.selftest.text import render


def _outcome(*ratios: float) -> outcome.Outcome:
    empty = {"data": "", "tasks": 0, "samples": 0, "tallies": [], "problems": [], "strengths": [], "notes": []}
    tested = [outcome.Tested(benchmark=f"b{at}", cpu_ratio=ratio, **empty) for at, ratio in enumerate(ratios)]  # type: ignore[arg-type]
    return outcome.Outcome(passed=True, at="2026-11-25", seconds=1, repeats=1, under_load=False, tested=tested)


def test_the_speed_of_the_cpu_is_one_line_for_all_benchmarks() -> None:
    (line,) = (line for line in render(_outcome(0.61, 0, 0.7)).splitlines() if line.startswith("CPU: "))
    assert "takes 0.61 to 0.70 times as long" in line
    assert "takes 0.61 times as long" in render(_outcome(0.61))
    assert "CPU: " not in render(_outcome(0))
