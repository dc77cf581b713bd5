"""Scoring by execution as samples arrive, in sandboxes where programs and tests never meet.

Any number of threads score a sample each. Sandboxes that run programs never get a test (`grader/sandbox/roles.py`).
"""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from typing import TYPE_CHECKING, Self

import msgspec

from grader.executors.local import open_local
from grader.observer import Silent
from grader.results import Outcome, SampleResult
from grader.sandbox.interface import FEW_LINTS
from grader.sandbox.queue import MAX_SUPERVISORS_PER_WORKER
from grader.scorers.execution.assembly import Program, assemble
from grader.scorers.execution.facts import Printed, facts_of
from grader.scorers.execution.job_runner import JobRunner
from grader.scorers.execution.phases import judge_samples, limits_of, run_officially, with_lint_keys
from grader.scorers.execution.pipeline import Pipeline
from grader.scorers.execution.reading import assertion_results, sample_result, unscored_reading
from grader.scorers.execution.sample import Sample, assembly_arguments
from grader.scorers.execution.spool import Spool
from grader.scorers.execution.states import NotPrepared, States
from grader.scorers.oddities import with_oddities
from grader.scorers.plain_sample_scorer import oddities_of
from grader.scorers.sample_scorer import NOT_REQUESTED, LaneSize

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from grader.results import Reading
    from grader.scorers.execution.declaration import ExecutionBenchmark
    from grader.scorers.execution.tasks import CodeTask
    from grader.scorers.interface import Run
    from grader.scorers.sample_scorer import Lane, ScoreRequest

EXTRA_THREADS = 2
"""Threads beyond the workers: while some wait for the judge, others keep the programs' sandboxes busy."""
LOOP_DELAY = 2.0
"""Seconds by which programs with a loop come after others: as long as most endless ones run."""


class ProgramScorer:
    """Scores samples of one benchmark. Use it as a context manager."""

    def __init__(self, run: Run[ExecutionBenchmark, CodeTask]) -> None:
        workers = run.options.worker_count
        # A thread waits for its program and then for its judge, so there are more threads than sandboxes that run
        # programs. Programs with loops may never end: they have fewer threads than there may be sandboxes
        # (`MAX_SUPERVISORS_PER_WORKER`), so others find one.
        self.lanes: Mapping[Lane, LaneSize] = {
            "usual": LaneSize(threads=workers + EXTRA_THREADS, samples=1),
            "loops": LaneSize(threads=(MAX_SUPERVISORS_PER_WORKER - 1) * workers, samples=1),
        }
        self._tasks: Mapping[str, CodeTask] = run.tasks
        self._protocol = run.benchmark.protocols[run.protocol].with_timeout(run.options.timeout)
        self._limits = limits_of(self._protocol, run.options.memory, run.tasks.values())
        self._stack = contextlib.ExitStack()
        self._spool = Spool()  # of the answers of reference solutions
        self._states = States(self._spool)
        self._executor = open_local(run.options, self._limits, run.observer, self._protocol.python or None)
        self._executor.queue.loop_delay = LOOP_DELAY
        self._runner = JobRunner(self._executor, Silent())
        self._locks: dict[str, threading.Lock] = {}
        """Task -> the lock of the thread that determines its state."""

    def __enter__(self) -> Self:
        self._stack.enter_context(self._spool)
        self._stack.enter_context(self._executor)
        # One call of `score` lints a few programs, but all calls together lint many, so all linters start.
        self._executor.begin(lint_jobs=FEW_LINTS + 1 if self._protocol.lint else 0)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def abort(self) -> None:
        """End all sandboxes: calls of `score` fail, now and later."""
        self._executor.finish()

    def forget(self, qid: str) -> None:
        """Forget what is known of a task."""
        self._states.forget(qid)
        self._locks.pop(qid, None)

    @property
    def lost_sandboxes(self) -> int:
        """Number of sandboxes lost so far."""
        return self._executor.queue.lost_supervisors

    def score(self, requests: Sequence[ScoreRequest]) -> list[SampleResult]:
        """Return one result per sample; raises InfrastructureError."""
        with Spool() as spool:
            errors = {qid: self._prepare(qid, spool) for qid in dict.fromkeys(request.qid for request in requests)}
            refusals = [self._refusal(request, errors) for request in requests]
            accepted = [request for request, refusal in zip(requests, refusals, strict=True) if refusal is None]
            graded = self._grade(accepted, spool)
            return [next(graded) if refusal is None else refusal for refusal in refusals]

    # --- what is known of tasks ---

    def _prepare(self, qid: str, spool: Spool) -> str:
        """Determine the state of a task, once for all threads; return why infrastructure failed to, or "".

        Calls are recorded, and reference solutions answer. What failed is tried again in the next call.
        """
        if self._tasks[qid].broken:
            return ""
        with self._locks.setdefault(qid, threading.Lock()):
            if qid not in self._states:
                pipeline = Pipeline(self._tasks, self._runner, spool, self._limits, self._protocol, states=self._states)
                pipeline.prepare([qid], refuse_if_all_fail=False)
            state = self._states[qid]
            if isinstance(state, NotPrepared):
                self._states.forget(qid)
                return state.reason
            return ""

    def _refusal(self, request: ScoreRequest, errors: Mapping[str, str]) -> SampleResult | None:
        """Return the result of a sample that is not graded; None if nothing is against grading it."""
        qid = request.qid
        if self._tasks[qid].broken:
            return _refusal_result(request, f"the task's row is broken: {self._tasks[qid].broken}", "task")
        if errors[qid]:
            reason = f"the calls of its tests were not recorded: {errors[qid]}"
            return _refusal_result(request, reason, "infrastructure")
        if why := self._states.reference_failures.get(qid):
            reason = f"the task's reference solution does not pass, so no verdict would mean anything: {why}"
            return _refusal_result(request, reason, "task")
        return None

    # --- grading ---

    def _grade(self, requests: Sequence[ScoreRequest], spool: Spool) -> Iterator[SampleResult]:
        """Yield the results of samples, whose tasks are prepared. What one request asks for is found out for all."""
        runner, protocol = JobRunner(self._executor, Silent()), self._protocol
        if not any(request.official for request in requests):
            # Nobody wants the official reading, so no program answers in the form of a published harness.
            protocol = msgspec.structs.replace(protocol, harness="")
        pipeline = Pipeline(
            self._tasks,
            runner,
            spool,
            self._limits,
            protocol,
            states=self._states,
            judges_assertions=any(request.each for request in requests),
            keeps_outputs=any(request.printed for request in requests),
        )
        samples = with_lint_keys(self._samples(requests), pipeline.context)
        judge_samples(samples, pipeline)
        with_official = [sample for sample, request in zip(samples, requests, strict=True) if request.official]
        run_officially(with_official, pipeline.context)
        results = [self._result(sample, request) for sample, request in zip(samples, requests, strict=True)]
        for result in self._with_oddities(results, requests):
            yield msgspec.structs.replace(result, sample=0)  # each request has one sample

    def _samples(self, requests: Sequence[ScoreRequest]) -> Iterable[Sample]:
        """Yield a sample for each request, numbered by task; a `verbatim` text is itself the program."""
        counts = Counter[str]()
        for request in requests:
            task = self._tasks[request.qid]
            if request.verbatim:
                program = Program(completion=request.text)
            else:
                program = assemble(request.text, *assembly_arguments(task, self._protocol))
            yield Sample(task, counts[request.qid], program)
            counts[request.qid] += 1

    def _result(self, sample: Sample, request: ScoreRequest) -> SampleResult:
        """Return both readings, or only the careful one, equal to those of a run."""
        result = sample_result(sample, self._protocol, with_official=request.official)
        if sample.task.memory_bytes > self._limits.sandbox_bytes:
            result = _without_memory_verdicts(result, sample.task.memory_bytes, self._limits.sandbox_bytes)
        result = msgspec.structs.replace(result, tests=_test_results(sample, request))
        if request.printed and sample.readings is not None:
            outputs = [Printed(text=o.text, outcome=o.outcome.value, why=o.why) for o in sample.readings.outputs]
            result = msgspec.structs.replace(result, facts=msgspec.structs.replace(facts_of(result), printed=outputs))
        return result if request.official else msgspec.structs.replace(result, official=NOT_REQUESTED)

    def _with_oddities(self, results: list[SampleResult], requests: Sequence[ScoreRequest]) -> list[SampleResult]:
        """Add the oddities of the texts."""
        predictions: dict[str, list[str]] = {}
        for request in requests:
            predictions.setdefault(request.qid, []).append(request.text)
        tasks = {qid: self._tasks[qid] for qid in predictions}
        return with_oddities(results, oddities_of(tasks, predictions))


def _test_results(sample: Sample, request: ScoreRequest) -> list[bool] | msgspec.UnsetType:
    """Return whether each test is right, if that was requested and is known; of assertions, only if a program fails."""
    readings = sample.readings
    right = assertion_results(sample.verdicts) if readings is None else readings.right_outputs
    return right if request.each and right else msgspec.UNSET


def _without_memory_verdicts(result: SampleResult, allowed: int, available: int) -> SampleResult:
    """Return a result that is unscored where it was "out of memory", because a sandbox has less than the task allows.

    A pool sets the memory of its sandboxes when it starts, by the tasks that it has then. Rows can come later.
    """
    reason = (
        f"it needs more memory than the pool's sandboxes have ({available >> 20} MB), but its task allows "
        f"{allowed >> 20} MB: start the pool with that much (memory=...)"
    )
    unscored = msgspec.structs.replace(unscored_reading(reason), rule="task")
    official, careful = (
        unscored if reading.outcome is Outcome.OUT_OF_MEMORY else reading
        for reading in (result.official, result.careful)
    )
    return msgspec.structs.replace(result, official=official, careful=careful)


def _refusal_result(request: ScoreRequest, reason: str, rule: str) -> SampleResult:
    reading: Reading = msgspec.structs.replace(unscored_reading(reason), rule=rule)
    return SampleResult(
        qid=request.qid, sample=0, official=reading if request.official else NOT_REQUESTED, careful=reading
    )
