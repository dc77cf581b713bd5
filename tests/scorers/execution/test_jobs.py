"""What a supervisor is asked to do for a sample."""

import json

import pytest

from grader.sandbox.answer import Answers, Evidence
from grader.sandbox.interface import Limits
from grader.scorers.execution import jobs
from grader.scorers.execution.calls import CallList
from grader.scorers.execution.declaration import ExecutionProtocol as Protocol
from tests.scorers.execution.made import make

SIGNATURE = "class Node:\n    v = 0\n\ndef solution(a):"
TASK = make("q1", SIGNATURE, "assert solution(1) == 3\n", {})
PROTOCOL = Protocol(
    assembly="humaneval-v-v2", lint=True, timed_out="out of {timeout}", failed_prefix="", lint_prefix="lint:\n"
).limited(2.0)
LIMITS = Limits(cpu_seconds=2.0, wall_seconds=20.0, memory_bytes=1 << 30)


CODE = "def solution(a):\n    return a + 2"
CALLS = CallList(calls=('{"f": 1}',), names=("N",), reads=("x",))
EVIDENCE = Evidence(stopped=None, status=None, cpu=0.1, wall=0.2, waited=0.0, oom=False)


def test_a_candidate_gets_nothing_of_the_tests_and_the_judge_nothing_of_a_candidate_but_its_answers() -> None:
    assert "solution(1) == 3" not in json.dumps(jobs.answer_job(TASK, CODE, CALLS, LIMITS))
    judge = jobs.judge_job(TASK, CALLS, Answers(evidence=EVIDENCE, said=b"{}\n[]"), LIMITS)
    assert judge["judge"]["answers"] == {"said": b"{}\n[]"}
    assert "return a + 2" not in repr(judge)


@pytest.mark.parametrize("solution", ["    return a + 2", "def solution(a):\n    return a + 2"])
def test_a_known_solution_may_be_a_body_or_a_program(solution: str) -> None:
    made = make("q1", SIGNATURE, "", {}, solution).reference
    assert made.endswith(CODE)
