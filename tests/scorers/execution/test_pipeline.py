"""The order in which a run's jobs are done, and what is made of their answers. A scripted pool stands for sandboxes."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import pytest

from grader.executors.local import Local
from grader.observer import Observer, Silent
from grader.results import Outcome, Reading
from grader.sandbox import values
from grader.sandbox.interface import Limits
from grader.sandbox.verdict_cache import VerdictCache
from grader.scorers.execution import tested_tasks
from grader.scorers.execution.candidate import Candidate
from grader.scorers.execution.declaration import ExecutionProtocol
from grader.scorers.execution.inputs.cases import Cases
from grader.scorers.execution.inputs.outputs import NOT_ASKED
from grader.scorers.execution.job_runner import JobRunner
from grader.scorers.execution.phases import judge_samples, run_officially, with_lint_keys
from grader.scorers.execution.pipeline import Pipeline
from grader.scorers.execution.reading import official_reading, official_result, sample_result
from grader.scorers.execution.sample import Sample, assemble_samples
from grader.scorers.execution.spool import Spool
from grader.scorers.execution.states import Judgeable, NotJudgeable, NotPrepared
from tests.observers import Noting
from tests.scorers.execution.made import make

EVIDENCE = {"stopped": None, "status": None, "cpu": 0.1, "wall": 0.2, "waited": 0.0, "oom": False}
PROTOCOL = ExecutionProtocol(assembly="humaneval-v-v2", lint=True, timed_out="out of time").with_timeout(2.0)
LIMITS = Limits()
TASKS = {
    "plain": make("plain", "def solution(a):", "assert solution(1) == 1", {}),
    "same": make("same", "def solution(a):", "assert solution(1) == 1", {}),
    "odd": make("odd", "def solution(a):", "solution(lambda: 1)", {}),
    "strange": make("strange", "def solution(a):", "solution(lambda: 2)", {}),
}


class Scripted:
    """A pool that notes the jobs it is given and answers each as the fields below say."""

    def __init__(self) -> None:
        self.jobs: list[tuple[str, dict[str, Any]]] = []
        self.lost: set[str] = set()
        self.kind, self.official = "", "passed"
        self.answered: dict[str, Any] = {}
        """What its programs' answers have beside the usual, in the evidence or beside it."""

    def prestart(self, role: str, lint_jobs: int = 0) -> None:
        """Nothing to start."""

    def run(self, batch: Iterable[tuple[str, dict[str, Any]]], role: str | None = None) -> Iterator[tuple[str, Any]]:
        for key, job in batch:
            kind = next(name for name in ("lint", "record", "answer", "judge", "compare", "run") if job.get(name))
            self.jobs.append((kind, job))
            yield key, "the sandbox died" if kind in self.lost else {"id": 0, kind: self.answer(kind, job)}

    def answer(self, kind: str, job: dict[str, Any]) -> dict[str, Any]:
        if kind == "lint":
            return {"messages": []}
        if kind == "record":
            recorded: dict[str, Any] = {"calls": [values.call("solution", [1])]}
            if job["record"]["reference"] is None:
                recorded["expected"] = [values.reply(1)]
            if "lambda" in job["record"]["test"]:
                recorded = {"refused": "the tests pass a function"}
            return {"evidence": EVIDENCE, "recorded": recorded}
        if kind == "answer":
            said = b"{}\n" + json.dumps(len(job["answer"]["candidate"]["source"])).encode()
            evidence = EVIDENCE | {name: value for name, value in self.answered.items() if name in EVIDENCE}
            return {"transcript": said, **self.answered, "evidence": evidence}
        if kind == "run":
            return {"evidence": EVIDENCE, "result": self.official}
        return {"evidence": EVIDENCE, "confirmed": not self.kind, "reason": self.kind and "why", "kind": self.kind}

    @property
    def kinds(self) -> list[str]:
        return [kind for kind, _ in self.jobs]


@pytest.fixture
def pool() -> Scripted:
    return Scripted()


class Named:
    """A backend of which only the identity is asked."""

    identity = "scripted"


def job_runner(pool: Scripted, observer: Observer | None = None) -> JobRunner:
    return JobRunner(Local(Named(), pool, VerdictCache(None), LIMITS), observer or Silent())  # type: ignore[arg-type]


def graded(runner: JobRunner, answers: dict[str, list[str]]) -> tuple[Pipeline, list[Sample]]:
    """Grade as a run does."""
    with Spool() as spool:
        pipeline = Pipeline(TASKS, runner, spool, LIMITS, PROTOCOL)
        samples = with_lint_keys(assemble_samples(TASKS, answers, PROTOCOL), pipeline.context)
        judge_samples(samples, pipeline)
        run_officially(samples, pipeline.context)
    return pipeline, samples


def program(body: str) -> str:
    return f"```python\ndef solution(a):\n    return {body}\n```"


def test_no_test_meets_an_answer_before_the_last_candidate_has_answered(pool: Scripted) -> None:
    """Then the official runs, when every verdict is there. A task without known calls is not judged."""
    answers = {"plain": [program("a"), program("a + 1"), program("a")], "odd": [program("a"), program("2")]}
    pipeline, samples = graded(job_runner(pool), answers)
    order = dict.fromkeys(pool.kinds)
    assert list(order) == ["record", "lint", "answer", "judge", "run"]
    assert [kind for kind in pool.kinds if kind in order] == sorted(pool.kinds, key=list(order).index)
    assert pool.kinds.count("answer") == 2
    found = {sample.task.id: sample.verdicts.completion.judgement for sample in samples}
    assert found["plain"] is not None
    assert found["odd"] is None
    assert pipeline.states.reasons(NotJudgeable) == {"odd": "the tests pass a function"}
    readings = {result.careful for sample in samples if (result := sample_result(sample, PROTOCOL)).qid == "odd"}
    why = "the tests pass a function"
    assert readings == {Reading(outcome=Outcome.NOT_JUDGED, credit=None, detail=why, rule="apart")}
    for kind, job in pool.jobs:
        if kind == "answer":
            assert "assert" not in repr(job)
        if kind == "judge":
            assert "source" not in repr(job["judge"])


def confirm(
    pool: Scripted, *sources: str, solution: str | None = None, tests: str = "assert solution(1) == 1"
) -> tuple[Pipeline, Any]:
    task = make("plain", "def solution(a):", tests, {}, solution)
    with Spool() as spool:
        pipeline = Pipeline({"plain": task}, job_runner(pool), spool, LIMITS, PROTOCOL)
        candidates = [Candidate(qid="plain", source=source) for source in sources]
        found = pipeline.verdicts(candidates)
        return pipeline, [found.get(candidate) for candidate in candidates]


REFERENCE = "def solution(a):\n    return a"


@pytest.mark.parametrize("kind", ["diverged", "assertion", "unconfirmed"])
def test_a_task_whose_reference_solution_passes_only_officially_is_not_judged(pool: Scripted, kind: str) -> None:
    """Its official run comes before any program of a model, and only then."""
    pool.kind = kind
    pipeline, (found,) = confirm(pool, "aaa", solution=REFERENCE)
    why = "the reference solution passes in one process with its tests, but not apart from them: why"
    assert (pipeline.states.reasons(NotJudgeable), pipeline.states.reference_failures, found) == (
        {"plain": why},
        {},
        None,
    )
    assert pool.kinds == ["record", "answer", "judge", "run"]


NOW = "import datetime\nassert solution(1) == datetime.datetime.now().second"


@pytest.mark.parametrize(
    ("tests", "solution", "waits", "not_judged"),
    [
        (NOW, REFERENCE, 1, {}),
        (NOW, None, 0, {"plain": tested_tasks.ASKS_FOR_TIME}),
        ("import time\ntime.sleep(0)\nassert solution(1) == 1", REFERENCE, 0, {}),
        ("assert solution('now()') == 1", None, 0, {}),
    ],
)
def test_answers_of_a_reference_are_judged_a_second_later_if_the_tests_ask_what_time_it_is(
    pool: Scripted, monkeypatch: pytest.MonkeyPatch, tests: str, solution: str | None, waits: int, not_judged: Any
) -> None:
    """Otherwise, whether a program passes would depend on when it is judged."""
    waited: list[float] = []
    monkeypatch.setattr(tested_tasks, "sleep", waited.append)
    pipeline, _ = confirm(pool, "aaa", solution=solution, tests=tests)
    assert waited == [tested_tasks.NEXT_SECOND] * waits
    assert pipeline.states.reasons(NotJudgeable) == not_judged


def test_a_reference_solution_that_fails_both_ways_is_none(pool: Scripted) -> None:
    """What the tests compare answers with is then expected."""
    pool.kind, pool.official = "assertion", "failed: no"
    pipeline, (found,) = confirm(pool, "aaa", solution=REFERENCE)
    assert (pipeline.states.reasons(NotJudgeable), pipeline.states.reference_failures) == ({}, {"plain": "why"})
    assert found.judgement.kind == "assertion"
    assert pool.kinds == ["record", "answer", "judge", "run", "record", "answer", "judge"]
    (expected,) = pool.jobs[-1][1]["judge"]["task"]["expected"]
    assert expected.decode().split("\n")[1:] == [values.reply(1)]


def test_a_task_whose_reference_solution_was_lost_is_neither_judged_nor_outside(pool: Scripted) -> None:
    for kind in ("record", "answer", "run"):
        pool.kind, pool.lost = "assertion", {kind}
        pipeline, _ = confirm(pool, "aaa", solution=REFERENCE)
        assert pipeline.states == {"plain": NotPrepared("the sandbox died")}


@pytest.mark.parametrize(("solution", "runs"), [(REFERENCE, [0]), (f"{REFERENCE} or id(a)", [0, 1])])
def test_what_the_known_solution_answers_is_expected_of_every_program_and_two_runs_if_they_can_vary(
    pool: Scripted, solution: str, runs: list[int]
) -> None:
    pipeline, _ = confirm(pool, "aaa", "bbbb", solution=solution)
    assert pool.kinds == ["record", *("answer" for _ in runs), "judge", "answer", "answer", "judge", "judge"]
    asked = [job["answer"]["candidate"] for kind, job in pool.jobs if kind == "answer"]
    assert [candidate.get("run", 0) for candidate in asked] == [*runs, 0, 0]
    reference, *samples = [job["judge"] for kind, job in pool.jobs if kind == "judge"]
    said = reference["transcript"]
    assert (reference["task"]["expected"], reference["task"]["is_reference"]) == ([said], True)
    assert [sample["task"]["expected"] for sample in samples] == [[said for _ in runs]] * 2
    state = pipeline.states["plain"]
    assert isinstance(state, Judgeable)
    assert not state.has_no_reference


def test_the_answers_of_the_known_solution_are_not_judged_again(pool: Scripted) -> None:
    as_long = "a" * len(TASKS["plain"].reference or REFERENCE)
    _, (same, other) = confirm(pool, as_long, "b", solution=REFERENCE)
    assert pool.kinds == ["record", "answer", "judge", "answer", "answer", "judge"]
    assert same.judgement.confirmed
    assert (same.judgement.likeness.calls.n, same.judgement.likeness.calls.same) == (1, 1)
    assert other.judgement.likeness is None  # The scripted judge says nothing of it.


@pytest.mark.parametrize(
    ("answered", "kind", "is_run"),
    [
        ({"stopped": "cpu", "cpu": 9.0}, "waiting", False),
        ({"stopped": "cpu"}, "assertion", True),
        ({"stopped": "blocked"}, "waiting", False),
        ({"stopped": "cpu", "unsure": True}, "waiting", True),
        ({"stopped": "wall"}, "waiting", True),
        ({"stopped": "cpu", "oom": True}, "waiting", True),
    ],
)
def test_only_a_program_whose_tests_arrive_at_the_call_that_used_up_its_time_does_not_run_with_them(
    pool: Scripted, answered: dict[str, Any], kind: str, is_run: bool
) -> None:
    pool.kind, pool.answered = kind, answered
    _, (sample,) = graded(job_runner(pool), {"plain": [program("a")]})
    assert ("run" in pool.kinds) == is_run
    reading = official_reading(sample.official_observation, PROTOCOL)
    seconds = f"{LIMITS.cpu_seconds:.1f} s"
    words = {"cpu": f"used {seconds} of CPU time", "blocked": f"waited for {seconds} without working"}
    assert (reading.outcome, reading.detail) == (
        (Outcome.PASSED, "") if is_run else (Outcome.TIMEOUT, words[answered["stopped"]])
    )
    assert is_run or official_result(sample.official_observation, PROTOCOL) == "out of time"


@pytest.mark.parametrize("kind", ["answer", "judge"])
def test_what_infrastructure_lost_is_lost_and_not_failed(pool: Scripted, kind: str) -> None:
    pool.lost = {kind}
    _, (found,) = confirm(pool, "aaa")
    assert (found.judgement, found.infrastructure_error) == (None, "the sandbox died")


def test_the_progress_does_not_count_a_lost_program_as_passed(pool: Scripted) -> None:
    pool.lost, told = {"answer"}, Noting()
    graded(job_runner(pool, told), {"plain": [program("a")]})
    assert dict(told.phases)["answering"] == 1
    assert "judging" not in dict(told.phases)


def test_a_task_whose_references_own_comparison_was_lost_is_lost_with_the_reason(pool: Scripted) -> None:
    """Its answers may be more than a message can have."""
    said = f"{values.hello(['solution'])}\n{values.reply(float('nan'))}".encode()
    pool.lost, pool.answered = {"compare"}, {"transcript": said}
    cases = Cases(inputs=([1],), outputs=None, function="solution")
    task = msgspec.structs.replace(make("plain", "def solution(a):", "", {}, REFERENCE), cases=cases)
    with Spool() as spool:
        pipeline = Pipeline({"plain": task}, job_runner(pool), spool, LIMITS, PROTOCOL)
        (verdict,) = pipeline.verdicts([Candidate(qid="plain", source="aaa")]).values()
    why = "its reference solution was not judged: the sandbox died"
    assert pipeline.states == {"plain": NotPrepared(why)}
    assert verdict.readings is not None
    assert verdict.readings.careful.detail == f'task "plain": {why}'


@pytest.mark.parametrize(("first", "asked"), [("1", [["1", "2", "3"], ["2", "3"]]), ("9", [["1", "2", "3"]])])
def test_a_slow_program_answers_more_only_if_its_answers_so_far_are_right(
    pool: Scripted, first: str, asked: list[list[str]]
) -> None:
    """EvalPlus and LiveCodeBench stop at the first wrong answer; here a quick program answers everything."""
    cases = Cases(inputs=("1", "2", "3"), outputs=("1", "2", "3"))
    task = msgspec.structs.replace(make("plain", "", "", {}, None), cases=cases)
    asked_so_far: list[list[str]] = []

    def answer(kind: str, job: dict[str, Any]) -> dict[str, Any]:
        if kind == "compare":
            rights = [[pair.get("answer") == pair["expected"]] * 2 + [""] for pair in job["compare"]["pairs"]]
            return {"evidence": EVIDENCE, "compared": {"verdicts": rights, "shown": {}}}
        calls = job["answer"]["calls"]
        asked_so_far.append(list(calls))
        given = [first] if "max_seconds" in job["answer"] else calls
        replies = [json.dumps({"printed": text, "status": 0, "cpu": 0.1}) for text in given]
        return {"evidence": EVIDENCE, "transcript": "\n".join(['{"compiled": true}', *replies]).encode()}

    pool.answer = answer  # type: ignore[method-assign]
    candidate = Candidate(qid="plain", source="print(input())")
    with Spool() as spool:
        pipeline = Pipeline({"plain": task}, job_runner(pool), spool, LIMITS, PROTOCOL)
        (verdict,) = pipeline.verdicts([candidate]).values()
    assert asked_so_far == asked
    readings = verdict.readings
    assert readings is not None
    assert (readings.official.credit, readings.right_outputs) == ((1, [True] * 3) if first == "1" else (0, [False] * 3))
    assert first == "1" or [output.why for output in readings.outputs] == ["", NOT_ASKED, NOT_ASKED]


def test_a_function_that_is_slow_answers_everything_in_one_process(pool: Scripted) -> None:
    """What it keeps from call to call decides its answers, as in the process of EvalPlus."""
    task = msgspec.structs.replace(
        make("plain", "def f(a):", "", {}, None), cases=Cases(inputs=([1], [2]), outputs=(1, 2), function="f")
    )
    asked: list[int] = []

    def answer(_kind: str, job: dict[str, Any]) -> dict[str, Any]:
        calls = job["answer"]["calls"]
        asked.append(len(calls))
        replies = [values.reply(n) for n in (1, 2)]
        replies = replies[: 1 if "max_seconds" in job["answer"] else 2]
        return {"evidence": EVIDENCE, "transcript": "\n".join(['{"functions": ["f"]}', *replies]).encode()}

    pool.answer = answer  # type: ignore[method-assign]
    with Spool() as spool:
        pipeline = Pipeline({"plain": task}, job_runner(pool), spool, LIMITS, PROTOCOL)
        (verdict,) = pipeline.verdicts([Candidate(qid="plain", source="def f(a): ...")]).values()
    assert asked == [2, 2]
    assert verdict.readings is not None
    assert verdict.readings.official.credit == 1
