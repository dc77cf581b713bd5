"""Both readings of an execution, from evidence made by hand: what the kernel saw comes before what a program said."""

# ruff: noqa: E501 - a whole case on one line is easier to compare with its neighbours

import json
import struct
from typing import Any

import msgspec
import pytest

from grader.results import Calls, Outcome, Reading, ReadingName, SampleResult
from grader.sandbox.answer import Executed, Judgement, Likeness, Lint, ProcessEvidence, ProgramRun, parse_answer
from grader.sandbox.channel import Channel
from grader.scorers.execution.candidate import Readings, Verdict, Verdicts
from grader.scorers.execution.declaration import ExecutionProtocol as Protocol
from grader.scorers.execution.facts import ExecutionFacts, facts_of
from grader.scorers.execution.inputs.cases import Cases
from grader.scorers.execution.inputs.outputs import unjudged_readings
from grader.scorers.execution.metrics import metrics
from grader.scorers.execution.reading import (
    assertion_results,
    careful_reading,
    official_reading,
    official_result,
    sample_result,
)
from grader.scorers.execution.sample import Sample, assemble_samples
from tests.scorers.execution.made import make
from tests.tables import each

V1 = Protocol(
    executed_layout="v1", timed_out="timed out", failed_prefix="failed: ", lint_prefix="pylint fail:\n"
).with_timeout(2.0)
V2 = Protocol(
    assembly="humaneval-v-v2", lint=True, timed_out="out of {timeout}", failed_prefix="", lint_prefix="lint failed:\n"
).with_timeout(2.0)
TASK = make("q1", "def solution(a):", "assert solution(1) == 1\n", {"task_type": "A"})


def assembled(code: str = "def solution(a):\n    return a") -> Sample:
    return next(assemble_samples({"q1": TASK}, {"q1": [f"```python\n{code}\n```"]}, V2))


def observed(executed: Executed | None, verdicts: Verdicts, code: str | None = None) -> Sample:
    """Return a sample of which this is known."""
    sample = assembled(code) if code is not None else assembled()
    sample.verdicts, sample.official_failure = verdicts, "the supervisor was lost"
    if executed is not None:
        sample.lint, sample.official_run = executed.lint, executed if executed.run is not None else None
    return sample


def evidence(**facts: Any) -> ProcessEvidence:
    return ProcessEvidence(
        **{"stopped": None, "status": None, "cpu": 0.01, "wall": 0.02, "waited": 0.0, "oom": False} | facts
    )


def ran(result: str | None, kind: str = "", **facts: Any) -> Executed:
    return Executed(lint=Lint(), run=ProgramRun(evidence=evidence(**facts), result=result, kind=kind))


def read(
    executed: Executed | None,
    recovery: Judgement | None = None,
    code: str | None = None,
    confirmed: Verdict | None = None,
) -> SampleResult:
    recovered = Verdict(judgement=recovery) if recovery is not None else None
    verdicts = Verdicts(completion=confirmed or Verdict(), recovered_completion=recovered)
    return sample_result(observed(executed, verdicts, code), V2)


def failed(outcome: Outcome, detail: str, rule: str = "execution") -> Reading:
    credit = None if outcome is Outcome.UNSCORED else 0
    return Reading(outcome=outcome, credit=credit, detail=detail, rule=rule)


CONFIRMED = Judgement(evidence=evidence(), confirmed=True)


def test_a_confirmed_pass_is_credited_in_both_readings() -> None:
    assert read(ran("passed"), confirmed=Verdict(judgement=CONFIRMED)) == SampleResult(
        qid="q1",
        sample=0,
        seconds=0.01,
        official=Reading(outcome=Outcome.PASSED, credit=1),
        careful=Reading(outcome=Outcome.PASSED, credit=1, rule="split"),
        groups={"task_type": "A"},
    )


APART = "passes officially, but not when the tests get only its answers: "


@each(
    ("judgement", "detail"),
    [
        (Judgement(evidence=evidence(), reason="a test fails", kind="assertion"), f"{APART}a test fails"),
        (
            Judgement(evidence=evidence(status=-11)),
            f"{APART}that run did not finish (the process was ended by SIGSEGV)",
        ),
    ],
)
def test_a_pass_that_is_not_confirmed_is_suspect_and_says_why(judgement: Judgement, detail: str) -> None:
    result = read(ran("passed"), confirmed=Verdict(judgement=judgement))
    assert result.official == Reading(outcome=Outcome.PASSED, credit=1)
    assert result.careful == failed(Outcome.SUSPECT, detail, "split")


def test_a_pass_whose_confirmation_infrastructure_lost_is_unscored() -> None:
    result = read(ran("passed"), confirmed=Verdict(infrastructure_error="the sandbox died"))
    assert result.careful == failed(Outcome.UNSCORED, "the sandbox died", "infrastructure")


FAILURES = {
    "assertion": (ran("", "AssertionError"), Outcome.FAILED, "a test's assertion failed", ""),
    "assertion with a text": (ran("1 != 2", "AssertionError"), Outcome.FAILED, "1 != 2", "1 != 2"),
    "exception": (ran("no x", "NameError"), Outcome.ERROR, "NameError: no x", "no x"),
    "time-out in time": (ran("out of 2", "timeout", stopped="cpu", cpu=2.04), Outcome.TIMEOUT, "used 2.0 s of CPU time", "out of 2"),
    "asleep": (ran(None, stopped="blocked", wall=2.5, waited=0.4), Outcome.TIMEOUT, "waited for 2.1 s without working", "out of 2"),
    "time-out with other words": (ran("fine", "X", stopped="cpu", cpu=2.0), Outcome.TIMEOUT, "used 2.0 s of CPU time", "fine"),
    "memory watch": (ran(None, stopped="memory"), Outcome.OUT_OF_MEMORY, "killed: more memory than the limit", "out of 2"),
    "signal": (ran(None, status=-11), Outcome.CRASHED, "the process was ended by SIGSEGV", "out of 2"),
    "ended itself": (ran(None, status=0), Outcome.CRASHED, "the process ended itself (status 0) before the tests were done", "out of 2"),
    "garbage": (ran(None, stopped="garbage"), Outcome.CRASHED, "the process wrote something other than a result", "out of 2"),
}  # fmt: skip


@each(("executed", "outcome", "detail", "text"), FAILURES)
def test_what_did_not_pass_is_read_from_the_evidence_the_same_in_both_readings(
    executed: Executed, outcome: Outcome, detail: str, text: str
) -> None:
    result = read(executed)
    assert result.official == failed(outcome, detail)
    assert result.careful == result.official
    assert official_result(executed, V2) == text


@each(
    ("lint", "detail"),
    [
        (
            Lint(messages=["Undefined variable 'x'", "Undefined variable 'y'"]),
            "Undefined variable 'x'\nUndefined variable 'y'",
        ),
        (Lint(broken="the linter crashed on this source"), "the linter crashed on this source"),
    ],
)
def test_a_program_stopped_by_the_gate_did_not_run(lint: Lint, detail: str) -> None:
    result = read(Executed(lint=lint))
    assert result.official == failed(Outcome.LINT_FAILED, detail, "pylint")
    assert result.careful == result.official
    assert result.seconds == 0
    assert official_result(Executed(lint=lint), V1) == f"pylint fail:\n{detail}"


@each("executed", [ran("no N", "NameError"), Executed(lint=Lint(messages=["Undefined variable 'N'"]))])
def test_a_program_that_passes_with_its_dropped_code_is_credited_carefully(executed: Executed) -> None:
    result = read(executed, CONFIRMED, "N = 3\ndef solution(a):\n    return N * a")
    assert result.official.credit == 0
    assert result.careful == Reading(
        outcome=Outcome.PASSED, credit=1, detail="passes once the program keeps top-level N", rule="recovered"
    )


DROPS = "def solution(a):\n    return N\nN = 3"
WRONG = Judgement(evidence=evidence(), reason="a test fails", kind="assertion")


@each(
    ("official", "written", "completion", "outcome"),
    [
        ("passed", CONFIRMED, WRONG, Outcome.PASSED),
        ("passed", WRONG, CONFIRMED, Outcome.PASSED),
        ("passed", WRONG, WRONG, Outcome.SUSPECT),
        ("no", CONFIRMED, WRONG, Outcome.PASSED),
        ("no", WRONG, WRONG, Outcome.ERROR),
        (None, WRONG, CONFIRMED, Outcome.PASSED),
        (None, CONFIRMED, WRONG, Outcome.PASSED),
        (None, WRONG, WRONG, Outcome.FAILED),
    ],
)
def test_where_the_careful_program_fails_the_official_text_is_judged_too(
    official: str | None, written: Judgement, completion: Judgement, outcome: Outcome
) -> None:
    verdicts = Verdicts(completion=Verdict(judgement=completion), recovered_completion=Verdict(judgement=written))
    executed = None if official is None else ran(official, "" if official == "passed" else "NameError")
    reading = None if executed is None else official_reading(executed, V2)
    assert careful_reading(reading, verdicts, assembled(DROPS).program, V2).outcome is outcome


@each(
    ("written", "right"),
    [(CONFIRMED, []), (msgspec.structs.replace(WRONG, right=[True, False]), [True, False]), (None, [False, False])],
)
def test_the_assertions_that_hold_are_those_of_the_careful_program(
    written: Judgement | None, right: list[bool]
) -> None:
    completion = Verdict(judgement=msgspec.structs.replace(WRONG, right=[False, False]))
    recovered = None if written is None else Verdict(judgement=written)
    assert assertion_results(Verdicts(completion=completion, recovered_completion=recovered)) == right


def _judged(same: int, *, confirmed: bool) -> Verdict:
    likeness = Likeness(calls=Calls(n=4, same=same))
    return Verdict(judgement=Judgement(evidence=evidence(), confirmed=confirmed, kind="unlike", likeness=likeness))


@each(
    ("completion", "whole", "same"),
    [
        (_judged(1, confirmed=False), _judged(4, confirmed=True), 4),
        (_judged(4, confirmed=True), _judged(1, confirmed=False), 4),
        (_judged(1, confirmed=False), None, 1),
        (_judged(1, confirmed=False), _judged(2, confirmed=False), 2),
        (Verdict(), _judged(2, confirmed=False), 2),
    ],
)
def test_the_calls_of_a_sample_are_those_of_the_program_that_is_believed(
    completion: Verdict, whole: Verdict | None, same: int
) -> None:
    verdicts = Verdicts(completion=completion, recovered_completion=whole)
    sample = observed(ran("no N", "NameError"), verdicts, DROPS)
    assert sample_result(sample, V2).calls == Calls(n=4, same=same)


@each(
    "executed",
    [
        ran("'int' object is not callable", "TypeError"),
        Executed(lint=Lint(messages=["Possibly using variable 's' before assignment"])),
    ],
)
def test_a_program_whose_answers_are_right_passes_though_its_names_are_the_tests_or_a_linter_guesses(
    executed: Executed,
) -> None:
    result = read(executed, confirmed=Verdict(judgement=CONFIRMED))
    assert (result.official.credit, result.careful.outcome, result.careful.credit) == (0, Outcome.PASSED, 1)
    assert result.official.detail in result.careful.detail


def test_a_failed_assertion_is_the_programs_own() -> None:
    """Apart from the tests, a set that is sent may have another order."""
    result = read(ran("", "AssertionError"), confirmed=Verdict(judgement=CONFIRMED))
    assert result.careful == result.official == failed(Outcome.FAILED, "a test's assertion failed")


def of_inputs(official: Readings, recovered: Readings) -> tuple[Sample, SampleResult]:
    sample = assembled()
    sample.task = msgspec.structs.replace(TASK, cases=Cases(inputs=("1",), outputs=("1",), base_count=1))
    sample.verdicts = Verdicts(completion=Verdict(readings=official), recovered_completion=Verdict(readings=recovered))
    return sample, sample_result(sample, V2)


def test_each_reading_of_the_inputs_is_that_of_its_own_program() -> None:
    passed, wrong = Reading(outcome=Outcome.PASSED, credit=1), Reading(outcome=Outcome.FAILED, credit=0)
    official = Readings(official=wrong, careful=wrong, seconds=0.3, right_outputs=[False], base=(False, False))
    recovered = Readings(official=passed, careful=passed, seconds=0.4, right_outputs=[True], base=(True, True))
    sample, result = of_inputs(official, recovered)
    assert (result.official, result.careful, result.seconds) == (wrong, passed, 0.3)
    assert facts_of(result).base == (False, True)
    assert sample.readings is not None
    assert sample.readings.right_outputs == [True]


@pytest.mark.parametrize("lost", ["official", "careful"])
def test_a_program_that_infrastructure_lost_passes_no_base_inputs_of_its_reading(lost: ReadingName) -> None:
    wrong = Reading(outcome=Outcome.FAILED, credit=0)
    unscored, only_base = unjudged_readings("lost"), Readings(official=wrong, careful=wrong, base=(True, True))
    _, result = of_inputs(*((unscored, only_base) if lost == "official" else (only_base, unscored)))
    values = {row.reading: row.value for row in metrics([result], (1,), has_linter=False) if row.name == "base_pass@1"}
    assert values == {("careful" if lost == "official" else "official"): 100}


def test_what_infrastructure_lost_is_unscored_in_both_readings() -> None:
    lost = failed(Outcome.UNSCORED, "the supervisor was lost", "infrastructure")
    result = read(None)
    assert (result.official, result.careful, result.seconds) == (lost, lost, 0.0)


class Pipe(Channel):
    """A supervisor that has said one thing."""

    def __init__(self, message: dict[str, object]) -> None:
        super().__init__()
        data = json.dumps(message).encode()
        self._data = struct.pack(">II", 4 + len(data), len(data)) + data

    def write(self, data: memoryview) -> int:
        raise AssertionError

    wait = write  # type: ignore[assignment]

    def read(self, timeout: float) -> bytes:
        taken, self._data = self._data, b""
        return taken


def test_half_a_character_in_an_exceptions_message_can_be_read_and_written() -> None:
    """One hostile sample must not cost the report of all the others."""
    seen = {
        "run": {"result": "\ud83d\ude00 \ud800\x00", "kind": "\udfffError", "evidence": msgspec.to_builtins(evidence())}
    }
    result = read(parse_answer(Pipe(seen).receive(1.0)))
    assert result.official == failed(Outcome.ERROR, "\ufffdError: \U0001f600 \ufffd\x00")
    assert msgspec.json.decode(msgspec.json.encode(result), type=SampleResult) == result


# --- the test that failed -----------------------------------------------------------------------------------------


def _failing(lines: str) -> object:
    run = ProgramRun(evidence=evidence(), result="", kind="AssertionError", lines=lines)
    return read(Executed(lint=Lint(), run=run)).facts


def _line_of_the_assertion() -> int:
    made = assembled()
    return (made.head + made.task.tests).split("\n").index("assert solution(1) == 1") + 1


def test_the_test_that_failed_is_the_last_of_the_tests_lines_that_the_exception_came_by() -> None:
    number = _line_of_the_assertion()
    told = ExecutionFacts(failed_test="assert solution(1) == 1", failed_line=number)
    assert _failing(f"{number}") == told
    assert _failing(f"{number},2,2") == told
    assert _failing(f"{number},2,{number + 1}") == told


def test_a_program_that_passes_officially_has_no_test_that_failed() -> None:
    """`raise SystemExit("passed")` gives the official text of a pass, and an exception that came through a test."""
    ended = ProgramRun(evidence=evidence(), result="passed", kind="SystemExit", lines=f"{_line_of_the_assertion()}")
    sample = read(Executed(lint=Lint(), run=ended))
    assert (sample.official.outcome, sample.facts) == (Outcome.PASSED, msgspec.UNSET)


@each("lines", ["", "1", "2,9", "-3", "9999999", "99999999999999999999", "\u0663", "x", "1,,"])
def test_what_a_program_says_of_its_lines_is_never_an_error(lines: str) -> None:
    assert _failing(lines) is msgspec.UNSET
