"""ProgramScorer: what is graded in which order, what is kept between them, and which reading each outcome gets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from grader.benchmark import Columns
from grader.executors.local import Local
from grader.observer import Silent
from grader.options import Options
from grader.results import Outcome, Reading, SampleResult
from grader.sandbox.interface import Limits
from grader.sandbox.verdict_cache import VerdictCache
from grader.scorers.execution import program_scorer
from grader.scorers.execution.declaration import ExecutionProtocol
from grader.scorers.execution.facts import ExecutionFacts, Printed, facts_of
from grader.scorers.execution.inputs.cases import Cases
from grader.scorers.interface import Run
from grader.scorers.plain_sample_scorer import NO_FILE
from grader.scorers.sample_scorer import ScoreRequest
from tests.scorers.execution import test_pipeline
from tests.scorers.execution.made import make
from tests.scorers.execution.test_pipeline import EVIDENCE, Named, program

TASKS = {
    "plain": make("plain", "def solution(a):", "assert solution(1) == 1", {}),
    "odd": make("odd", "def solution(a):", "solution(lambda: 1)", {}),
}


class Scripted(test_pipeline.Scripted):
    """Sandboxes that answer each job as the source of its program says."""

    workers = 1

    def __init__(self) -> None:
        super().__init__()
        self.verdict: dict[str, Any] = {"confirmed": True, "reason": "", "kind": ""}
        self.answered: dict[str, Any] = EVIDENCE

    def __enter__(self) -> Scripted:
        return self

    def close(self) -> None:
        """Nothing to end."""

    def answer(self, kind: str, job: dict[str, Any]) -> dict[str, Any]:
        if kind == "lint":
            return {"messages": ["E0602: undefined"] if "undefined" in job["head"] else []}
        if kind == "answer":
            return {
                "evidence": self.answered,
                "transcript": b"{}\n" + json.dumps(job["answer"]["candidate"]["source"]).encode(),
            }
        if kind == "judge":
            return {"evidence": EVIDENCE, **self.verdict}
        return super().answer(kind, job)


@pytest.fixture
def pool() -> Scripted:
    return Scripted()


@pytest.fixture
def graded(pool: Scripted, monkeypatch: pytest.MonkeyPatch) -> Iterator[program_scorer.ProgramScorer]:
    local = Local(Named(), pool, VerdictCache(None), Limits())  # type: ignore[arg-type]
    monkeypatch.setattr(program_scorer, "open_local", lambda *_, **__: local)

    class Declared:
        protocols = {"v": ExecutionProtocol(assembly="humaneval-v-v2", timed_out="out of time", lint=True)}
        columns = Columns(id="qid")

    run: Any = Run(
        benchmark=Declared(),  # type: ignore[type-var]
        split="test",
        protocol="v",
        tasks=TASKS,
        predictions={},
        file=NO_FILE,
        options=Options(),
        observer=Silent(),
    )
    with program_scorer.ProgramScorer(run) as made:
        yield made


def score(graded: program_scorer.ProgramScorer, asked: list[ScoreRequest]) -> list[SampleResult]:
    return graded.score(asked)


def test_a_careful_reading_needs_no_official_run(graded: program_scorer.ProgramScorer, pool: Scripted) -> None:
    (result,) = score(graded, [ScoreRequest(qid="plain", text=program("a"))])
    assert (result.careful.outcome, result.careful.credit) == (Outcome.PASSED, 1)
    assert (result.official.outcome, result.official.rule) == (Outcome.UNSCORED, "not_asked")
    assert result.seconds == EVIDENCE["cpu"]
    assert pool.kinds == ["record", "lint", "answer", "judge"]


def test_only_the_run_itself_still_knows_a_task_that_is_forgotten(graded: program_scorer.ProgramScorer) -> None:
    score(graded, [ScoreRequest(qid="plain", text=program("a"))])
    graded.forget("plain")
    knowing = [name for name, value in vars(graded).items() if isinstance(value, dict) and "plain" in value]
    assert knowing == ["_tasks"]


def test_what_was_printed_stands_beside_the_base_inputs(
    graded: program_scorer.ProgramScorer, pool: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """These are the facts of a run."""
    cases = Cases(inputs=("1", "2"), outputs=("1", "2"), base_count=1)
    monkeypatch.setitem(TASKS, "echo", msgspec.structs.replace(make("echo", "", "", {}), cases=cases))
    printed = [json.dumps({"printed": text, "status": 0, "cpu": 0.1}) for text in cases.inputs]
    answer = {"evidence": EVIDENCE, "transcript": "\n".join(['{"compiled": true}', *printed]).encode()}
    monkeypatch.setattr(pool, "answer", lambda kind, _: {"messages": []} if kind == "lint" else answer)
    (result,) = score(graded, [ScoreRequest(qid="echo", text="```python\nprint(input())\n```", printed=True)])
    outputs = [Printed(text=text, outcome="passed") for text in cases.inputs]
    assert facts_of(result) == ExecutionFacts(base=(True, True), printed=outputs)


def test_official_runs_are_those_asked_for_and_come_last(graded: program_scorer.ProgramScorer, pool: Scripted) -> None:
    asked = [
        ScoreRequest(qid="plain", text=program("a"), official=True),
        ScoreRequest(qid="plain", text=program("a + 0")),
    ]
    first, second = score(graded, asked)
    assert pool.kinds.count("run") == 1
    assert pool.kinds[-1] == "run"
    assert (first.official.outcome, second.official.outcome) == (Outcome.PASSED, Outcome.UNSCORED)


def test_within_a_round_every_program_has_answered_before_the_first_is_judged(
    graded: program_scorer.ProgramScorer, pool: Scripted
) -> None:
    score(graded, [ScoreRequest(qid=qid, text=program(f"a + {n}")) for n in range(4) for qid in ("plain", "odd")])
    order = list(dict.fromkeys(pool.kinds))
    assert [kind for kind in pool.kinds if kind != "record"] == sorted(
        (kind for kind in pool.kinds if kind != "record"), key=order.index
    )
    assert order == ["record", "lint", "answer", "judge"]


def test_calls_are_recorded_once_for_all_rounds(graded: program_scorer.ProgramScorer, pool: Scripted) -> None:
    for number in range(3):
        score(graded, [ScoreRequest(qid="plain", text=program(f"a + {number}"))])
    assert pool.kinds.count("record") == 1


def test_a_recording_that_was_lost_is_made_again_and_its_samples_never_meet_their_tests(
    graded: program_scorer.ProgramScorer, pool: Scripted
) -> None:
    pool.lost = {"record"}
    (result,) = score(graded, [ScoreRequest(qid="plain", text=program("a"))])
    assert result.careful.outcome is Outcome.UNSCORED
    assert "the sandbox died" in result.careful.detail
    pool.lost = set()
    (result,) = score(graded, [ScoreRequest(qid="plain", text=program("a"))])
    assert result.careful.outcome is Outcome.PASSED


def test_a_task_whose_calls_are_unknown_is_not_judged(graded: program_scorer.ProgramScorer, pool: Scripted) -> None:
    careful = Reading(outcome=Outcome.NOT_JUDGED, credit=None, detail="the tests pass a function", rule="apart")
    for text in (program("a"), "no program"):
        (result,) = score(graded, [ScoreRequest(qid="odd", text=text)])
        assert result.careful == careful
    assert "answer" not in pool.kinds
    (result,) = score(graded, [ScoreRequest(qid="odd", text=program("a"), official=True)])
    assert (result.official.outcome, result.careful) == (Outcome.PASSED, careful)


@pytest.mark.parametrize(
    ("verdict", "answered", "outcome", "detail"),
    [
        (("a test fails: solution(1) == 1", "assertion"), {}, Outcome.FAILED, "a test fails: solution(1) == 1"),
        (("the candidate's code does not load: no", "load"), {}, Outcome.ERROR, "does not load"),
        (("it ended", "ended"), {"status": 3}, Outcome.CRASHED, "status 3"),
        (("the candidate's process ended during a call", "unconfirmed"), {"status": -11}, Outcome.CRASHED, "SIGSEGV"),
        (("it ended", "ended"), {"stopped": "cpu"}, Outcome.TIMEOUT, "CPU time"),
        (("a value that cannot be serialized", "unconfirmed"), {}, Outcome.SUSPECT, "cannot be serialized"),
    ],
)
def test_what_the_tests_do_not_confirm_is_named_by_the_evidence(
    graded: program_scorer.ProgramScorer,
    pool: Scripted,
    verdict: tuple[str, str],
    answered: dict[str, Any],
    outcome: Outcome,
    detail: str,
) -> None:
    pool.verdict = {"confirmed": False, "reason": verdict[0], "kind": verdict[1]}
    pool.answered = EVIDENCE | answered
    (result,) = score(graded, [ScoreRequest(qid="plain", text=program("a"))])
    assert (result.careful.outcome, result.careful.credit) == (outcome, 0)
    assert detail in result.careful.detail


def test_what_infrastructure_lost_is_unscored(graded: program_scorer.ProgramScorer, pool: Scripted) -> None:
    for kind in ("lint", "answer", "judge"):
        pool.lost = {kind}
        (result,) = score(graded, [ScoreRequest(qid="plain", text=program(f"a + len('{kind}')"))])
        assert result.careful.outcome is Outcome.UNSCORED, kind
