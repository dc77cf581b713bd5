"""The readings of an execution: that of the official evaluator, and that of a careful person."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import msgspec

from grader.results import OTHER_ANSWERS, Calls, Outcome, Reading, SampleResult
from grader.scorers.execution.candidate import Verdict, not_judged_reading
from grader.scorers.execution.facts import ExecutionFacts
from grader.scorers.sample_scorer import NOT_REQUESTED

if TYPE_CHECKING:
    from grader.sandbox.answer import Executed, Judgement, ProcessEvidence, ProgramRun
    from grader.scorers.execution.assembly import Program
    from grader.scorers.execution.candidate import Readings, Verdicts
    from grader.scorers.execution.declaration import ExecutionProtocol
    from grader.scorers.execution.sample import Sample

MAX_LINE = 500
"""Characters of a line of tests in the results."""
_SPLIT = "split"
"""The rule of a reading that comes from the run apart from the tests."""
MAX_LINE_DIGITS = 8
"""A program reports its own lines, so a number of them may be of any length."""


def official_result(executed: Executed, protocol: ExecutionProtocol) -> str:
    """Return the text that the official evaluator writes as `result`; if a program sends none, that of a timeout."""
    if executed.lint is not None and (executed.lint.messages or executed.lint.broken):
        return protocol.lint_prefix + "\n".join(executed.lint.messages or [executed.lint.broken])
    if executed.run is None or executed.run.result is None:
        return protocol.timed_out
    return executed.run.result


def official_reading(executed: Executed, protocol: ExecutionProtocol) -> Reading:
    """Return the official evaluator's conclusion."""
    text = official_result(executed, protocol)
    if executed.lint is not None and (executed.lint.messages or executed.lint.broken):
        return _failing_reading(Outcome.LINT_FAILED, text.removeprefix(protocol.lint_prefix), "pylint")
    assert executed.run is not None
    if executed.run.result == "passed":
        return Reading(outcome=Outcome.PASSED, credit=1)
    outcome, why = explain_failure(executed.run.evidence, executed.run.result, executed.run.kind, protocol)
    return _failing_reading(outcome, why, "execution")


def _failing_reading(outcome: Outcome, detail: str, rule: str) -> Reading:
    return Reading(outcome=outcome, credit=0, detail=detail, rule=rule)


def explain_failure(
    evidence: ProcessEvidence, result: str | None, kind: str, protocol: ExecutionProtocol
) -> tuple[Outcome, str]:
    """Explain the end of a program that did not pass. Evidence has priority over the program's own output.

    `result`: its message, or None if it sent none; `kind`: the class of its exception.
    """
    if evidence.stopped in {"memory", "shared"} or evidence.oom:
        return Outcome.OUT_OF_MEMORY, "killed: more memory than the limit"
    if evidence.stopped in {"cpu", "blocked", "wall"}:
        return Outcome.TIMEOUT, _describe_timeout(evidence)
    if evidence.stopped == "garbage":
        return Outcome.CRASHED, "the process wrote something other than a result"
    if result is None:
        return Outcome.CRASHED, _describe_end(evidence.status)
    detail = result.removeprefix(protocol.failed_prefix)
    # In the sandbox, reading standard input raises an OSError without a text, and hardly anything else does.
    if kind == "OSError" and not detail:
        detail = "the program reads standard input, which this task does not have"
    if kind == "AssertionError":
        return Outcome.FAILED, detail or _TEST_FAILED
    return Outcome.ERROR, f"{kind}: {detail}" if detail else kind


_TEST_FAILED = "a test's assertion failed"


def _describe_timeout(evidence: ProcessEvidence) -> str:
    """Describe why a program took too long. The time in which it `waited` for a busy machine is not its own."""
    return {
        "cpu": f"used {evidence.cpu:.1f} s of CPU time",
        "blocked": f"waited for {evidence.wall - evidence.waited:.1f} s without working",
        "wall": f"not finished after {evidence.wall:.1f} s",
    }[evidence.stopped or "wall"]


def _describe_end(status: int | None) -> str:
    if status is None or status >= 0:
        return f"the process ended itself (status {status}) before the tests were done"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    return f"the process was ended by {name}"


def careful_reading(
    official: Reading | None, verdicts: Verdicts, program: Program, protocol: ExecutionProtocol
) -> Reading:
    """Return what an attentive person would conclude from the same output; `official`: None if that was not requested.

    The recovered program counts, and the official completion beside it, so that careful never fails a program because
    of its own changes. If one of them is confirmed, the program passes. Else what fails officially fails, and an
    official pass is suspect. Without an official reading, the judgement says why it fails.
    """
    if verdicts.not_judged:
        return not_judged_reading(verdicts.not_judged)
    if program.is_missing:
        return NO_PROGRAM
    recovered = verdicts.recovered_completion
    program_verdicts = [] if recovered is None else [recovered]
    if program.has_official_code or recovered is None:
        program_verdicts.append(verdicts.completion)
    confirmed = next(filter(_is_confirmed, program_verdicts), None)
    if confirmed is not None:
        return _reading_of_confirmed(official, program.difference if confirmed is recovered else "")
    if official is not None and official.outcome is not Outcome.PASSED:
        return official
    main = program_verdicts[0]
    if official is None and main.judgement is not None:
        return _reading_of_failure(main.judgement, protocol)
    return _reading_of_unconfirmed_pass(main)


def _is_confirmed(verdict: Verdict) -> bool:
    return verdict.judgement is not None and verdict.judgement.confirmed


def _reading_of_confirmed(official: Reading | None, difference: str) -> Reading:
    """Return the reading of a program whose answers are right: a pass, unless its official failure is its own fault.

    `difference`: what the recovered program does otherwise than the official one.
    """
    passed = Reading(outcome=Outcome.PASSED, credit=1, rule=_SPLIT)
    if official is None or official.outcome is Outcome.PASSED:
        return passed
    # The recovered program is another one than the official evaluator ran, so it may well end otherwise.
    if difference:
        return msgspec.structs.replace(passed, detail=f"passes once the program {difference}", rule="recovered")
    # The same program fails officially, in the process of the tests. A failed assertion or a timeout is its own fault.
    if official.outcome not in _OUTCOMES_OF_THE_EVALUATOR:
        return official
    return msgspec.structs.replace(passed, detail=f"its answers are right; officially: {official.detail}")


_OUTCOMES_OF_THE_EVALUATOR = frozenset({Outcome.ERROR, Outcome.LINT_FAILED})
"""Official outcomes that may come from names that a program shares with its tests, or from a linter's guess."""


NO_PROGRAM = Reading(outcome=Outcome.NO_ANSWER, credit=0, detail="the reply has no program", rule="no_program")


def _reading_of_failure(judgement: Judgement, protocol: ExecutionProtocol) -> Reading:
    """Explain why the tests do not confirm a program.

    Answers of the kind `unlike` satisfy the tests, but are not like the reference solution's. Else how its process
    ended has priority over what the tests say.
    """
    evidence, kind = judgement.evidence, judgement.kind
    if kind == "unlike":
        return _reading_of_differing_answers(judgement)
    if evidence.stopped is not None or evidence.oom:
        return _failing_reading(*explain_failure(evidence, None, kind, protocol), _SPLIT)
    if kind == "assertion":
        return _failing_reading(Outcome.FAILED, judgement.reason, _SPLIT)
    if kind in {"error", "load"}:
        return _failing_reading(Outcome.ERROR, judgement.reason, _SPLIT)
    if kind == "ended" or evidence.status is not None:
        return _failing_reading(Outcome.CRASHED, _describe_end(evidence.status), _SPLIT)
    return _failing_reading(Outcome.SUSPECT, f"it cannot be judged apart from its tests: {judgement.reason}", _SPLIT)


def _reading_of_unconfirmed_pass(verdict: Verdict) -> Reading:
    """Return the reading of a program that passes officially, and whose separate run does not, or is not known."""
    judgement = verdict.judgement
    if judgement is None:
        return unscored_reading(verdict.infrastructure_error or "there is no separate run that could confirm it")
    if judgement.kind == "unlike":
        return _reading_of_differing_answers(judgement)
    reason = judgement.reason or f"that run did not finish ({_describe_stop(judgement.evidence)})"
    reason = f"the tests end with {reason}" if judgement.kind == "error" else reason
    detail = f"passes officially, but not when the tests get only its answers: {reason}"
    return _failing_reading(Outcome.SUSPECT, detail, _SPLIT)


def _reading_of_differing_answers(judgement: Judgement) -> Reading:
    """Return the reading of a program that satisfies the tests with answers unlike the reference solution's."""
    calls = None if judgement.likeness is None else judgement.likeness.calls
    first = None if calls is None else calls.first
    if first is None:
        detail = f"passes, but its answers are not believed: {judgement.reason}"
    else:
        difference = f"{first.call} returned {first.returned}, expected {first.expected}"
        detail = f"passes, but {difference} ({judgement.reason})"[: 2 * MAX_LINE]
    return _failing_reading(Outcome.SUSPECT, detail, "likeness")


def _describe_stop(evidence: ProcessEvidence) -> str:
    if evidence.stopped in {"memory", "shared"} or evidence.oom:
        return "out of memory"
    if evidence.stopped in {"cpu", "blocked", "wall"}:
        return _describe_timeout(evidence)
    return _describe_end(evidence.status)


def unscored_reading(reason: str) -> Reading:
    """Return the reading of a sample that is unscored because infrastructure failed."""
    return Reading(outcome=Outcome.UNSCORED, credit=None, detail=reason, rule="infrastructure")


def sample_result(sample: Sample, protocol: ExecutionProtocol, *, with_official: bool = True) -> SampleResult:
    """Return both readings of a sample. `with_official`: whether it was to run officially, too, if it has tests."""
    if sample.readings is not None:
        return _result_of_outputs(sample, sample.readings)
    observation = sample.official_observation
    run = None if observation is None else observation.run
    official, careful = _readings_of(sample, observation, protocol, with_official=with_official)
    facts = None if run is None or official.credit else failing_line_facts(run.lines, sample)
    calls = _call_statistics(sample.verdicts)
    # `alike`: answers of the same kind that differ from the reference solution's.
    has_other_answers = careful.outcome is Outcome.PASSED and isinstance(calls, Calls) and calls.alike > 0
    return SampleResult(
        qid=sample.task.id,
        sample=sample.number,
        seconds=_cpu_seconds(sample, run, with_official=with_official),
        official=official,
        careful=careful,
        groups=sample.task.groups or msgspec.UNSET,
        flags=[OTHER_ANSWERS] if has_other_answers else msgspec.UNSET,
        calls=calls,
        tests=assertion_results(sample.verdicts) or msgspec.UNSET,
        facts=msgspec.UNSET if facts is None else facts,
    )


def _readings_of(
    sample: Sample, observation: Executed | None, protocol: ExecutionProtocol, *, with_official: bool
) -> tuple[Reading, Reading]:
    """Return the official and the careful reading: unscored (or careful: not judged) if infrastructure failed."""
    if observation is not None:
        official = _official_reading_of(sample, observation, protocol)
        return official, careful_reading(official, sample.verdicts, sample.program, protocol)
    if not with_official:
        return NOT_REQUESTED, careful_reading(None, sample.verdicts, sample.program, protocol)
    unscored, not_judged = unscored_reading(sample.official_failure), sample.verdicts.not_judged
    return unscored, not_judged_reading(not_judged) if not_judged else unscored


def _result_of_outputs(sample: Sample, readings: Readings) -> SampleResult:
    """Return the result of a sample whose task has inputs."""
    # That a task is not judged comes before everything else, as in `careful_reading`.
    lacks_program = sample.program.is_missing and not sample.verdicts.not_judged
    return SampleResult(
        qid=sample.task.id,
        sample=sample.number,
        seconds=readings.seconds,
        official=readings.official,
        careful=NO_PROGRAM if lacks_program else readings.careful,
        groups=sample.task.groups or msgspec.UNSET,
        calls=readings.calls,
        facts=msgspec.UNSET if readings.base is None else ExecutionFacts(base=readings.base),
    )


def _official_reading_of(sample: Sample, observation: Executed, protocol: ExecutionProtocol) -> Reading:
    """Return the official reading; it says if the assertion that failed is the program's own."""
    reading = official_reading(observation, protocol)
    run = observation.run
    if run is not None and reading.detail == _TEST_FAILED and _is_failure_of_program(run.lines, sample):
        return msgspec.structs.replace(reading, detail="an assertion of the program itself failed")
    return reading


def _cpu_seconds(sample: Sample, run: ProgramRun | None, *, with_official: bool) -> float:
    """Return the CPU time of the official run; of the separate one if no official run was requested."""
    if run is not None:
        return run.evidence.cpu
    judgement = sample.verdicts.completion.judgement
    return 0.0 if with_official or judgement is None else judgement.evidence.cpu


def _call_statistics(verdicts: Verdicts) -> Calls | msgspec.UnsetType:
    """Return how a sample's answers compare with the reference solution's: those of a confirmed program, if any.

    A sample that has no comparable answers counts as one without a right answer to any call of its task.
    """
    for verdict in _verdicts_confirmed_first(verdicts):
        judgement = verdict.judgement
        if judgement is not None and judgement.likeness is not None and judgement.likeness.calls is not None:
            return judgement.likeness.calls
    return Calls(n=verdicts.call_count, same=0) if verdicts.call_count else msgspec.UNSET


def assertion_results(verdicts: Verdicts) -> list[bool]:
    """Return whether each assertion holds, of a program that fails; empty if that was not requested or is not known."""
    by_program = _verdicts_confirmed_first(verdicts)
    if any(map(_is_confirmed, by_program)):
        return []
    return next((v.judgement.right for v in by_program if v.judgement is not None and v.judgement.right), [])


def _verdicts_confirmed_first(verdicts: Verdicts) -> list[Verdict]:
    """Return the verdicts on a sample's programs: a confirmed one first, else that of the recovered program."""
    in_order = [verdicts.recovered_completion or Verdict(), verdicts.completion]
    return sorted(in_order, key=_is_confirmed, reverse=True)


def _line_number(text: str) -> int:
    """Return a line number that a program reports, which may be any text; 0 if it is none."""
    is_number = text.isascii() and text.isdigit() and len(text) <= MAX_LINE_DIGITS
    return int(text) if is_number else 0


def _is_failure_of_program(line_numbers: str, sample: Sample) -> bool:
    """Whether an exception comes from the program itself. It reports the lines, so this is for people."""
    last = line_numbers.rpartition(",")[2]
    return 0 < _line_number(last) <= sample.head.count("\n")


def failing_line_facts(line_numbers: str, sample: Sample) -> ExecutionFacts | None:
    """Return the last line of the tests in a traceback: the one that failed, or called the function that failed.

    `line_numbers`: the traceback's, separated by commas, outermost first. They count, from 1, what is run: the model's
    part (`sample.head`), then the tests. The program itself reports them, so the result is for people and decides
    nothing.
    """
    first_of_tests = sample.head.count("\n") + 1
    source = (sample.head + sample.task.tests).split("\n")
    failed_line = 0
    for number in map(_line_number, line_numbers.split(",")):
        if not first_of_tests <= number <= len(source):
            break  # here the traceback enters the model's part
        failed_line = number
    if not failed_line:
        return None
    return ExecutionFacts(failed_test=source[failed_line - 1].strip()[:MAX_LINE], failed_line=failed_line)
