"""What a program gave for each input of its task, and both readings of it once its answers are compared."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypeVar

import msgspec

from grader.results import Calls, FirstDifference, Outcome, Reading
from grader.sandbox.answer import ShownAnswer
from grader.scorers.execution.candidate import Output, Readings
from grader.scorers.execution.reading import explain_failure, unscored_reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.sandbox.answer import Answers, ProcessEvidence
    from grader.scorers.execution.declaration import ExecutionProtocol
    from grader.scorers.execution.inputs.cases import Cases
    from grader.scorers.execution.inputs.comparing import ComparedOutputs

MAX_INPUT_CHARACTERS = 1000
"""Characters of an input in the results."""
OUTPUTS_RULE = "outputs"
NOT_ASKED = "not asked, because the program is slow and has given a wrong answer before"
PASSED = Reading(outcome=Outcome.PASSED, credit=1, rule=OUTPUTS_RULE)
_Message = TypeVar("_Message")


class _FirstMessage(msgspec.Struct, frozen=True, kw_only=True):
    failed: str = ""
    functions: list[str] = []


class _Run(msgspec.Struct, frozen=True, kw_only=True):
    printed: str
    status: int
    cpu: float
    cut: bool = False
    """Whether it printed more than `printed`, which has then the maximum length."""
    error: str = ""


def _message(text: str, kind: type[_Message]) -> _Message:
    """Return a message of a program's process, which may be any text; raises ValueError if it is not of this kind."""
    try:
        return msgspec.convert(json.loads(text), kind)
    except (RecursionError, msgspec.ValidationError) as error:
        raise ValueError(type(error).__name__) from None


def parse_outputs(parts: Sequence[Answers], cases: Cases, seconds: float, protocol: ExecutionProtocol) -> list[Output]:
    """Return what a program gave for each input; `parts`: its answers, job by job."""
    failure_to_load = _load_failure(parts, protocol, cases.function)
    if failure_to_load is not None:
        return [failure_to_load] * len(cases.inputs)
    outputs: list[Output] = []
    for answers in parts:
        if cases.function:
            outputs += map(Output, answers.replies)
        else:
            outputs += [_run_output(reply, answers.evidence, seconds, protocol) for reply in answers.replies]
    return outputs + _missing_outputs(outputs, parts, len(cases.inputs), seconds, protocol)


def _run_output(reply: str, evidence: ProcessEvidence, seconds: float, protocol: ExecutionProtocol) -> Output:
    """Return what one run of a script gave, which had so many seconds. Its status is negative if a signal ended it."""
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
        return Output(run.printed, *explain_failure(ended, None, "", protocol))
    if run.status:
        kind = Outcome.OUT_OF_MEMORY if run.error.startswith("MemoryError") else Outcome.ERROR
        return Output(run.printed, kind, run.error or f"ends with status {run.status}")
    return Output(run.printed)


def _load_failure(parts: Sequence[Answers], protocol: ExecutionProtocol, function: str) -> Output | None:
    """Return what stands for every answer if the program's first message says that it cannot be used; else None."""
    if not parts or not parts[0].transcript:
        return None
    try:
        first = _message(parts[0].messages[0], _FirstMessage)
    except ValueError:
        return _malformed_output(parts[0].evidence, protocol)
    if first.failed:
        return Output("", Outcome.ERROR, first.failed.encode(errors="backslashreplace").decode())
    if function and function not in first.functions:
        return Output("", Outcome.ERROR, f"the program defines no function {function}")
    return None


def _malformed_output(evidence: ProcessEvidence, protocol: ExecutionProtocol) -> Output:
    """Return what stands for a message that no process of grade writes."""
    return Output("", *explain_failure(msgspec.structs.replace(evidence, stopped="garbage"), None, "", protocol))


def _missing_outputs(
    outputs: list[Output], parts: Sequence[Answers], count: int, seconds: float, protocol: ExecutionProtocol
) -> list[Output]:
    """Return what stands for the answers that are missing at the end, and why."""
    if len(outputs) == count:
        return []
    evidence = parts[-1].evidence
    if outputs and not evidence.has_ended:  # it could go on, but one of its answers was wrong
        return [Output("", Outcome.FAILED, NOT_ASKED)] * (count - len(outputs))
    if evidence.stopped == "cpu" and not evidence.oom:
        first = Output("", Outcome.TIMEOUT, f"used more than {seconds:.3g} s of CPU time")
    else:
        first = Output("", *explain_failure(evidence, None, "", protocol))
    # A program that ended before its first answer has the same reason for all of them.
    others = first._replace(why="not asked, because the program ended before") if outputs else first
    return [first] + [others] * (count - len(outputs) - 1)


def make_readings(cases: Cases, compared: ComparedOutputs, protocol: ExecutionProtocol) -> Readings:
    """Return both readings of a program whose outputs are compared."""
    official, careful = _reading(compared, compared.official), _reading(compared, compared.careful)
    calls = Calls(n=len(compared.careful), same=sum(compared.careful))
    if not all(compared.careful):
        calls = msgspec.structs.replace(calls, first=_first_difference(cases, compared))
    text = "passed" if official.credit else protocol.failed_prefix + official.detail
    if official.outcome is Outcome.TIMEOUT and protocol.timed_out:
        text = protocol.timed_out
    base = slice(cases.base_count)
    return Readings(
        official=official,
        careful=careful,
        calls=calls,
        official_text=text,
        base=(all(compared.official[base]), all(compared.careful[base])) if cases.base_count else None,
        right_outputs=compared.careful,
        outputs=compared.outputs,
    )


def _first_difference(cases: Cases, compared: ComparedOutputs) -> FirstDifference:
    """Return the first input whose output is not right in the careful reading, with the output and the expected one."""
    number = compared.careful.index(False)
    call, answer = cases.displayed_input(number), compared.displayed.get(number, _NOT_COMPARED)
    more = len(call) - MAX_INPUT_CHARACTERS
    suffix = "" if more <= 0 else f"... [{more:,} more characters]"
    return FirstDifference(
        call=call[:MAX_INPUT_CHARACTERS] + suffix,
        expected=answer.expected,
        returned=compared.outputs[number].why or answer.returned,
    )


_NOT_COMPARED = ShownAnswer(expected="", returned="", why="comparing it with the expected answer did not finish")


def _reading(compared: ComparedOutputs, is_right: Sequence[bool]) -> Reading:
    """Return `PASSED` if every answer is right; else the first wrong one gives the outcome and the detail."""
    if all(is_right):
        return PASSED
    number = list(is_right).index(False)
    output = compared.outputs[number]
    outcome = Outcome.FAILED if output.is_answer else output.outcome
    why = output.why or compared.displayed.get(number, _NOT_COMPARED).why
    return Reading(outcome=outcome, credit=0, detail=f"input {number + 1} of {len(is_right)}: {why}", rule=OUTPUTS_RULE)


def unjudged_readings(why: str, rule: str = "infrastructure") -> Readings:
    """Return the readings of a program about which nothing is known."""
    reading = msgspec.structs.replace(unscored_reading(why), rule=rule)
    return Readings(official=reading, careful=reading)
