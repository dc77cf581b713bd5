"""Canaries: two jobs whose outcome is known before they run, for each kind of job: a right and a wrong program."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal, cast

import msgspec

from grader.sandbox.answer import Executed, understand
from grader.sandbox.messages import Call, hello, returned, value_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from grade_sandbox.jobs import Job  # noqa: TC004 - no canary is read from JSON

    from grader.sandbox.interface import Answer

Kind = Literal["lint", "record", "answer", "script", "judge", "run"]
KINDS: tuple[Kind, ...] = ("run", "judge", "answer", "record", "lint")
"""The kinds of jobs; if a job has several, the first in this order is its kind."""
SIGNATURE = "def count_tiles(width, height):\n"
RIGHT = f"{SIGNATURE}    return width * 7 - height\n"
WRONG = f"{SIGNATURE}    return width * 7 + height\n"
TESTS = "\nassert count_tiles(4, 5) == 23\n"
DEPENDS = f"{TESTS}count_tiles(4, 6) if count_tiles(4, 5) else count_tiles(6, 4)\n"
"""Its last call depends on an answer, which both recordings have to show."""


class Canary(msgspec.Struct, frozen=True, kw_only=True):
    """A job with a known result."""

    job: Job
    kind: Kind
    is_right: bool
    """Whether its program is right. A right one must pass; a wrong one must fail for the known reason."""

    def judged(self, answer: Answer) -> bool:
        """Whether the sandbox judged it as expected."""
        try:
            return _CHECKS[self.kind](understand(answer), self.is_right)
        except (msgspec.ValidationError, AssertionError, ValueError, TypeError, KeyError):
            return False


def kind_of(job: Job) -> Kind | None:
    """Return the kind of a job; None if there are no canaries of its kind."""
    if "script" in job.get("answer", ()):
        return "script"
    return next((kind for kind in KINDS if job.get(kind)), None)


def like(job: Job, *, is_right: bool) -> Canary | None:
    """Return the canary of a job's kind, with its limits; None for a job of an unknown kind."""
    kind = kind_of(job)
    if kind is None:
        return None
    common = {name: job[name] for name in ("id", "cpu", "wall", "memory", "alone") if name in job}
    made = cast("Job", common | _job(kind, RIGHT if is_right else WRONG, is_right=is_right))
    return Canary(job=made, kind=kind, is_right=is_right)


def _job(kind: Kind, source: str, *, is_right: bool) -> dict[str, Any]:
    declared = {"signature": f"{SIGNATURE}    pass\n", "classes": [], "stubs": ["count_tiles"]}
    candidate = {**declared, "source": source, "names": [], "reads": []}
    calls = [Call(target=["name", "count_tiles"], arguments=[4, 5]).written()]
    match kind:
        case "record":
            return {"record": {**declared, "test": TESTS if is_right else DEPENDS}}
        case "answer":
            return {"answer": {"candidate": candidate, "calls": calls}}
        case "script":
            script = f"{source}\nprint(count_tiles(*map(int, input().split())))\n"
            return {"answer": {"script": script, "calls": ["4 5\n"]}}
        case "judge":
            task = {**declared, "test": TESTS, "names": [], "calls": calls}
            answers = {"said": "\n".join([hello(["count_tiles"]), returned(_value(is_right))]).encode()}
            return {"judge": {"task": task, "answers": answers}}
        case "lint":
            # The linter executes nothing, so what is wrong for it is an undefined name.
            return {"lint": True, "head": source if is_right else f"{source}    return tiles\n", "test": TESTS}
        case "run":
            return {"run": True, "head": source, "test": TESTS, "timed_out": "timed out", "failed_prefix": "failed: "}


def _value(is_right: bool) -> int:
    return 23 if is_right else 33


def _reply(executed: Executed) -> str:
    assert executed.answer is not None
    (reply,) = executed.answer.replies
    return reply


def _is_linted(executed: Executed, is_right: bool) -> bool:
    lint = executed.lint
    assert lint is not None
    return not lint.broken and [("'tiles'" in message) for message in lint.messages] == [True] * (not is_right)


def _is_recorded(executed: Executed, is_right: bool) -> bool:
    assert executed.record is not None
    both = executed.record.recorded
    assert both is not None
    truthy, falsy = ([Call.read(call).arguments for call in one.calls or ()] for one in (both.truthy, both.falsy))
    if is_right:
        return truthy == falsy == [[4, 5]]
    return (truthy, falsy) == ([[4, 5], [4, 5], [4, 6]], [[4, 5], [4, 5], [6, 4]])


def _is_judged(executed: Executed, is_right: bool) -> bool:
    split = executed.judge
    assert split is not None
    expected = (True, "") if is_right else (False, "assertion")
    return split.evidence.stopped is None and (split.confirmed, split.kind) == expected


def _is_run(executed: Executed, is_right: bool) -> bool:
    run = executed.run
    assert run is not None
    expected = ("passed", "") if is_right else ("failed: ", "AssertionError")
    return run.evidence.stopped is None and (run.result, run.kind) == expected


_CHECKS: dict[Kind, Callable[[Executed, bool], bool]] = {
    "lint": _is_linted,
    "record": _is_recorded,
    "answer": lambda executed, is_right: value_of(_reply(executed)) == _value(is_right),
    "script": lambda executed, is_right: json.loads(_reply(executed))["printed"] == f"{_value(is_right)}\n",
    "judge": _is_judged,
    "run": _is_run,
}
