"""Canaries: jobs whose outcome is known before they run, each of the same kind as the jobs around it.

Each canary tests a small made-up function. Its name, arguments, constants and tests are drawn at random, and it has
nothing in common with the tasks of the run. So no code that looks at a job can recognise a canary.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal, cast

import msgspec

from grader.sandbox.answer import Executed, understand

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from grade_sandbox.jobs import Job  # noqa: TC004 - no canary is read from JSON

    from grader.sandbox.answer import Recorded
    from grader.sandbox.interface import Answer

Kind = Literal["lint", "record", "answer", "script", "judge", "split", "run"]
KINDS: tuple[Kind, ...] = ("run", "split", "judge", "answer", "record", "lint")
"""The kinds of jobs; if a job has several, the first in this order is its kind."""
VERBS = ("blend", "count", "fold", "join", "measure", "pack", "rank", "scale", "shift", "split", "total", "weigh")
NOUNS = ("area", "cells", "digits", "edges", "items", "levels", "pairs", "points", "rows", "steps", "tiles", "words")
ARGUMENTS = ("a", "b", "first", "height", "left", "lower", "n", "other", "right", "size", "start", "step", "width", "x")
FEWEST_CALLS, MOST_CALLS = 2, 4
LARGEST = 40

Value = int | str


class Function(msgspec.Struct, frozen=True, kw_only=True):
    """A made-up function and its tests."""

    name: str
    signature: str
    body: str
    tests: str
    calls: tuple[tuple[int, int], ...]
    """The arguments of the calls of the tests. In a wrong canary for recording, the last call depends on an answer: its
    arguments are swapped if the answer is falsy."""
    values: tuple[Value, ...]
    """The return values of the program."""
    is_right: bool

    @property
    def source(self) -> str:
        """The whole program."""
        return self.signature + self.body


class Canary(msgspec.Struct, frozen=True, kw_only=True):
    """A job and its expected result."""

    job: Job
    kind: Kind
    function: Function

    @property
    def is_right(self) -> bool:
        """Whether its program is right. A right one must pass; a wrong one must fail for the known reason."""
        return self.function.is_right

    def judged(self, answer: Answer) -> bool:
        """Whether the sandbox judged it as expected."""
        try:
            return _CHECKS[self.kind](self, understand(answer))
        except (msgspec.ValidationError, ValueError, TypeError, KeyError, IndexError, AttributeError):
            return False


def kind_of(job: Job) -> Kind | None:
    """Return the kind of a job; None if there are no canaries of its kind."""
    if "script" in job.get("answer", ()):
        return "script"
    return next((kind for kind in KINDS if job.get(kind)), None)


def like(job: Job, draw: random.Random, *, is_right: bool) -> Canary | None:
    """Return a canary to run after a job, with its kind and limits; None for a job of an unknown kind."""
    kind = kind_of(job)
    if kind is None:
        return None
    function = _draw(draw, is_right=is_right)
    common = {name: job[name] for name in ("id", "cpu", "wall", "memory", "alone") if name in job}
    return Canary(job=cast("Job", common | _job(kind, function, job)), kind=kind, function=function)


# --- made-up functions ------------------------------------------------------------------------------------------------


_Shape = tuple[str, "Callable[[int, int, int, int], Value]"]
_SHAPES: tuple[_Shape, ...] = (
    ("    return {x} * {k} + {y} - {m}", lambda x, y, k, m: x * k + y - m),
    ("    if {x} > {y}:\n        return {x} - {k}\n    return {y} * {m} - {k}",
     lambda x, y, k, m: x - k if x > y else y * m - k),
    ("    found = {k}\n    for number in range({x}):\n        found += number * {m} + {y}\n    return found",
     lambda x, y, k, m: k + sum(number * m + y for number in range(x))),
    ("    parts = [{x} + {k}, {y} * {m}, {x} + {y}]\n    return max(parts) - min(parts) + {k}",
     lambda x, y, k, m: max(x + k, y * m, x + y) - min(x + k, y * m, x + y) + k),
    ("    text = str({x} + {k})\n    return text + '-' + str({y} * {m})", lambda x, y, k, m: f"{x + k}-{y * m}"),
    ("    table = {{'{k}': {x}, '{m}x': {y}}}\n    return sum(table.values()) * {k} + {m} + len(table)",
     lambda x, y, k, m: (x + y) * k + m + 2),
)  # fmt: skip
"""(Body of a function, its return value for the arguments x and y and the constants k and m)."""


def _draw(draw: random.Random, *, is_right: bool) -> Function:
    """Draw a function and its tests; a wrong one returns another value at the first call."""
    name = f"{draw.choice(VERBS)}_{draw.choice(NOUNS)}"
    x, y = draw.sample(ARGUMENTS, 2)
    signature = f"def {name}({x}, {y}):\n"
    calls = tuple(
        (draw.randint(2, LARGEST), draw.randint(2, LARGEST)) for _ in range(draw.randint(FEWEST_CALLS, MOST_CALLS))
    )
    body, values = draw.choice(_SHAPES)
    k, m = draw.randint(2, LARGEST), draw.randint(2, LARGEST)
    right = tuple(values(a, b, k, m) for a, b in calls)
    if not is_right:
        k = _other(values, calls[0], k, m)
    return Function(
        name=name,
        signature=signature,
        body=body.format(x=x, y=y, k=k, m=m) + "\n",
        tests=_tests(draw, name, calls, right),
        calls=calls,
        values=tuple(values(a, b, k, m) for a, b in calls),
        is_right=is_right,
    )


def _other(values: Callable[[int, int, int, int], Value], call: tuple[int, int], k: int, m: int) -> int:
    """Return a constant that changes the return value of the first call."""
    return next(other for other in range(k + 1, k + LARGEST) if values(*call, other, m) != values(*call, k, m))


def _tests(draw: random.Random, name: str, calls: tuple[tuple[int, int], ...], values: tuple[Value, ...]) -> str:
    asserts = [f"assert {name}({a}, {b}) == {value!r}" for (a, b), value in zip(calls, values, strict=True)]
    if draw.random() < 0.5:
        return "\n" + "\n".join(asserts) + "\n"
    wrapper = f"test_{draw.choice(NOUNS)}"
    return f"\ndef {wrapper}():\n" + "".join(f"    {line}\n" for line in asserts) + f"\n{wrapper}()\n"


# --- jobs -------------------------------------------------------------------------------------------------------------


def _job(kind: Kind, function: Function, job: Job) -> dict[str, Any]:
    declared = {"signature": function.signature + "    pass\n", "classes": [], "stubs": [function.name]}
    candidate = declared | {"source": function.source, "names": [], "reads": []}
    # The calls and the answers are in the formats of recording.py and answering.py.
    calls = [
        _text({"f": _named(function), "m": [], "v": list(call), "k": [], "n": [], "d": []}) for call in function.calls
    ]
    match kind:
        case "record":
            return {"record": declared | {"test": function.tests + ("" if function.is_right else _depending(function))}}
        case "answer":
            return {"answer": {"candidate": candidate | _same(job, "answer", "candidate", "each"), "calls": calls}}
        case "script":
            source = f"{function.source}\n\nprint({function.name}(*map(int, input().split())))\n"
            return {"answer": {"script": source, "calls": [f"{a} {b}\n" for a, b in function.calls]}}
        case "judge":
            hello = _text({"functions": [function.name], "imported": [], "errors": {}, "values": {}, "n": []})
            replies = [_text({"v": value, "m": [], "n": []}) for value in function.values]
            task = declared | {"test": function.tests, "names": [], "calls": calls}
            return {"judge": {"task": task, "answers": {"hello": hello, "replies": replies}}}
        case "split":
            return {"split": {"candidate": candidate, "tests": declared | {"test": function.tests}}}
    words = {name: job[name] for name in ("lint", "run", "timed_out", "failed_prefix") if name in job}
    # The linter executes nothing, so what is wrong for it is an undefined name.
    broken = f"    return {function.name}_\n" if kind == "lint" and not function.is_right else ""
    return {"head": function.source + broken, "test": function.tests} | words


def _same(job: Job, kind: Kind, record: str, *names: str) -> dict[str, Any]:
    """Return those of these entries that the same record has in the job beside the canary."""
    part = cast("dict[str, Any]", job)[kind][record]
    return {name: part[name] for name in names if name in part}


def _named(function: Function) -> dict[str, Any]:
    return {"x": ["name", function.name]}


def _depending(function: Function) -> str:
    """Return a test whose calls depend on an answer; both recordings must show it."""
    (a, b), *_ = function.calls
    return f"\nassert {function.name}({a}, {b + 1}) if {function.name}({a}, {b}) else {function.name}({b + 1}, {a})\n"


def _text(message: object) -> str:
    return json.dumps(message, separators=(",", ":"))


# --- checks -----------------------------------------------------------------------------------------------------------


def _is_linted(canary: Canary, executed: Executed) -> bool:
    if executed.lint is None or executed.lint.broken:
        return False
    messages = executed.lint.messages
    return messages == [] if canary.is_right else len(messages) == 1 and f"'{canary.function.name}_'" in messages[0]


def _is_run(canary: Canary, executed: Executed) -> bool:
    if executed.run is None or executed.run.evidence.stopped is not None:
        return False
    passed = executed.run.result == "passed"
    return passed if canary.is_right else not passed and executed.run.kind == "AssertionError"


def _is_recorded(canary: Canary, executed: Executed) -> bool:
    recorded = executed.record.recorded if executed.record is not None else None
    if recorded is None:
        return False
    wanted = list(canary.function.calls)
    truthy, falsy = _calls_of(canary, recorded.truthy), _calls_of(canary, recorded.falsy)
    if canary.is_right:
        return truthy == falsy == wanted
    a, b = wanted[0]
    return truthy == [*wanted, (a, b), (a, b + 1)] and falsy == [*wanted, (a, b), (b + 1, a)]


def _calls_of(canary: Canary, recorded: Recorded) -> list[tuple[int, ...]]:
    """Return the arguments of recorded calls; raises ValueError for calls of another function."""
    calls = [json.loads(call) for call in recorded.calls or ()]
    if any(call["f"] != _named(canary.function) or call["k"] for call in calls):
        raise ValueError("another function is called")
    return [tuple(call["v"]) for call in calls]


def _is_answered(canary: Canary, executed: Executed) -> bool:
    """Whether the program answered with its return values; those of a wrong one differ from a right one's."""
    if executed.answer is None:
        return False
    replies = [json.loads(reply) for reply in executed.answer.replies]
    named = json.loads(executed.answer.hello or "{}").get("functions")
    return named == [canary.function.name] and [(reply["v"], reply["n"]) for reply in replies] == [
        (v, []) for v in canary.function.values
    ]


def _is_printed(canary: Canary, executed: Executed) -> bool:
    """Whether each run of the program printed its value, and ended."""
    if executed.answer is None:
        return False
    runs = [json.loads(reply) for reply in executed.answer.replies]
    return [(run["printed"], run["status"]) for run in runs] == [(f"{value}\n", 0) for value in canary.function.values]


def _is_judged(canary: Canary, executed: Executed) -> bool:
    split = executed.judge if canary.kind == "judge" else executed.split
    if split is None or split.evidence.stopped is not None:
        return False
    return split.confirmed if canary.is_right else not split.confirmed and split.kind == "assertion"


_CHECKS: dict[Kind, Callable[[Canary, Executed], bool]] = {
    "lint": _is_linted,
    "record": _is_recorded,
    "answer": _is_answered,
    "script": _is_printed,
    "judge": _is_judged,
    "split": _is_judged,
    "run": _is_run,
}
