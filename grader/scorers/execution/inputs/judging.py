"""Both readings of a program that answered the inputs of its task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from grader.results import Calls, FirstDifference, Outcome, Reading
from grader.scorers.execution.inputs import comparisons
from grader.scorers.execution.inputs.values import Raised, answered, message, printable, shown
from grader.scorers.execution.reading import failure, unscored

if TYPE_CHECKING:
    from grader.sandbox.answer import Answers, Evidence
    from grader.scorers.execution.declaration import ExecutionProtocol
    from grader.scorers.execution.inputs.cases import Cases

MOST_SHOWN = 1000
"""Characters of an input or output in the results."""
RULE = "outputs"
PASSED = Reading(outcome=Outcome.PASSED, credit=1, rule=RULE)


class Output(NamedTuple):
    """What a program gave for one input: a printed text or a returned value."""

    value: Any
    outcome: Outcome = Outcome.PASSED
    """What happened instead, if the program gave nothing that can be compared."""
    why: str = ""

    @property
    def shown_text(self) -> str:
        """What it printed or returned, for people."""
        return "" if self.value is None else shown(self.value)

    @property
    def shown(self) -> str:
        """The answer for people, or why there is none."""
        return self.why or shown(self.value)


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """Both readings of a program, and how many of its answers are right."""

    official: Reading
    careful: Reading
    calls: Calls | msgspec.UnsetType = msgspec.UNSET
    seconds: float = 0.0
    text: str = "unscored"
    """The official result text."""
    right: list[bool] = []
    """Whether each output is right, in the careful reading."""
    outputs: Sequence[Output] = ()
    base: tuple[bool, bool] | None = None
    """Whether it passes the base inputs, in each reading."""


class _Hello(msgspec.Struct, frozen=True, kw_only=True):
    failed: str = ""
    functions: list[str] = []


class _Run(msgspec.Struct, frozen=True, kw_only=True):
    printed: str
    status: int
    cpu: float
    cut: bool = False
    error: str = ""


def printed(parts: Sequence[Answers], count: int, seconds: float, protocol: ExecutionProtocol) -> list[Output]:
    """Return what a program printed for each of `count` inputs; `parts`: its answers, job by job."""
    outputs = _unloaded(parts, protocol)
    for answers in parts if not outputs else ():
        outputs += [_printed(reply, answers.evidence, seconds, protocol) for reply in answers.replies]
    return _filled(outputs, parts, count, seconds, protocol)


def _printed(reply: str, evidence: Evidence, seconds: float, protocol: ExecutionProtocol) -> Output:
    try:
        run = message(reply, _Run)
    except ValueError:
        return _malformed(evidence, protocol)
    if run.cpu > seconds:
        return Output(run.printed, Outcome.TIMEOUT, f"used {run.cpu:.1f} s of CPU time")
    if run.cut:
        return Output(run.printed, Outcome.FAILED, f"prints more than {len(run.printed):,} characters")
    if run.status < 0:
        ended = msgspec.structs.replace(evidence, stopped=None, status=run.status)
        return Output(run.printed, *failure(ended, None, "", protocol))
    if run.status:
        kind = Outcome.OUT_OF_MEMORY if run.error.startswith("MemoryError") else Outcome.ERROR
        return Output(run.printed, kind, run.error or f"ends with status {run.status}")
    return Output(run.printed)


def returned(
    parts: Sequence[Answers],
    cases: Cases,
    seconds: float,
    protocol: ExecutionProtocol,
    *,
    known: Mapping[str, Any],
    most_bytes: int | None,
) -> list[Output]:
    """Return what a function returned for each input.

    `known`: reply -> value, of replies that were read before. `most_bytes`: see `answered`.
    """
    outputs = _unloaded(parts, protocol, cases.function)
    replies = [] if outputs else [reply for answers in parts for reply in answers.replies]
    for reply in replies:
        value = known[reply] if reply in known else answered(reply, most_bytes)
        outputs.append(Output(value, Outcome.ERROR, repr(value)[1:-1]) if isinstance(value, Raised) else Output(value))
    return _filled(outputs, parts, len(cases.inputs), seconds, protocol)


def _unloaded(parts: Sequence[Answers], protocol: ExecutionProtocol, function: str = "") -> list[Output]:
    """Return one answer if the program does not load, or has no such function, else none."""
    if not parts or parts[0].hello is None:
        return []
    try:
        hello = message(parts[0].hello, _Hello)
    except ValueError:
        return [_malformed(parts[0].evidence, protocol)]
    if hello.failed:
        return [Output(None, Outcome.ERROR, printable(hello.failed))]
    if function and function not in hello.functions:
        return [Output(None, Outcome.ERROR, f"the program defines no function {function}")]
    return []


def _malformed(evidence: Evidence, protocol: ExecutionProtocol) -> Output:
    """Return what stands for a message that no process of grade writes."""
    return Output(None, *failure(msgspec.structs.replace(evidence, stopped="garbage"), None, "", protocol))


def _filled(
    outputs: list[Output], parts: Sequence[Answers], count: int, seconds: float, protocol: ExecutionProtocol
) -> list[Output]:
    """Return the answers, with reasons for those that are missing at the end."""
    if len(outputs) == count:
        return outputs
    if parts and parts[-1].evidence.is_open:
        unasked = Output(None, Outcome.FAILED, "not asked, because the program is slow and an earlier answer is wrong")
        return outputs + [unasked] * (count - len(outputs))
    if not (outputs and outputs[0].value is None and outputs[0].why):
        evidence = parts[-1].evidence
        is_late = evidence.stopped == "cpu" and not evidence.oom
        why = Outcome.TIMEOUT, f"used more than {seconds:.3g} s of CPU time"
        outputs.append(Output(None, *why if is_late else failure(evidence, None, "", protocol)))
    last = outputs[-1]._replace(why="not asked, because the program ended before")
    return outputs + [last if len(outputs) > 1 else outputs[-1]] * (count - len(outputs))


def judged(
    cases: Cases,
    expected: Sequence[Any],
    outputs: Sequence[Output],
    right: Sequence[Sequence[bool]],
    protocol: ExecutionProtocol,
) -> Judged:
    """Return both readings. `right`: for each reading, whether the answers are right."""
    official, careful = (_reading(cases, expected, outputs, part) for part in right)
    wrong = [number for number, is_right in enumerate(right[1]) if not is_right]
    calls = Calls(n=len(outputs), same=len(outputs) - len(wrong))
    if wrong:
        first = wrong[0]
        two = _around_difference(shown(expected[first]), outputs[first].shown)
        call = _cut(cases.shown(first))
        calls = msgspec.structs.replace(calls, first=FirstDifference(call=call, expected=two[0], returned=two[1]))
    text = "passed" if official.credit else protocol.failed_prefix + official.detail
    base = (all(right[0][: cases.base]), all(right[1][: cases.base])) if cases.base else None
    if official.outcome is Outcome.TIMEOUT and protocol.timed_out:
        text = protocol.timed_out
    return Judged(
        official=official, careful=careful, calls=calls, text=text, base=base, right=list(right[1]), outputs=outputs
    )


def _reading(cases: Cases, expected: Sequence[Any], outputs: Sequence[Output], right: Sequence[bool]) -> Reading:
    """Return the reading of a program that ends with its first wrong answer."""
    number = next((number for number, is_right in enumerate(right) if not is_right), None)
    if number is None:
        return PASSED
    output = outputs[number]
    outcome = Outcome.FAILED if output.outcome is Outcome.PASSED else output.outcome
    if output.outcome is not Outcome.PASSED:
        why = output.why
    elif cases.checker:
        why = f"the checker rejects the answer {_short(shown(output.value))}"
    else:
        why = _of_values(expected[number], output.value)
    return Reading(outcome=outcome, credit=0, detail=f"input {number + 1} of {len(outputs)}: {why}", rule=RULE)


def _of_values(expected: Any, value: Any) -> str:
    """Return how two values differ, in words."""
    first, second = shown(expected), shown(value)
    if first == second and type(expected) is not type(value):
        kinds = type(value).__name__, type(expected).__name__
        return f"the answer is {_short(second)} of type {kinds[0]}, expected {_short(first)} of type {kinds[1]}"
    return difference(first, second)


_RULES = comparisons.rule("float:1e-6"), comparisons.numbers, comparisons.tokens
"""A line of another value is more to blame than one that writes the same number in another way."""


def difference(expected: str, output: str) -> str:
    """Return the first difference between two texts, in words."""
    first, second = expected.strip().split("\n"), output.strip().split("\n")
    pairs = list(enumerate(zip(first, second, strict=False), 1))
    number = next((number for rule in _RULES for number, pair in pairs if not rule(*pair)), None)
    if number is None:
        return (
            f"{len(second)} lines instead of {len(first)}" if len(first) != len(second) else "other blanks or line ends"
        )
    line = f"line {number} is " if len(first) > 1 or len(second) > 1 else "the answer is "
    return f"{line}{_short(second[number - 1])}, expected {_short(first[number - 1])}"


def _short(text: str, limit: int = 100) -> str:
    text = text.strip()
    return f"`{text[:limit]}{'...' if len(text) > limit else ''}`"


def _around_difference(expected: str, output: str) -> tuple[str, str]:
    """Return two texts, without what is equal long before their first difference."""
    before = 0
    if max(len(expected), len(output)) > MOST_SHOWN:
        before = max(0, _equal_characters(expected, output) - MOST_SHOWN // 4)
    start = f"[{before:,} equal characters] ..." if before else ""
    return start + _cut(expected[before:]), start + _cut(output[before:])


def _equal_characters(first_text: str, second_text: str) -> int:
    """Return the number of characters at the beginning that are equal."""
    pairs = enumerate(zip(first_text, second_text, strict=False))
    return next(
        (number for number, (first, second) in pairs if first != second), min(len(first_text), len(second_text))
    )


def _cut(text: str) -> str:
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}... [{len(text) - MOST_SHOWN:,} more characters]"


def unjudged(why: str, rule: str = "infrastructure") -> Judged:
    """Return the readings of a program about which nothing is known."""
    reading = msgspec.structs.replace(unscored(why), rule=rule)
    return Judged(official=reading, careful=reading)
