"""Scoring by execution as samples arrive, in sandboxes where programs and tests never meet.

Any number of threads score a sample each. Sandboxes that run programs never get a test (`grader/sandbox/roles.py`).
"""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, Self

import msgspec

from grader.executors.local import open_local
from grader.observer import Silent
from grader.results import SampleResult
from grader.sandbox.interface import FEW_LINTS
from grader.sandbox.queue import MOST_SUPERVISORS
from grader.scorers.asking import NOT_ASKED, LaneSize
from grader.scorers.execution import jobs
from grader.scorers.execution.assembly import Program, assemble
from grader.scorers.execution.facts import ExecutionFacts, Printed
from grader.scorers.execution.phases import Phases, limits_of, result_of
from grader.scorers.execution.pipeline import Pipeline
from grader.scorers.execution.reading import tests_of, unscored
from grader.scorers.execution.settling import Settler
from grader.scorers.execution.spool import Spool
from grader.scorers.execution.states import Lost, States
from grader.scorers.oddities import with_oddities
from grader.scorers.one_by_one import oddities_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from grader.results import Reading
    from grader.scorers.asking import Asked, Lane
    from grader.scorers.execution.declaration import ExecutionBenchmark
    from grader.scorers.execution.sample import Sample
    from grader.scorers.execution.tasks import CodeTask
    from grader.scorers.interface import Run

LOOP_DELAY = 2.0
"""Seconds by which programs with a loop come after others: as long as most endless ones run."""


class ProgramScorer:
    """Scores samples of one benchmark. Use it as a context manager."""

    def __init__(self, run: Run[ExecutionBenchmark, CodeTask]) -> None:
        workers = run.options.worker_count
        # Some threads run programs while others judge answers, so there are more than either would need. Programs with
        # loops never have all the sandboxes that slow programs may have.
        self.lanes: Mapping[Lane, LaneSize] = {
            "usual": LaneSize(threads=workers + 2, samples=1),
            "loops": LaneSize(threads=(MOST_SUPERVISORS - 1) * workers, samples=1),
        }
        self._tasks: Mapping[str, CodeTask] = run.tasks
        self._protocol = run.benchmark.protocols[run.protocol].with_timeout(run.options.timeout)
        self._limits = limits_of(run.options, self._protocol.timeout, run.tasks.values())
        self._spool, self._stack = Spool(), contextlib.ExitStack()
        self._states = States(self._spool)
        self._executor = open_local(run.options, self._limits, run.observer, self._protocol.python or None)
        self._executor.queue.loop_delay = LOOP_DELAY
        self._settler = Settler(self._executor, Silent())
        self._recording: set[str] = set()
        """The tasks that some thread is recording."""
        self._recorded = threading.Condition()

    def __enter__(self) -> Self:
        self._stack.enter_context(self._spool)
        self._stack.enter_context(self._executor)
        # Each call of `score` lints a few programs, and all of them together many.
        self._executor.begin(lint=FEW_LINTS + 1 if self._protocol.lint else 0)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def abort(self) -> None:
        """End all sandboxes: calls of `score` fail, now and later."""
        self._executor.finish()

    def forget(self, qid: str) -> None:
        """Forget what is known of a task."""
        self._states.forget(qid)

    @property
    def lost(self) -> int:
        """Number of sandboxes lost so far."""
        return self._executor.queue.lost

    def score(self, asked: Sequence[Asked]) -> list[SampleResult]:
        """Return one result per sample; raises InfrastructureError."""
        with Spool() as spool:
            lost = self._record({request.qid for request in asked}, spool)
            results: dict[int, SampleResult] = {}
            for place, request in enumerate(asked):
                if why := self._refusal(request, lost):
                    results[place] = _refused(request, why)
            rest = [place for place in range(len(asked)) if place not in results]
            results |= zip(rest, self._grade([asked[place] for place in rest], spool), strict=True)
        return [results[place] for place in range(len(asked))]

    # --- what is known of tasks ---

    def _record(self, qids: set[str], spool: Spool) -> Mapping[str, str]:
        """Find out what is needed of these tasks, each once for all threads; return task -> error."""
        with self._recorded:
            mine = sorted(qid for qid in qids - self._recording if not self._is_known(qid))
            self._recording |= set(mine)
        try:
            lost = self._find_out(mine, spool) if mine else {}
        finally:
            with self._recorded:
                self._recording -= set(mine)
                self._recorded.notify_all()
        with self._recorded:
            self._recorded.wait_for(lambda: not qids & self._recording)
        return lost | {
            qid: "another call failed to record them" for qid in qids - lost.keys() if not self._is_known(qid)
        }

    def _is_known(self, qid: str) -> bool:
        return bool(self._tasks[qid].broken) or qid in self._states

    def _find_out(self, qids: list[str], spool: Spool) -> dict[str, str]:
        """Record calls, and let reference solutions answer; return task -> error."""
        pipeline = Pipeline(self._tasks, self._settler, spool, self._limits, self._protocol, states=self._states)
        pipeline.prepare(qids, refuse_all=False)
        lost = {qid: state.why for qid in qids if isinstance(state := self._states[qid], Lost)}
        for qid in lost:
            self._states.forget(qid)
        return lost

    def _refusal(self, request: Asked, lost: Mapping[str, str]) -> tuple[str, str] | None:
        """Return why a sample is not graded, and whether it is the task's or the infrastructure's fault."""
        if self._tasks[request.qid].broken:
            return f"the task's row is broken: {self._tasks[request.qid].broken}", "task"
        if request.qid in lost:
            return f"the calls of its tests were not recorded: {lost[request.qid]}", "infrastructure"
        if why := self._states.broken.get(request.qid):
            return f"the task's reference solution does not pass, so no verdict would mean anything: {why}", "task"
        return None

    # --- grading ---

    def _grade(self, requests: Sequence[Asked], spool: Spool) -> Iterator[SampleResult]:
        settler, protocol = Settler(self._executor, Silent()), self._protocol
        if not any(request.official for request in requests):
            protocol = msgspec.structs.replace(protocol, harness="")
        asked = {"each": any(request.each for request in requests), "shown": any(r.printed for r in requests)}
        pipeline = Pipeline(self._tasks, settler, spool, self._limits, protocol, states=self._states, **asked)
        phases = Phases(pipeline, protocol, self._limits, settler)
        samples = phases.judge(self._attempts(requests))
        phases.run(sample for sample, request in zip(samples, requests, strict=True) if request.official)
        results = [self._result(sample, request) for sample, request in zip(samples, requests, strict=True)]
        for result in self._marked(results, requests):
            yield msgspec.structs.replace(result, sample=0)

    def _attempts(self, requests: Sequence[Asked]) -> Iterable[jobs.Attempt]:
        numbers: dict[str, int] = {}
        for request in requests:
            task, number = self._tasks[request.qid], numbers.get(request.qid, 0)
            numbers[request.qid] = number + 1
            if request.verbatim:
                program = Program(completion=request.text)
            else:
                program = assemble(request.text, *jobs.assembly_arguments(task, self._protocol))
            yield jobs.Attempt(task=task, sample=number, program=program)

    def _result(self, sample: Sample, request: Asked) -> SampleResult:
        """Return both readings, or only the careful one, equal to those of a run."""
        result = result_of(sample, self._protocol, is_official=request.official)
        result = msgspec.structs.replace(result, tests=_tests_of(sample, request))
        if request.printed and sample.readings is not None:
            outputs = [Printed(text=g.text, outcome=g.outcome.value, why=g.why) for g in sample.readings.outputs]
            result = msgspec.structs.replace(result, facts=ExecutionFacts(printed=outputs))
        return result if request.official else msgspec.structs.replace(result, official=NOT_ASKED)

    def _marked(self, results: list[SampleResult], requests: Sequence[Asked]) -> list[SampleResult]:
        """Add the oddities of the texts."""
        predictions: dict[str, list[str]] = {}
        for request in requests:
            predictions.setdefault(request.qid, []).append(request.text)
        tasks = {qid: self._tasks[qid] for qid in predictions}
        return with_oddities(results, oddities_of(tasks, predictions))


def _tests_of(sample: Sample, request: Asked) -> list[bool] | msgspec.UnsetType:
    """Return whether each test of a program that fails is right, if that was requested and is known."""
    right = sample.readings.right if sample.readings is not None else tests_of(sample.verdicts)
    return right if request.each and right else msgspec.UNSET


def _refused(request: Asked, why: tuple[str, str]) -> SampleResult:
    text, rule = why
    reading: Reading = msgspec.structs.replace(unscored(text), rule=rule)
    return SampleResult(qid=request.qid, sample=0, official=reading if request.official else NOT_ASKED, careful=reading)
