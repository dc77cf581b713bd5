"""A sandbox that judges right judges the canaries of every kind right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import pytest

from grader.observer import Silent
from grader.options import Options
from grader.sandbox import canaries, choice
from grader.sandbox.answer import NOTHING_DONE, Answers
from grader.sandbox.canaries import Kind
from grader.sandbox.interface import Limits
from grader.sandbox.messages import Call, hello, returned
from grader.sandbox.pool import Pool
from grader.scorers.execution import jobs
from grader.scorers.execution.calls import CallList
from tests.scorers.execution.made import make

if TYPE_CHECKING:
    from grade_sandbox.jobs import Job

    from grader.sandbox.canaries import Canary

LIMITS = Limits()
SOURCE = "def solution(a):\n    return a\n"
TASK = make("secret", "def solution(a):\n    pass\n", "assert solution(4711) == 4711\n", {})
CALLS = CallList(calls=(Call(target=["name", "solution"], arguments=[4711]).written(),), names=(), reads=())
ANSWERS = Answers(evidence=NOTHING_DONE, said="\n".join([hello(["solution"]), returned(4711)]).encode())
OFFICIAL: dict[str, Any] = {
    "id": 0, "cpu": 2.0, "wall": 20.0, "head": SOURCE, "test": TASK.tests, "timed_out": "late", "failed_prefix": "no: ",
}  # fmt: skip
SUM = "print(sum(map(int, input().split())))\n"
REAL: dict[Kind, Job] = {
    "lint": OFFICIAL | {"lint": True},
    "record": jobs.record_job(TASK, LIMITS),
    "answer": jobs.answer_job(TASK, SOURCE, CALLS, LIMITS),
    "script": jobs.script_job(TASK, SUM, ["4711\n"], LIMITS),
    "judge": jobs.judge_job(TASK, CALLS, ANSWERS, LIMITS),
    "run": OFFICIAL | {"lint": False, "run": True},
}


def both(kind: Kind) -> list[Canary]:
    """Return the right and the wrong canary of a kind."""
    found = [canaries.like(REAL[kind], is_right=is_right) for is_right in (True, False)]
    return [canary for canary in found if canary is not None]


@pytest.mark.parametrize("kind", get_args(Kind))
def test_a_canary_is_of_the_kind_of_a_job_and_has_its_limits(kind: Kind) -> None:
    for canary in both(kind):
        assert canaries.kind_of(REAL[kind]) == canaries.kind_of(canary.job) == canary.kind == kind
        assert {name: canary.job[name] for name in ("id", "cpu", "wall")} == {
            name: REAL[kind][name] for name in ("id", "cpu", "wall")
        }
    assert canaries.like(REAL[kind] | {"alone": True}, is_right=True).job["alone"] is True


@pytest.mark.parametrize("answer", [{}, {"id": 0}, {"damaged": "files stay"}, {"run": None}, {"answer": {}}])
@pytest.mark.parametrize("kind", get_args(Kind))
def test_an_answer_that_says_nothing_is_a_wrong_one(kind: Kind, answer: dict[str, Any]) -> None:
    assert not any(canary.judged(answer) for canary in both(kind))


def answers(backend: str, found: dict[str, Canary]) -> dict[str, Any]:
    """Return what a real sandbox says of canaries."""
    opened = choice.open_backend(Options(sandbox=backend), LIMITS, Silent(), None)
    with Pool(opened, 1, 60) as pool:
        return {verdict.key: verdict.answer for verdict in pool.run((key, c.job) for key, c in found.items())}


@pytest.mark.parametrize(
    "backend",
    [pytest.param("docker", marks=pytest.mark.docker), pytest.param("bubblewrap", marks=pytest.mark.bubblewrap)],
)
def test_a_real_sandbox_judges_canaries_of_every_kind_right_and_the_verdict_of_another_is_wrong(backend: str) -> None:
    found = {f"{kind} {number}": canary for kind in get_args(Kind) for number, canary in enumerate(both(kind))}
    said = answers(backend, found)
    assert [key for key, canary in found.items() if not canary.judged(said[key])] == []
    for kind in get_args(Kind):
        # The answer to a wrong program given for a right one, and the other way round.
        assert not found[f"{kind} 0"].judged(said[f"{kind} 1"])
        assert not found[f"{kind} 1"].judged(said[f"{kind} 0"])
