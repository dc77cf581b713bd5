"""What a self-test must notice: one test a planted defect, of the machine, of a scorer, of the data."""

from typing import Any

import msgspec
import pytest

from grader.results import Outcome, Report
from grader.scorers.choice.careful import read as careful
from grader.scorers.execution import metrics as pass_metrics
from grader.scorers.execution.metrics import pass_at_k
from grader.scorers.mr_ben import judge_decision, samples
from grader.selftest import verdict
from grader.selftest.plan import Plan
from tests.selftest.made import SANDBOX, changed, faultless, of_real, plan, reading


@pytest.mark.parametrize("benchmark", ["vstar", "mmbench", "mr-ben"])
def test_a_sound_installation_reads_every_wording_and_credits_no_refusal(benchmark: str) -> None:
    found = of_real(benchmark)
    assert [problem.what for problem in found.problems] == []
    assert {tally.kind for tally in found.tallies} == {"wording", "wrong", "refusal"}
    assert all(tally.as_expected == tally.of > 0 for tally in found.tallies)


def test_letters_that_are_shifted_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = careful.read_choice

    def shifted(text: str, options: dict[str, str], question: str = "") -> Any:
        found = sound(text, options, question)
        letters = list(options)
        if found.letter not in letters:
            return found
        return msgspec.structs.replace(found, letter=letters[letters.index(found.letter) - 1])

    monkeypatch.setattr(careful, "read_choice", shifted)
    found = of_real("vstar")
    assert not found.passed
    assert {"wording", "wrong"} <= {problem.kind for problem in found.problems}
    assert {problem.reading for problem in found.problems} == {"careful"}
    assert {problem.mend for problem in found.problems} == {verdict.INSTALLATION}


def test_an_accuracy_over_the_wrong_number_of_questions_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    from grader.scorers import means

    sound = means.by_task

    def without_the_last(given: Any) -> Any:
        found = sound(given)
        found.popitem()
        return found

    monkeypatch.setattr(means, "by_task", without_the_last)
    made = of_real("vstar").problems
    assert any("a recount of its samples gives" in problem.what for problem in made)


def test_a_judge_whose_word_is_inverted_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = judge_decision.decision_careful
    other = {"correct": "wrong", "wrong": "correct", None: None}
    monkeypatch.setattr(samples, "decision_careful", lambda reply: other[sound(reply)])
    found = of_real("mr-ben")
    assert {problem.kind for problem in found.problems} == {"wording", "wrong"}


# --- execution: what the machine's sandbox said, altered ------------------------------------------------------------


def test_a_faultless_machine_has_no_problems() -> None:
    made = plan("humaneval-v")
    found = verdict.judge(made, [faultless(made)])
    assert found.problems == []
    assert found.notes == []
    assert found.tasks == 8
    kinds = {"reference", "canary", "calibration", "python", "stub", "mutant", "hostile", "wrong"}
    assert {t.kind for t in found.tallies} == kinds
    assert not any(strength.is_weak for strength in found.strengths)


def test_pass_at_k_that_is_off_by_one_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    made = plan("humaneval-v")
    monkeypatch.setattr(pass_metrics, "pass_at_k", lambda n, c, k: pass_at_k(n, c, max(1, k - 1)))
    wrong = verdict.judge(made, [faultless(made)]).problems
    assert {problem.what.partition(" ")[0] for problem in wrong} == {"pass@3"}
    assert {problem.reading for problem in wrong} == {"official", "careful"}


@pytest.mark.parametrize(
    ("kind", "outcome", "detail", "mend"),
    [
        ("reference", Outcome.OUT_OF_MEMORY, "", verdict.MEMORY),
        ("reference", Outcome.TIMEOUT, "waited", verdict.TIME),
        ("canary", Outcome.ERROR, "ModuleNotFoundError: No module named 'numpy'", verdict.IMAGE),
        ("reference", Outcome.UNSCORED, "the supervisor was lost", verdict.SANDBOX),
        ("reference", Outcome.FAILED, "", verdict.DATA),
        ("reference", Outcome.SUSPECT, "judging its answers did not finish", verdict.TIME),
        ("reference", Outcome.SUSPECT, "a test fails: assert solution(1) == 2", verdict.DATA),
    ],
)
def test_an_honest_program_that_fails_says_how_to_mend_it(kind: str, outcome: Any, detail: str, mend: str) -> None:
    made = plan("humaneval-v")
    bad = reading(False, outcome=outcome, detail=detail)
    found = verdict.judge(made, [changed(faultless(made), made, kind, official=bad, careful=bad)])
    assert {problem.mend for problem in found.problems} == {mend}
    assert {problem.kind for problem in found.problems} == {kind}
    assert next(t for t in found.tallies if t.kind == kind).as_expected == 0


def test_a_python_that_the_sandbox_admits_to_is_a_note_and_no_problem() -> None:
    made = plan("humaneval-v")
    other = msgspec.structs.replace(SANDBOX, python="3.11.2")
    bad = reading(False, outcome=Outcome.ERROR, detail="ImportError: 3.11.2")
    found = verdict.judge(made, [changed(faultless(made, other), made, "python", official=bad, careful=bad)])
    assert found.problems == []
    assert "Programs run on Python 3.11.2; the official environment has 3.12" in found.notes[0]


def test_a_hostile_program_that_the_careful_reading_credits_is_noticed() -> None:
    made = plan("humaneval-v")
    found = verdict.judge(made, [changed(faultless(made), made, "hostile", careful=reading(True))])
    assert {problem.mend for problem in found.problems} == {verdict.CONTAINMENT}


def test_readings_that_disagree_on_an_honest_program_are_noticed() -> None:
    made = plan("humaneval-v")
    found = verdict.judge(made, [changed(faultless(made), made, "mutant", official=reading(True))])
    assert {problem.kind for problem in found.problems} == {"mutant"}


def with_tests_that_assert_nothing(made: Plan, qids: set[str], careful_says: bool) -> Report:
    """Return a faultless report, but for tasks whose tests pass whatever runs, and confirm it or not."""
    report = faultless(made)
    samples = [
        msgspec.structs.replace(sample, official=reading(True), careful=reading(careful_says))
        if sample.qid in qids
        else sample
        for sample in report.samples
    ]
    metrics = pass_metrics.metrics(samples, (1, 3), has_linter=True)
    return msgspec.structs.replace(report, samples=samples, metrics=metrics)


@pytest.mark.parametrize("careful_says", [True, False])
def test_tests_that_assert_nothing_are_the_datas_fault_and_named(careful_says: bool) -> None:
    made = plan("humaneval-v")
    found = verdict.judge(made, [with_tests_that_assert_nothing(made, {"q2", "q4"}, careful_says)])
    assert [problem.what for problem in found.problems] == []
    assert [strength.qid for strength in found.strengths if strength.is_weak] == ["q2", "q4"]
    assert found.notes == ["The tests of 2 tasks let a program without a body pass: q2, q4."]


def test_a_machine_that_credits_everything_is_noticed() -> None:
    made = plan("humaneval-v")
    found = verdict.judge(made, [with_tests_that_assert_nothing(made, set(made.probes), True)])
    assert {problem.mend for problem in found.problems} == {verdict.NOTHING_REFUSED}


def test_tests_that_let_half_of_the_mutants_pass_are_weak() -> None:
    made = plan("humaneval-v")
    found = verdict.judge(
        made, [changed(faultless(made), made, "mutant", official=reading(True), careful=reading(True))]
    )
    assert found.passed
    assert [s.qid for s in found.strengths if s.is_weak] == [s.qid for s in found.strengths if s.mutants >= 4]
    assert all(s.share == 1 for s in found.strengths if s.mutants)


def test_a_verdict_that_changes_from_one_repetition_to_the_next_is_noticed() -> None:
    made = plan("humaneval-v")
    first = faultless(made)
    flipped = msgspec.structs.replace(first.samples[2], careful=reading(False, outcome=Outcome.TIMEOUT))
    second = msgspec.structs.replace(first, samples=[*first.samples[:2], flipped, *first.samples[3:]])
    (problem,) = verdict.judge(made, [first, second]).problems
    assert problem.mend == verdict.CHANGING
    assert problem.what.endswith("the careful reading changes: failed, timeout") or "passed, timeout" in problem.what


def test_a_prediction_that_has_no_result_is_noticed() -> None:
    made = plan("humaneval-v")
    report = faultless(made)
    lost = msgspec.structs.replace(report, samples=report.samples[:-1])
    problems = verdict.judge(made, [lost]).problems
    assert any("the report has results for" in problem.what for problem in problems)
