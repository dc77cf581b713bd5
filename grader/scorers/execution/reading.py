"""The readings of an execution: that of the official evaluator, and that of a careful person."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import msgspec

from grader.results import OTHER_ANSWERS, Calls, Outcome, Reading, SampleResult
from grader.scorers.asking import NOT_ASKED
from grader.scorers.execution.candidate import Verdict
from grader.scorers.execution.facts import ExecutionFacts

if TYPE_CHECKING:
    from grader.sandbox.answer import Executed, Judgement, ProcessEvidence
    from grader.scorers.execution.candidate import Verdicts
    from grader.scorers.execution.declaration import ExecutionProtocol
    from grader.scorers.execution.jobs import Attempt

MAX_LINE = 500


def official_result(executed: Executed, protocol: ExecutionProtocol) -> str:
    """Return the text that the official evaluator writes as `result`."""
    if executed.lint is not None and (executed.lint.messages or executed.lint.broken):
        return protocol.lint_prefix + "\n".join(executed.lint.messages or [executed.lint.broken])
    if executed.run is None or executed.run.result is None:
        return protocol.timed_out
    return executed.run.result


def official_reading(executed: Executed, protocol: ExecutionProtocol) -> Reading:
    """Return the official evaluator's conclusion."""
    text = official_result(executed, protocol)
    if executed.lint is not None and (executed.lint.messages or executed.lint.broken):
        return _reading(Outcome.LINT_FAILED, text.removeprefix(protocol.lint_prefix), "pylint")
    assert executed.run is not None
    if executed.run.result == "passed":
        return Reading(outcome=Outcome.PASSED, credit=1)
    outcome, why = failure(executed.run.evidence, executed.run.result, executed.run.kind, protocol)
    return _reading(outcome, why, "execution")


def _reading(outcome: Outcome, detail: str, rule: str) -> Reading:
    return Reading(outcome=outcome, credit=0, detail=detail, rule=rule)


def failure(
    evidence: ProcessEvidence, result: str | None, kind: str, protocol: ExecutionProtocol
) -> tuple[Outcome, str]:
    """Explain the end of a program that did not pass. Evidence has priority over the program's own output."""
    if evidence.stopped in {"memory", "shared"} or evidence.oom:
        return Outcome.OUT_OF_MEMORY, "killed: more memory than the limit"
    if evidence.stopped in {"cpu", "blocked", "wall"}:
        return Outcome.TIMEOUT, _time_words(evidence)
    if evidence.stopped == "garbage":
        return Outcome.CRASHED, "the process wrote something other than a result"
    if result is None:
        return Outcome.CRASHED, _end_words(evidence.status)
    detail = result.removeprefix(protocol.failed_prefix)
    if kind == "OSError" and not detail:  # what reading raises there, and hardly anything else
        detail = "the program reads standard input, which this task does not have"
    if kind == "AssertionError":
        return Outcome.FAILED, detail or _TEST_FAILED
    return Outcome.ERROR, f"{kind}: {detail}" if detail else kind


_TEST_FAILED = "a test's assertion failed"


def _time_words(evidence: ProcessEvidence) -> str:
    return {
        "cpu": f"used {evidence.cpu:.1f} s of CPU time",
        "blocked": f"waited for {evidence.wall - evidence.waited:.1f} s without working",
        "wall": f"not finished after {evidence.wall:.0f} s",
    }[evidence.stopped or "wall"]


def _end_words(status: int | None) -> str:
    if status is None or status >= 0:
        return f"the process ended itself (status {status}) before the tests were done"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    return f"the process was ended by {name}"


def careful_reading(
    official: Reading | None, verdicts: Verdicts, attempt: Attempt, protocol: ExecutionProtocol
) -> Reading:
    """Return what an attentive person would conclude from the same output; `official`: None if that was not asked."""
    if verdicts.not_judged or attempt.program.is_missing:
        return not_judged(verdicts.not_judged) if verdicts.not_judged else NO_PROGRAM
    passes = official is not None and official.outcome is Outcome.PASSED
    # The official text is judged, too: careful never fails a program because of its own changes.
    own = verdicts.completion if attempt.program.has_official or verdicts.whole is None else None
    programs = [verdict for verdict in (verdicts.whole, own) if verdict is not None]
    right = next(filter(_is_confirmed, programs), None)
    if right is not None:
        return _reading_of_pass(official, attempt.program.difference if right is verdicts.whole else "")
    if official is not None and not passes:
        return official
    judgement = programs[0].judgement
    return (
        _reading_of_official_pass(programs[0])
        if passes or judgement is None
        else _reading_of_failure(judgement, protocol)
    )


def _is_confirmed(verdict: Verdict) -> bool:
    return verdict.judgement is not None and verdict.judgement.confirmed


def _reading_of_pass(official: Reading | None, difference: str) -> Reading:
    """Return the reading of a program whose answers are believed. `difference`: what careful does otherwise."""
    passed = Reading(outcome=Outcome.PASSED, credit=1, rule="split")
    if official is None or official.outcome is Outcome.PASSED:
        return passed
    if difference:
        return msgspec.structs.replace(passed, detail=f"passes once the program {difference}", rule="recovered")
    if official.outcome not in _NOT_ITS_OWN:
        return official
    return msgspec.structs.replace(passed, detail=f"its answers are right; officially: {official.detail}")


_NOT_ITS_OWN = frozenset({Outcome.ERROR, Outcome.LINT_FAILED})
"""Official outcomes that may come from names that a program shares with its tests, or from a linter's guess."""


def not_judged(why: str) -> Reading:
    """Return the careful reading of a sample whose task is outside of it."""
    return Reading(outcome=Outcome.NOT_JUDGED, credit=None, detail=why, rule="apart")


NO_PROGRAM = Reading(outcome=Outcome.NO_ANSWER, credit=0, detail="the reply has no program", rule="no_program")


def _reading_of_failure(judgement: Judgement, protocol: ExecutionProtocol) -> Reading:
    """Explain why the tests do not confirm a program. Evidence has priority over its answers."""
    if judgement.kind == "unlike":
        return _reading_of_unlike(judgement)
    outcome, why = Outcome.SUSPECT, f"it cannot be judged apart from its tests: {judgement.reason}"
    if judgement.evidence.stopped is not None or judgement.evidence.oom:
        outcome, why = failure(judgement.evidence, None, judgement.kind, protocol)
    elif judgement.kind in {"assertion", "error", "load"}:
        outcome, why = Outcome.FAILED if judgement.kind == "assertion" else Outcome.ERROR, judgement.reason
    elif judgement.kind == "ended" or judgement.evidence.status is not None:
        outcome, why = Outcome.CRASHED, _end_words(judgement.evidence.status)
    return _reading(outcome, why, "split")


def _reading_of_official_pass(confirmed: Verdict) -> Reading:
    judgement = confirmed.judgement
    if judgement is None:
        return unscored(confirmed.lost or "there is no separate run that could confirm it")
    if judgement.confirmed:
        return Reading(outcome=Outcome.PASSED, credit=1, rule="split")
    if judgement.kind == "unlike":
        return _reading_of_unlike(judgement)
    reason = judgement.reason or f"that run did not finish ({_stop_words(judgement.evidence)})"
    reason = f"the tests end with {reason}" if judgement.kind == "error" else reason
    return _reading(
        Outcome.SUSPECT, f"passes officially, but not when the tests get only its answers: {reason}", "split"
    )


def _reading_of_unlike(judgement: Judgement) -> Reading:
    """Return the reading of a program that passes with answers that are not believed."""
    calls = None if judgement.likeness is None else judgement.likeness.calls
    first = None if calls is None else calls.first
    if first is None:
        return _reading(Outcome.SUSPECT, f"passes, but its answers are not believed: {judgement.reason}", "likeness")
    said = f"{first.call} returned {first.returned}, expected {first.expected}"
    return _reading(Outcome.SUSPECT, f"passes, but {said} ({judgement.reason})"[: 2 * MAX_LINE], "likeness")


def _stop_words(evidence: ProcessEvidence) -> str:
    if evidence.stopped in {"memory", "shared"} or evidence.oom:
        return "out of memory"
    return _time_words(evidence) if evidence.stopped in {"cpu", "blocked", "wall"} else _end_words(evidence.status)


def unscored(reason: str) -> Reading:
    """Return the reading of a sample that is unscored because infrastructure failed."""
    return Reading(outcome=Outcome.UNSCORED, credit=None, detail=reason, rule="infrastructure")


def sample_result(
    attempt: Attempt, executed: Executed | None, verdicts: Verdicts, reason: str | None, protocol: ExecutionProtocol
) -> SampleResult:
    """Combine both readings of a sample. `reason`: why it was not run officially; None if that was not asked."""
    run = None if executed is None else executed.run
    official = None if executed is None else official_reading(executed, protocol)
    if official is not None and official.detail == _TEST_FAILED and run is not None and _is_own(run.lines, attempt):
        official = msgspec.structs.replace(official, detail="an assertion of the program itself failed")
    if official is None and reason is not None:
        official = unscored(reason)
        careful = not_judged(verdicts.not_judged) if verdicts.not_judged else official
    else:
        careful = careful_reading(official, verdicts, attempt, protocol)
    judgement = None if reason is not None else verdicts.completion.judgement
    failed = None if run is None or official is None or official.credit else failed_test(run.lines, attempt)
    calls = _calls_of(verdicts)
    is_alike = careful.outcome is Outcome.PASSED and isinstance(calls, Calls) and calls.alike > 0
    return SampleResult(
        qid=attempt.task.id,
        sample=attempt.sample,
        seconds=run.evidence.cpu if run is not None else judgement.evidence.cpu if judgement is not None else 0.0,
        official=official or NOT_ASKED,
        careful=careful,
        groups=attempt.task.groups or msgspec.UNSET,
        flags=[OTHER_ANSWERS] if is_alike else msgspec.UNSET,
        calls=calls,
        tests=tests_of(verdicts) or msgspec.UNSET,
        facts=msgspec.UNSET if failed is None else failed,
    )


def _calls_of(verdicts: Verdicts) -> Calls | msgspec.UnsetType:
    """Return how a sample's answers compare with the reference solution's: those of the program that is believed."""
    programs = [verdicts.completion, verdicts.whole or Verdict()]
    for verdict in sorted(programs, key=_is_confirmed, reverse=True):
        judgement = verdict.judgement
        if judgement is not None and judgement.likeness is not None and judgement.likeness.calls is not None:
            return judgement.likeness.calls
    return Calls(n=verdicts.calls, same=0) if verdicts.calls else msgspec.UNSET


def tests_of(verdicts: Verdicts) -> list[bool]:
    """Return whether each test of a program that fails is right; nothing if that was not asked or is not known."""
    both = (verdicts.completion, verdicts.whole)
    found = [verdict.judgement.right for verdict in both if verdict is not None and verdict.judgement is not None]
    return next(filter(None, found), [])


def _is_own(lines: str, attempt: Attempt) -> bool:
    """Whether an exception comes from the program itself. It reports the lines, so this is for people."""
    last = lines.rpartition(",")[2]
    return last.isascii() and last.isdigit() and len(last) < 9 and int(last) <= attempt.head.count("\n")


def failed_test(lines: str, attempt: Attempt) -> ExecutionFacts | None:
    """Return the last line of the tests through which the exception passed, and its number in the program (from 1).

    The program itself reports the lines, so the result is for people and decides nothing.
    """
    first = attempt.head.count("\n") + 1
    source = (attempt.head + attempt.task.tests).split("\n")
    found = None
    for text in lines.split(","):
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0
        if not first <= number <= len(source):
            break
        found = number
    if found is None:
        return None
    return ExecutionFacts(failed_test=source[found - 1].strip()[:MAX_LINE], failed_line=found)
