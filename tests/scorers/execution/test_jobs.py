"""What a supervisor is asked to do for a sample."""

from __future__ import annotations

import pytest

from grader.sandbox.interface import Limits
from grader.scorers.execution import jobs, tasks
from grader.scorers.execution.declaration import ExecutionProtocol

SIGNATURE = "class Node:\n    v = 0\n\ndef solution(a):"
TASK = tasks.make("q1", SIGNATURE, "assert solution(1) == 3\n", {})
WORDS = jobs.texts("v2", ExecutionProtocol(timed_out="out of {timeout}", failed_prefix="", lint_prefix="lint:\n"), 2.0)
LIMITS = Limits(cpu_seconds=2.0, wall_seconds=20.0, memory_bytes=1 << 30)


def attempt(prediction: str) -> jobs.Attempt:
    return next(jobs.attempts({"q1": TASK}, {"q1": [prediction]}, WORDS))


COMMON = {
    "id": 0,
    "test": "assert solution(1) == 3\n",
    "timed_out": "out of 2",
    "failed_prefix": "",
    "cpu": 2.0,
    "wall": 20.0,
}


SPLIT = {
    "signature": f"{SIGNATURE}\n    pass\n",
    "source": "def solution(a):\n    return a + 2",
    "classes": ["Node"],
    "stubs": ["solution"],
}


def test_the_confirming_job_gates_and_runs_a_program_apart_from_its_tests_with_a_quarter_more_time() -> None:
    code = SPLIT["source"]
    assert jobs.confirm_job(attempt(f"```python\n{code}\n```"), WORDS, LIMITS) == COMMON | {
        "head": f"{SIGNATURE}\n    pass\n\n{code}\n\n",
        "cpu": 1.25,
        "lint": True,
        "run": False,
        "split": SPLIT,
    }


@pytest.mark.parametrize("gated", [True, False])
def test_the_official_job_runs_a_program_with_its_tests_and_gates_what_was_not(gated: bool) -> None:
    code = SPLIT["source"]
    assert jobs.run_job(attempt(f"```python\n{code}\n```"), WORDS, LIMITS, gated=gated) == COMMON | {
        "head": f"{SIGNATURE}\n    pass\n\n{code}\n\n",
        "lint": not gated,
        "run": True,
        "split": None,
    }


def test_the_recovery_job_only_tries_the_kept_code_against_the_tests() -> None:
    code = "N = 2\ndef solution(a):\n    return a + N"
    job = jobs.recovery_job(attempt(f"```python\n{code}\n```"), WORDS, LIMITS)
    assert (job["lint"], job["run"]) == (False, False)
    assert job["split"] == {
        "signature": f"{SIGNATURE}\n    pass\n",
        "source": code,
        "classes": ["Node"],
        "stubs": ["solution"],
    }


def test_the_candidates_source_never_holds_the_tests() -> None:
    job = jobs.confirm_job(attempt("```python\ndef solution(a):\n    return 3\n```"), WORDS, LIMITS)
    split = job["split"]
    assert isinstance(split, dict)
    assert "assert solution" not in split["source"] + split["signature"]


def test_samples_are_numbered_within_their_task() -> None:
    both = {"q1": TASK, "q2": tasks.make("q2", SIGNATURE, "", {"task_type": "A"})}
    made = [(a.task.id, a.sample) for a in jobs.attempts(both, {"q2": ["", ""], "q1": [""]}, WORDS)]
    assert made == [("q2", 0), ("q2", 1), ("q1", 0)]
