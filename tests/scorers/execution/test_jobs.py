"""What a supervisor is asked to do for a sample."""

from __future__ import annotations

import json

import pytest

from grader.sandbox.answer import Answers, Evidence
from grader.sandbox.interface import Limits
from grader.scorers.execution import jobs, tasks
from grader.scorers.execution.calls import Calls, Unrecordable
from grader.scorers.execution.declaration import ExecutionProtocol as Protocol

SIGNATURE = "class Node:\n    v = 0\n\ndef solution(a):"
TASK = tasks.make("q1", SIGNATURE, "assert solution(1) == 3\n", {})
PROTOCOL = Protocol(
    assembly="humaneval-v-v2", lint=True, timed_out="out of {timeout}", failed_prefix="", lint_prefix="lint:\n"
).limited(2.0)
LIMITS = Limits(cpu_seconds=2.0, wall_seconds=20.0, memory_bytes=1 << 30)


def attempt(prediction: str) -> jobs.Attempt:
    return next(jobs.attempts({"q1": TASK}, {"q1": [prediction]}, PROTOCOL))


COMMON = {
    "id": 0,
    "test": "assert solution(1) == 3\n",
    "timed_out": "out of 2",
    "failed_prefix": "",
    "cpu": 2.0,
    "wall": 20.0,
}


CODE = "def solution(a):\n    return a + 2"
DECLARED = {"signature": f"{SIGNATURE}\n    pass\n", "classes": ("Node",), "stubs": ("solution",)}
CALLS = Calls(calls=('{"f": 1}',), names=("N",), reads=("x",))
EVIDENCE = Evidence(stopped=None, status=None, cpu=0.1, wall=0.2, waited=0.0, oom=False)


@pytest.mark.parametrize("gated", [True, False])
def test_the_official_job_runs_a_program_with_its_tests_and_gates_what_was_not(gated: bool) -> None:
    assert jobs.run_job(attempt(f"```python\n{CODE}\n```"), PROTOCOL, LIMITS, gated=gated) == COMMON | {
        "head": f"{SIGNATURE}\n    pass\n\n{CODE}\n\n",
        "lint": not gated,
        "run": True,
    }


def test_the_gating_job_runs_nothing() -> None:
    job = jobs.lint_job(attempt(f"```python\n{CODE}\n```"), PROTOCOL, LIMITS)
    assert job == COMMON | {"head": f"{SIGNATURE}\n    pass\n\n{CODE}\n\n", "lint": True}


def test_the_job_that_answers_has_the_candidate_and_the_calls_and_nothing_of_the_tests() -> None:
    job = jobs.answer_job(TASK, CODE, CALLS, LIMITS)
    candidate = {**DECLARED, "source": CODE, "names": ("N",), "reads": ("x",)}
    assert job["answer"] == {"candidate": candidate, "calls": ('{"f": 1}',)}
    assert TASK.tests not in json.dumps(job)
    assert (job["cpu"], job["wall"]) == (2.5, 20.0)


def test_the_job_that_judges_has_the_tests_and_the_answers_and_nothing_else_of_the_candidate() -> None:
    given = Answers(evidence=EVIDENCE, hello="{}", replies=["[]"])
    job = jobs.judge_job(TASK, CALLS, given, LIMITS)
    assert job["judge"] == {
        "task": {**DECLARED, "test": TASK.tests, "names": ("N",), "calls": ('{"f": 1}',), "official": True},
        "answers": {"hello": "{}", "replies": ["[]"]},
    }


def test_the_job_that_records_has_no_candidate() -> None:
    assert jobs.record_job(TASK, LIMITS)["record"] == {**DECLARED, "test": TASK.tests}


def test_a_candidate_that_is_alive_with_its_tests_may_use_half_of_the_time_in_each_process() -> None:
    job = jobs.split_job(TASK, CODE, Unrecordable(why="", names=("N",)), LIMITS)
    candidate = {**DECLARED, "source": CODE, "names": ("N",), "reads": ()}
    assert job["split"] == {"candidate": candidate, "tests": {**DECLARED, "test": TASK.tests}}
    assert job["cpu"] == 1.25


@pytest.mark.parametrize("solution", ["    return a + 2", "def solution(a):\n    return a + 2"])
def test_a_known_solution_may_be_a_body_or_a_program(solution: str) -> None:
    made = tasks.make("q1", SIGNATURE, "", {}, solution).reference
    assert made is not None
    assert made.endswith(CODE)


def test_a_known_solution_keeps_its_constants() -> None:
    made = tasks.make("q1", SIGNATURE, "", {}, f"LIMIT = 7\n\n{CODE} + LIMIT")
    assert made.reference is not None
    assert "LIMIT = 7" in made.reference


def test_samples_are_numbered_within_their_task() -> None:
    known = {"q1": TASK, "q2": tasks.make("q2", SIGNATURE, "", {"task_type": "A"})}
    made = [(a.task.id, a.sample) for a in jobs.attempts(known, {"q2": ["", ""], "q1": [""]}, PROTOCOL)]
    assert made == [("q2", 0), ("q2", 1), ("q1", 0)]


def test_the_same_text_of_a_task_is_assembled_once() -> None:
    texts = [f"```python\n{CODE}\n```", f"```python\n{CODE} + 1\n```", f"```python\n{CODE}\n```"]
    first, other, again = jobs.attempts({"q1": TASK}, {"q1": texts}, PROTOCOL)
    assert again.program is first.program
    assert (again.sample, other.head == first.head) == (2, False)
