"""What a supervisor is asked to do for a sample."""

import json

import msgspec

from grader.sandbox import values
from grader.sandbox.interface import Limits
from grader.scorers.execution import jobs
from grader.scorers.execution.declaration import ExecutionProtocol as Protocol
from grader.scorers.execution.states import Judgeable
from tests.scorers.execution.made import make
from tests.tables import each

SIGNATURE = "class Node:\n    v = 0\n\ndef solution(a):"
TASK = make("q1", SIGNATURE, "assert solution(1) == 3\n", {})
PROTOCOL = Protocol(
    assembly="humaneval-v-v2", lint=True, timed_out="out of {timeout}", failed_prefix="", lint_prefix="lint:\n"
).with_timeout(2.0)
LIMITS = Limits(cpu_seconds=2.0, wall_seconds=20.0, memory_bytes=1 << 30)


CODE = "def solution(a):\n    return a + 2"
STATE = Judgeable([values.call("solution", [1])], {"N": "value"})


def test_a_candidate_gets_nothing_of_the_tests_and_the_judge_nothing_of_a_candidate_but_its_answers() -> None:
    answer = jobs.answer_job(TASK, CODE, STATE.calls, STATE.names, LIMITS)
    assert "solution(1) == 3" not in json.dumps(answer)
    judge = jobs.with_answers(jobs.judge_job(TASK, STATE, LIMITS), b"{}\n[]", [b"{}\n[]"])
    assert judge["judge"]["transcript"] == b"{}\n[]"
    assert "return a + 2" not in repr(judge)


@each("solution", ["    return a + 2", "def solution(a):\n    return a + 2"])
def test_a_known_solution_may_be_a_body_or_a_program(solution: str) -> None:
    made = make("q1", SIGNATURE, "", {}, solution).reference
    assert made.endswith(CODE)


@each(
    ("cpu", "wall", "seconds"), [(0, 0, (2, 20)), (0, 5, (2, 5)), (0, 0.5, (0.5, 0.5)), (3, 1, (1, 1)), (3, 0, (3, 20))]
)
def test_a_program_that_works_is_stopped_after_the_longest_duration_of_its_task(
    cpu: float, wall: float, seconds: tuple[float, float]
) -> None:
    task = msgspec.structs.replace(TASK, cpu_seconds=cpu, wall_seconds=wall)
    job = jobs.answer_job(task, CODE, STATE.calls, STATE.names, LIMITS)
    assert (job["cpu"], job["wall"]) == seconds
