"""Score by execution: assemble, lint, find the verdict apart from the tests, and run officially."""

from __future__ import annotations

import contextlib
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from grader.executors.local import open_executor
from grader.results import Outcome, SampleResult, SandboxProvenance
from grader.sandbox.answer import Executed, Lint, ProcessEvidence, ProgramRun
from grader.sandbox.interface import FEW_LINTS, Limits
from grader.scorers.execution import jobs
from grader.scorers.execution.candidate import Verdict, Verdicts
from grader.scorers.execution.job_runner import JobRunner
from grader.scorers.execution.notes import (
    NO_MODULE,
    missing_module_notes,
    notes_on_unjudged_tasks,
    task_notes,
    tasks_without_module,
)
from grader.scorers.execution.pipeline import Pipeline
from grader.scorers.execution.reading import official_result, sample_result, unscored_reading
from grader.scorers.execution.sample import assemble_samples
from grader.scorers.execution.spool import Spool
from grader.scorers.execution.states import Judgeable, NotJudgeable, NotPrepared

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from grade_sandbox.jobs import Job

    from grader.observer import Observer
    from grader.options import Options
    from grader.scorers.execution.answering import Context
    from grader.scorers.execution.candidate import Candidate
    from grader.scorers.execution.declaration import ExecutionProtocol
    from grader.scorers.execution.sample import Sample
    from grader.scorers.execution.states import State
    from grader.scorers.execution.tasks import CodeTask

LINTING = "linting"
MIN_WALL_SECONDS, WALL_FACTOR = 20.0, 10
"""Minimum wall time of a program, and for a second of its CPU time: waiting for a busy machine is not its fault."""


class Executions(msgspec.Struct, kw_only=True):
    """The results of a run, sample by sample."""

    samples: list[SampleResult] = []
    completions: dict[str, list[str]] = {}
    not_judged: dict[str, str] = {}
    """Task -> why it is outside the careful reading."""
    results: dict[str, list[tuple[bool, str]]] = {}
    """qid -> (passed, official result text)."""
    sandbox: SandboxProvenance | None = None
    notes: list[str] = []


@contextlib.contextmanager
def executing(
    tasks: Mapping[str, CodeTask],
    predictions: Mapping[str, list[str]],
    protocol: ExecutionProtocol,
    options: Options,
    observer: Observer,
) -> Iterator[Executions]:
    """Run every prediction and read it both ways. The sandboxes end while the caller's block runs.

    Raises InfrastructureError if no sandbox is available.
    """
    limits = limits_of(protocol, options.memory, tasks.values())
    with open_executor(options, limits, observer, protocol.python or None) as executor, Spool() as spool:
        runner = JobRunner(executor, observer)
        pipeline = Pipeline(tasks, runner, spool, limits, protocol)
        # `judge_samples` prepares the tasks of samples. A task without a prediction can have faults, too.
        pipeline.prepare(qid for qid, texts in predictions.items() if not texts and not tasks[qid].broken)
        samples = with_lint_keys(assemble_samples(tasks, predictions, protocol, runner.assemble), pipeline.context)
        judge_samples(samples, pipeline)
        # A program that runs with its tests can leave information about them behind in ways that no cleaning finds. So
        # the official runs come last, when no careful verdict of this run is open.
        run_officially(samples, pipeline.context)
        executor.finish()
        executions = _executions(samples, protocol, tasks_without_module(pipeline.states))
        executions.notes = [*task_notes(samples, pipeline), *missing_module_notes(executions.samples)]
        executions.not_judged = pipeline.states.reasons(NotJudgeable)
        executions.sandbox = msgspec.structs.replace(
            executor.describe(),
            official_python=protocol.python,
            programs=len(samples),
            distinct_programs=len({sample.lint_key for sample in samples}),
            verdicts_from_cache=runner.cache_hits[LINTING],
        )
        yield executions


def unjudged_task_notes(
    tasks: Mapping[str, CodeTask], protocol: ExecutionProtocol, options: Options, observer: Observer
) -> list[str]:
    """Return notes on tasks that are not judged, without running any prediction; raises InfrastructureError."""
    limits = limits_of(protocol, options.memory, tasks.values())
    with open_executor(options, limits, observer, protocol.python or None) as executor, Spool() as spool:
        pipeline = Pipeline(tasks, JobRunner(executor, observer), spool, limits, protocol)
        pipeline.prepare((qid for qid, task in tasks.items() if not task.broken), refuse_if_all_fail=False)
        executor.finish()
        return notes_on_unjudged_tasks(pipeline.states)


def limits_of(protocol: ExecutionProtocol, memory: int, tasks: Iterable[CodeTask]) -> Limits:
    """Return the resource limits of one program, whose memory is in bytes."""
    return Limits(
        cpu_seconds=protocol.timeout,
        wall_seconds=max(MIN_WALL_SECONDS, WALL_FACTOR * protocol.timeout),
        memory_bytes=memory,
        # A sandbox must have enough for the programs of any task.
        max_memory_bytes=max((task.memory_bytes for task in tasks), default=0),
    )


def with_lint_keys(samples: Iterable[Sample], context: Context) -> list[Sample]:
    """Return samples with the keys of their lint jobs.

    Starting sandboxes takes as long as assembling samples, so it begins meanwhile: with one linter for the first
    program without a cached result, and all others if there are more such programs than it lints alone (`FEW_LINTS`).
    """
    executor, protocol = context.runner.executor, context.protocol
    listed: list[Sample] = []
    new_keys: set[str] = set()
    for sample in samples:
        sample.lint_key = context.runner.key(_lint_job(sample, context))
        listed.append(sample)
        all_begun = len(new_keys) > FEW_LINTS
        if not all_begun and sample.lint_key not in new_keys and not executor.cache.has(sample.lint_key):
            new_keys.add(sample.lint_key)
            if len(new_keys) in {1, FEW_LINTS + 1}:
                executor.begin(lint_jobs=len(new_keys) if protocol.lint else 0)
    return listed


def judge_samples(samples: Sequence[Sample], pipeline: Pipeline) -> None:
    """Lint samples and reach their verdicts; nothing runs officially."""
    # Also tasks whose programs are all refused are prepared, because `calls_right` needs the number of their calls. The
    # linter's sandboxes load Pylint meanwhile.
    pipeline.prepare(sample.task.id for sample in samples)
    _lint(samples, pipeline.context)
    verdicts = pipeline.verdicts(candidate for sample in samples for candidate in sample.candidates)
    for sample in samples:
        sample.verdicts = _sample_verdicts(sample, pipeline.states.get(sample.task.id), verdicts)


def _sample_verdicts(sample: Sample, state: State | None, verdicts: Mapping[Candidate, Verdict]) -> Verdicts:
    """Return the verdicts on a sample's programs; on a completion that was not linted, the one that it already has."""
    not_judged = state.reason if isinstance(state, NotJudgeable) else ""
    has_tests = not sample.has_inputs
    if has_tests and not isinstance(state, Judgeable):
        error = state.reason if isinstance(state, NotPrepared) else ""
        unknown = Verdict(infrastructure_error=f"the calls of its tests were not recorded: {error}")
        return Verdicts(completion=unknown, not_judged=not_judged)
    return Verdicts(
        completion=verdicts.get(sample.completion, sample.verdicts.completion),
        recovered_completion=None if sample.recovered_completion is None else verdicts.get(sample.recovered_completion),
        not_judged=not_judged,
        call_count=len(state.calls) if has_tests and isinstance(state, Judgeable) else 0,
    )


def run_officially(samples: Iterable[Sample], context: Context) -> None:
    """Run samples with their tests, as the official evaluator does. Every careful verdict must be known.

    Programs that used up their time in a call, and did not stop when they were told to, do not run again: officially,
    they would time out in the same call. They are the main cost of real runs.
    """
    running = []
    for sample in samples:
        # With inputs there are no tests: the comparison of the answers has given the official reading, too.
        if sample.is_refused or sample.has_inputs:
            continue
        if sample.verdicts.completion.is_official_timeout:
            sample.official_run = _timeout_as_official_result(sample, context)
        else:
            running.append(sample)
    # A slow candidate will be slow again: it starts first, so that nothing waits for it at the end.
    running.sort(key=lambda sample: -sample.seconds)
    jobs_by_key = [(context.runner.key(job), job) for job in (_run_job(sample, context) for sample in running)]
    results = dict(context.runner.run("running official tests", jobs_by_key))
    for (key, _), sample in zip(jobs_by_key, running, strict=True):
        result = results.get(key, "")
        if isinstance(result, str):
            sample.official_failure = result
        else:
            sample.official_run = result


def _timeout_as_official_result(sample: Sample, context: Context) -> Executed:
    """Return the result that the official run would have: a timeout, with the CPU time of the separate run."""
    seconds = sample.task.program_seconds(context.limits)
    judgement = sample.verdicts.completion.judgement
    assert judgement is not None
    separate = judgement.evidence
    cpu = min(separate.cpu, seconds)
    evidence = ProcessEvidence(stopped=separate.stopped, status=None, cpu=cpu, wall=seconds, waited=0.0, oom=False)
    run = ProgramRun(evidence=evidence, result=context.protocol.timed_out, kind="timeout")
    return Executed(lint=sample.lint, run=run)


def _lint_job(sample: Sample, context: Context) -> Job:
    return jobs.lint_job(sample.task, sample.program.completion, context.protocol, context.limits)


def _run_job(sample: Sample, context: Context) -> Job:
    is_linted = sample.lint is not None
    return jobs.run_job(sample.task, sample.program.completion, context.protocol, context.limits, is_linted=is_linted)


def _lint(samples: Sequence[Sample], context: Context) -> None:
    """Lint every program, if the protocol requires it."""
    if not context.protocol.lint:
        for sample in samples:
            sample.lint = Lint()
        return
    lint_jobs = [(sample.lint_key, partial(_lint_job, sample, context)) for sample in samples]
    results = dict(context.runner.run(LINTING, lint_jobs))
    for sample in samples:
        result = results.get(sample.lint_key)
        sample.lint = result.lint if isinstance(result, Executed) else None
        if sample.lint is None:
            error = result if isinstance(result, str) else ""
            sample.verdicts = Verdicts(completion=Verdict(infrastructure_error=error or "it was not linted"))


def _executions(samples: list[Sample], protocol: ExecutionProtocol, modules: Mapping[str, str]) -> Executions:
    """Return the results of a run. `modules`: task -> the module that it needs and the sandbox does not have."""
    executions = Executions()
    for sample in samples:
        qid = sample.task.id
        result = sample_result(sample, protocol)
        if qid in modules:
            why = f"{NO_MODULE}'{modules[qid]}': the task needs it, and the sandbox does not have it"
            reading = unscored_reading(why)
            result = msgspec.structs.replace(result, official=reading, careful=reading)
        executions.samples.append(result)
        executions.completions.setdefault(qid, []).append(sample.program.completion)
        text = _official_text(sample, protocol)
        executions.results.setdefault(qid, []).append((result.official.outcome is Outcome.PASSED, text))
    return executions


def _official_text(sample: Sample, protocol: ExecutionProtocol) -> str:
    """Return a sample's result as the official evaluator writes it."""
    if sample.readings is not None:
        return sample.readings.official_text
    observation = sample.official_observation
    return "unscored" if observation is None else official_result(observation, protocol)
