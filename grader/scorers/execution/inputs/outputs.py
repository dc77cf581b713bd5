"""What a program gave for each input of its task, and both readings of it once its answers are compared."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypeVar

import msgspec

from grader.results import Calls, FirstDifference, Outcome, Reading
from grader.sandbox.answer import ShownAnswer
from grader.scorers.execution.candidate import Output, Readings
from grader.scorers.execution.reading import failure, unscored

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grader.sandbox.answer import Answers, ProcessEvidence
    from grader.scorers.execution.declaration import ExecutionProtocol
    from grader.scorers.execution.inputs.cases import Cases

MOST_SHOWN = 1000
"""Characters of an input in the results."""
RULE = "outputs"
NOT_ASKED = "not asked, because the program is slow and has given a wrong answer before"
PASSED = Reading(outcome=Outcome.PASSED, credit=1, rule=RULE)
_Kind = TypeVar("_Kind")


class _Hello(msgspec.Struct, frozen=True, kw_only=True):
    failed: str = ""
    functions: list[str] = []


class _Run(msgspec.Struct, frozen=True, kw_only=True):
    printed: str
    status: int
    cpu: float
    cut: bool = False
    error: str = ""


def _message(text: str, kind: type[_Kind]) -> _Kind:
    """Return a message of a program's process, which may be any text; raises ValueError if it is not of this kind."""
    try:
        return msgspec.convert(json.loads(text), kind)
    except (RecursionError, msgspec.ValidationError) as error:
        raise ValueError(type(error).__name__) from None


def outputs_of(parts: Sequence[Answers], cases: Cases, seconds: float, protocol: ExecutionProtocol) -> list[Output]:
    """Return what a program gave for each input; `parts`: its answers, job by job."""
    found = _load_failure(parts, protocol, cases.function)
    for answers in parts if not found else ():
        if cases.function:
            found += map(Output, answers.replies)
        else:
            found += [_run_output(reply, answers.evidence, seconds, protocol) for reply in answers.replies]
    return _fill(found, parts, len(cases.inputs), seconds, protocol)


def _run_output(reply: str, evidence: ProcessEvidence, seconds: float, protocol: ExecutionProtocol) -> Output:
    try:
        run = _message(reply, _Run)
    except ValueError:
        return _malformed_output(evidence, protocol)
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


def _load_failure(parts: Sequence[Answers], protocol: ExecutionProtocol, function: str) -> list[Output]:
    """Return one answer if the program does not load, or has no such function, else none."""
    if not parts or not parts[0].transcript:
        return []
    try:
        hello = _message(parts[0].messages[0], _Hello)
    except ValueError:
        return [_malformed_output(parts[0].evidence, protocol)]
    if hello.failed:
        return [Output("", Outcome.ERROR, hello.failed.encode(errors="backslashreplace").decode())]
    if function and function not in hello.functions:
        return [Output("", Outcome.ERROR, f"the program defines no function {function}")]
    return []


def _malformed_output(evidence: ProcessEvidence, protocol: ExecutionProtocol) -> Output:
    """Return what stands for a message that no process of grade writes."""
    return Output("", *failure(msgspec.structs.replace(evidence, stopped="garbage"), None, "", protocol))


def _fill(
    outputs: list[Output], parts: Sequence[Answers], count: int, seconds: float, protocol: ExecutionProtocol
) -> list[Output]:
    """Return the answers, with reasons for those that are missing at the end."""
    if len(outputs) == count:
        return outputs
    if 0 < len(outputs) == sum(len(part.replies) for part in parts) and not parts[-1].evidence.has_ended:
        return outputs + [Output("", Outcome.FAILED, NOT_ASKED)] * (count - len(outputs))
    if not (len(outputs) == 1 and outputs[0].why and not parts[0].replies):
        evidence = parts[-1].evidence
        is_late = evidence.stopped == "cpu" and not evidence.oom
        why = Outcome.TIMEOUT, f"used more than {seconds:.3g} s of CPU time"
        outputs.append(Output("", *why if is_late else failure(evidence, None, "", protocol)))
    last = outputs[-1]._replace(why="not asked, because the program ended before")
    return outputs + [last if len(outputs) > 1 else outputs[-1]] * (count - len(outputs))


def readings_of(
    cases: Cases,
    outputs: Sequence[Output],
    right: Sequence[Sequence[bool]],
    shown: Mapping[int, ShownAnswer],
    protocol: ExecutionProtocol,
) -> Readings:
    """Return both readings. `right`: for each reading, whether the answers are right. `shown`: answers as texts."""
    official, careful = (_reading(cases, outputs, part, shown) for part in right)
    wrong = [number for number, is_right in enumerate(right[1]) if not is_right]
    calls = Calls(n=len(outputs), same=len(outputs) - len(wrong))
    if wrong:
        first, found = cases.shown(wrong[0]), shown.get(wrong[0], _UNKNOWN)
        cut = "" if len(first) <= MOST_SHOWN else f"... [{len(first) - MOST_SHOWN:,} more characters]"
        returned = outputs[wrong[0]].why or found.returned
        difference = FirstDifference(call=first[:MOST_SHOWN] + cut, expected=found.expected, returned=returned)
        calls = msgspec.structs.replace(calls, first=difference)
    text = "passed" if official.credit else protocol.failed_prefix + official.detail
    if official.outcome is Outcome.TIMEOUT and protocol.timed_out:
        text = protocol.timed_out
    base = (all(right[0][: cases.base]), all(right[1][: cases.base])) if cases.base else None
    return Readings(
        official=official, careful=careful, calls=calls, text=text, base=base, right=list(right[1]), outputs=outputs
    )


_UNKNOWN = ShownAnswer(expected="", returned="", why="comparing it with the expected answer did not finish")


def _reading(
    cases: Cases, outputs: Sequence[Output], right: Sequence[bool], shown: Mapping[int, ShownAnswer]
) -> Reading:
    """Return the reading of a program that ends with its first wrong answer."""
    number = next((number for number, is_right in enumerate(right) if not is_right), None)
    if number is None:
        return PASSED
    output, found = outputs[number], shown.get(number, _UNKNOWN)
    outcome = Outcome.FAILED if output.outcome is Outcome.PASSED else output.outcome
    why = output.why or found.why
    return Reading(outcome=outcome, credit=0, detail=f"input {number + 1} of {len(outputs)}: {why}", rule=RULE)


def unjudged(why: str, rule: str = "infrastructure") -> Readings:
    """Return the readings of a program about which nothing is known."""
    reading = msgspec.structs.replace(unscored(why), rule=rule)
    return Readings(official=reading, careful=reading)
