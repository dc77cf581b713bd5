"""The self-check of a new sandbox: one right and one wrong fixed program in every kind of job that it will get."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import msgspec

from grader.sandbox import values
from grader.sandbox.answer import Executed, parse_answer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grade_sandbox.jobs import Job

    from grader.sandbox.interface import Answer, Supervisor
    from grader.sandbox.roles import Role

PROBLEM = (
    "A new sandbox misjudges the fixed {program} program of the job `{kind}`, so nothing is judged in it. Run "
    "`grade doctor`; if its code was changed, install grade again."
)
SIGNATURE = "def count_tiles(width, height):\n"
RIGHT = f"{SIGNATURE}    return width * 7 - height\n"
WRONG = f"{SIGNATURE}    return width * 7 + height\n"
TESTS = "\nassert count_tiles(4, 5) == 23\n"
DEPENDS = f"{TESTS}count_tiles(count_tiles(4, 5), 6)\n"
"""Its last call depends on an answer, which the recording has to notice."""


class Check(NamedTuple):
    """A job of a fixed program, and the test of its answer."""

    kind: str
    is_right: bool
    """Whether the program is right. A right one must pass; a wrong one must fail for the known reason."""
    job: Job
    is_as_expected: Callable[[Executed, bool], bool]

    def is_passed(self, answer: Answer) -> bool:
        """Whether the sandbox has answered as expected."""
        try:
            return self.is_as_expected(parse_answer(answer), self.is_right)
        except (msgspec.ValidationError, AssertionError, ValueError, TypeError, KeyError):
            return False


def find_problem(supervisor: Supervisor, role: Role, timeout: float) -> str:
    """Return what a new supervisor misjudges; empty if nothing. Raises SupervisorLostError."""
    for check in checks(role):
        supervisor.send(check.job, timeout)
        while "slow" in (answer := supervisor.receive(timeout)):
            pass  # it only announces that the answer will take longer
        if not check.is_passed(answer):
            return PROBLEM.format(program="right" if check.is_right else "wrong", kind=check.kind)
    return ""


def checks(role: Role) -> Iterator[Check]:
    """Yield the checks of a role, a right and a wrong program for each kind of job."""
    for kind in _KINDS[role]:
        for is_right in (True, False):
            make_job, is_as_expected = _JOBS[kind]
            # Alone, a program has time enough also on a busy machine.
            job = {"id": 0, "cpu": 10.0, "wall": 60.0, "alone": True, **make_job(is_right)}
            yield Check(kind, is_right, cast("Job", job), is_as_expected)


# --- the jobs ---

_DECLARATION: dict[str, Any] = {"signature": f"{SIGNATURE}    pass\n", "classes": [], "stubs": ["count_tiles"]}
_CALLS = [values.call("count_tiles", [4, 5])]


def _source(is_right: bool) -> str:
    return RIGHT if is_right else WRONG


def _value(is_right: bool) -> int:
    return 23 if is_right else 33


def _run(is_right: bool) -> dict[str, Any]:
    texts = {"timed_out": "timed out", "failed_prefix": "failed: "}
    return {"run": True, "head": _source(is_right), "test": TESTS, **texts}


def _lint(is_right: bool) -> dict[str, Any]:
    # The linter executes nothing, so what is wrong for it is an undefined name.
    return {"lint": True, "head": RIGHT if is_right else f"{WRONG}    return tiles\n", "test": TESTS}


def _record(is_right: bool) -> dict[str, Any]:
    return {"record": {**_DECLARATION, "test": TESTS if is_right else DEPENDS, "reference": RIGHT}}


def _answer(is_right: bool) -> dict[str, Any]:
    candidate = {**_DECLARATION, "source": _source(is_right), "names": {}, "with_effects": False}
    return {"answer": {"candidate": candidate, "calls": _CALLS}}


def _script(is_right: bool) -> dict[str, Any]:
    script = f"{_source(is_right)}\nprint(count_tiles(*map(int, input().split())))\n"
    return {"answer": {"script": script, "calls": ["4 5\n"]}}


def _judge(is_right: bool) -> dict[str, Any]:
    task = {**_DECLARATION, "test": TESTS, "names": {}, "calls": _CALLS}
    transcript = "\n".join([values.hello(["count_tiles"]), values.reply(_value(is_right))]).encode()
    return {"judge": {"task": task, "transcript": transcript}}


def _compare(is_right: bool) -> dict[str, Any]:
    pair = {"number": 0, "expected": f"{_value(True)}\n", "answer": f"{_value(is_right)}\n", "input": "4 5\n"}
    return {"compare": {"function": "", "rules": ["exact", "trimmed"], "pairs": [pair]}}


# --- what is expected: the right program passes, and the wrong one fails for the known reason ---


def _lints_correctly(executed: Executed, is_right: bool) -> bool:
    """Whether the linter says nothing of the right program, and of the wrong one only that `tiles` is undefined."""
    lint = executed.lint
    assert lint is not None
    return not lint.broken and [("'tiles'" in message) for message in lint.messages] == [True] * (not is_right)


def _records_correctly(executed: Executed, is_right: bool) -> bool:
    """Whether the call of `TESTS` is recorded; if not `is_right`, whether the recording of `DEPENDS` is refused."""
    assert executed.record is not None
    recorded = executed.record.recorded
    assert recorded is not None
    return recorded.calls == _CALLS if is_right else bool(recorded.refused) and not recorded.calls


def _judges_correctly(executed: Executed, is_right: bool) -> bool:
    """Whether the right program passes, and the wrong one fails by an assertion."""
    judgement = executed.judge
    assert judgement is not None
    expected = (True, "") if is_right else (False, "assertion")
    return judgement.evidence.stopped is None and (judgement.confirmed, judgement.kind) == expected


def _compares_correctly(executed: Executed, is_right: bool) -> bool:
    assert executed.compare is not None
    assert executed.compare.compared is not None
    return executed.compare.compared.verdicts == [(is_right, is_right, "")]


def _runs_correctly(executed: Executed, is_right: bool) -> bool:
    """Whether the right program passes, and the wrong one fails by an assertion, which has no text."""
    run = executed.run
    assert run is not None
    expected = ("passed", "") if is_right else ("failed: ", "AssertionError")
    return run.evidence.stopped is None and (run.result, run.kind) == expected


def _reply(executed: Executed) -> str:
    assert executed.answer is not None
    (reply,) = executed.answer.replies
    return reply


def _answers_correctly(executed: Executed, is_right: bool) -> bool:
    return _reply(executed) == values.reply(_value(is_right))


def _prints_correctly(executed: Executed, is_right: bool) -> bool:
    return bool(json.loads(_reply(executed))["printed"] == f"{_value(is_right)}\n")


_KINDS: dict[Role, tuple[str, ...]] = {
    "linting": ("lint",),
    "answering": ("answer", "script"),
    "judging": ("record", "judge", "compare"),
    "official": ("run",),
}
_JOBS: dict[str, tuple[Callable[[bool], dict[str, Any]], Callable[[Executed, bool], bool]]] = {
    "lint": (_lint, _lints_correctly),
    "record": (_record, _records_correctly),
    "answer": (_answer, _answers_correctly),
    "script": (_script, _prints_correctly),
    "judge": (_judge, _judges_correctly),
    "compare": (_compare, _compares_correctly),
    "run": (_run, _runs_correctly),
}
"""Kind of job -> what makes the job for the right or the wrong program, and the test of its answer."""
