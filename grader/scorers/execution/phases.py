"""Score by execution: assemble, lint, find the verdict apart from the tests, and run officially."""

from __future__ import annotations

import contextlib
import re
from collections import defaultdict
from typing import TYPE_CHECKING

import msgspec

from grader.errors import UsageError
from grader.executors.local import open_executor
from grader.files.json_text import quoted
from grader.options import Options
from grader.results import Outcome, SampleResult, SandboxProvenance
from grader.sandbox.answer import Executed, Lint, ProcessEvidence, ProgramRun
from grader.sandbox.interface import FEW_LINTS, Limits
from grader.scorers.execution import jobs
from grader.scorers.execution.candidate import Verdict, Verdicts
from grader.scorers.execution.facts import ExecutionFacts
from grader.scorers.execution.pipeline import Pipeline
from grader.scorers.execution.reading import NO_PROGRAM, official_result, sample_result, unscored
from grader.scorers.execution.sample import Sample
from grader.scorers.execution.settling import Settler
from grader.scorers.execution.spool import Spool
from grader.scorers.execution.states import Broken, Judged, Lost, NotJudged
from grader.scorers.execution.tested_tasks import ABSENT, lacking
from grader.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from grade_sandbox.jobs import Job

    from grader.observer import Observer
    from grader.scorers.execution.assembly import Program
    from grader.scorers.execution.declaration import ExecutionProtocol
    from grader.scorers.execution.tasks import CodeTask

LINTING = "linting"
NAMED_TASKS = 10
NOT_JUDGED = (
    "{tasks} not judged: the tests cannot judge programs that run apart from them, so careful metrics are over the "
    "other tasks. {named}."
)
BROKEN = "{tasks} judged without a reference solution, because it fails the tests: {named}. Correct the solution."
WITHOUT = (
    "{tasks} judged without a reference solution, so more weakly: answers that satisfy the tests by accident may count "
    "as passed. Add a column with solutions: {named}."
)
LACKING = (
    "{tasks} cannot be judged in this sandbox, so samples are unscored in both readings: the tests or the reference "
    "solution need a module that it does not have: {named}."
)
MODULES = (
    "The sandbox does not have these modules: {named}. A program that imports one fails, and where the task needs it, "
    "samples are unscored. `grade doctor` lists what it has; a benchmark's `requirements` add packages."
)
FAILED = "{tasks} failed, so samples are unscored. {named}"


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


def wanted_k(ks: tuple[int, ...], counts: Mapping[str, int], protocol: ExecutionProtocol) -> tuple[int, ...]:
    """Return the ks to report; raises UsageError for a given k if some task has fewer samples."""
    task, fewest = min(counts.items(), key=lambda item: item[1], default=("", 0))
    if not ks:
        return tuple(sorted({1, protocol.k if fewest >= protocol.k else 1}))
    for k in ks:
        if k > fewest:
            raise UsageError(
                f"pass@{k} needs at least {k} samples of every task, and {quoted(task)} has only {fewest}: "
                f"there is no unbiased estimate. Give -k at most {fewest}."
            )
    return tuple(sorted(set(ks)))


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
    limits = limits_of(options, protocol.timeout, tasks.values())
    with open_executor(options, limits, observer, protocol.python or None) as executor, Spool() as spool:
        settler = Settler(executor, observer)
        pipeline = Pipeline(tasks, settler, spool, limits, protocol)
        pipeline.prepare(_whole(tasks[qid] for qid, texts in predictions.items() if not texts))
        run = Phases(pipeline, protocol, limits, settler)
        samples = run.all(jobs.attempts(tasks, predictions, protocol, settler.program))
        executor.finish()
        executions = _collect(samples, protocol, lacking(pipeline.states))
        executions.notes = [*notes_of(pipeline), *missing_modules(executions.samples)]
        executions.not_judged = pipeline.states.why(NotJudged)
        executions.sandbox = msgspec.structs.replace(
            executor.describe(),
            official_python=protocol.python,
            programs=len(samples),
            distinct_programs=len({sample.key for sample in samples}),
            verdicts_from_cache=settler.cached[LINTING],
        )
        yield executions


def outside_careful(
    tasks: Mapping[str, CodeTask], protocol: ExecutionProtocol, options: Options, observer: Observer
) -> list[str]:
    """Return a note on tasks that are not judged, without running any prediction; raises InfrastructureError."""
    limits = limits_of(options, protocol.timeout, tasks.values())
    with open_executor(options, limits, observer, protocol.python or None) as executor, Spool() as spool:
        pipeline = Pipeline(tasks, Settler(executor, observer), spool, limits, protocol)
        pipeline.prepare(_whole(tasks.values()), refuse_all=False)
        executor.finish()
        without = lacking(pipeline.states)
        outside = _without(pipeline.states.why(NotJudged), without)
        return _notes([(LACKING, _reason_lines(without)), (NOT_JUDGED, _reason_lines(outside))])


def limits_of(options: Options, usual: float = 0.0, tasks: Iterable[CodeTask] = ()) -> Limits:
    """Return the resource limits of one program. `usual`: the protocol's seconds, if `--timeout` gives no others."""
    is_given = options.timeout != Options().timeout
    seconds = options.timeout if is_given or not usual else usual
    return Limits(
        cpu_seconds=seconds,
        wall_seconds=max(20.0, 10 * seconds),
        memory_bytes=options.memory,
        most_memory_bytes=max((task.memory_bytes for task in tasks), default=0),
    )


class Phases:
    """The phases of executing many attempts."""

    def __init__(self, pipeline: Pipeline, protocol: ExecutionProtocol, limits: Limits, settler: Settler) -> None:
        self._pipeline, self._protocol, self._limits, self._settler = pipeline, protocol, limits, settler
        self._keys: dict[tuple[str, str, Program, bool], tuple[str, Job]] = {}
        """Kind of job, task, program, and whether it was not linted -> key and job."""

    def all(self, attempts: Iterable[jobs.Attempt]) -> list[Sample]:
        """Return every attempt with its observations.

        A program that runs with its tests can leave information about them behind in ways that no cleaning finds. So
        the official runs come last, when no careful verdict of this run is open.
        """
        samples = self.judge(attempts)
        self.run(samples)
        return samples

    def judge(self, attempts: Iterable[jobs.Attempt]) -> list[Sample]:
        """Return every attempt with its verdicts; nothing has run officially yet."""
        samples = self._prepare(attempts)
        # All tasks, also those whose programs are all refused: none of their calls is right. Pylint loads meanwhile.
        self._pipeline.prepare(sample.attempt.task.id for sample in samples)
        self._lint(samples)
        verdicts = self._pipeline.verdicts(candidate for sample in samples for candidate in sample.candidates)
        for sample in samples:
            state = self._pipeline.states.get(sample.attempt.task.id)
            why = state.why if isinstance(state, NotJudged) else ""
            if not sample.has_inputs and not isinstance(state, Judged):
                lost = state.why if isinstance(state, Lost) else ""
                unknown = Verdict(lost=f"the calls of its tests were not recorded: {lost}")
                sample.verdicts = Verdicts(completion=unknown, not_judged=why)
                continue
            whole = None if sample.whole is None else verdicts.get(sample.whole)
            completion = verdicts.get(sample.completion, sample.verdicts.completion)
            calls = len(state.calls) if isinstance(state, Judged) and not sample.has_inputs else 0
            sample.verdicts = Verdicts(completion=completion, whole=whole, not_judged=why, calls=calls)
        return samples

    def run(self, samples: Iterable[Sample]) -> None:
        """Run samples officially. Every careful verdict must be known.

        A program may use up its time in a call that its tests make, and not go on when it is told so. Officially, it
        would end in the same call. Such programs are the main cost of real runs, so they do not run again.
        """
        open_ = [sample for sample in samples if not sample.refused and not sample.has_inputs]
        for sample in open_:
            if sample.verdicts.completion.is_late:
                sample.ran = self._timed_out(sample)
        self._run([sample for sample in open_ if sample.ran is None])

    def _timed_out(self, sample: Sample) -> Executed:
        seconds = sample.attempt.task.seconds or self._limits.cpu_seconds
        judgement = sample.verdicts.completion.judgement
        assert judgement is not None
        stopped, used = judgement.evidence.stopped, min(judgement.evidence.cpu, seconds)
        evidence = ProcessEvidence(stopped=stopped, status=None, cpu=used, wall=seconds, waited=0.0, oom=False)
        run = ProgramRun(evidence=evidence, result=self._protocol.timed_out, kind="timeout")
        return Executed(lint=sample.lint, run=run)

    def _prepare(self, attempts: Iterable[jobs.Attempt]) -> list[Sample]:
        """Return the attempts as samples.

        Supervisors start as soon as one is needed, in parallel with assembling, which takes as long.
        """
        samples: list[Sample] = []
        keys: set[str] = set()
        missing = 0
        for attempt in attempts:
            sample = Sample(attempt)
            sample.key, _ = self._job(sample, self._linting)
            samples.append(sample)
            if missing > FEW_LINTS or sample.key in keys:
                continue
            keys.add(sample.key)
            if not self._settler.executor.cache.has(sample.key):
                missing += 1
                if missing in {1, FEW_LINTS + 1}:
                    self._settler.executor.begin(lint=missing if self._protocol.lint else 0)
        return samples

    def _linting(self, sample: Sample) -> Job:
        return jobs.lint_job(sample.attempt, self._protocol, self._limits)

    def _running(self, sample: Sample) -> Job:
        return jobs.run_job(sample.attempt, self._protocol, self._limits, gated=sample.lint is not None)

    def _job(self, sample: Sample, job: Callable[[Sample], Job]) -> tuple[str, Job]:
        """Return a sample's job with its key, made once for all samples with the same program."""
        place = job.__name__, sample.attempt.task.id, sample.attempt.program, sample.lint is None
        if place not in self._keys:
            made = job(sample)
            self._keys[place] = self._settler.key(made), made
        return self._keys[place]

    def _lint(self, samples: list[Sample]) -> None:
        """Lint every program, if the protocol requires it."""
        if not self._protocol.lint:
            for sample in samples:
                sample.lint = Lint()
            return
        results = dict(self._settler.settle(LINTING, [self._job(sample, self._linting) for sample in samples]))
        for sample in samples:
            result = results.get(sample.key, "")
            sample.lint = result.lint if isinstance(result, Executed) else None
            if sample.lint is None:
                lost = result if isinstance(result, str) else ""
                sample.verdicts = Verdicts(completion=Verdict(lost=lost or "it was not linted"))

    def _run(self, samples: list[Sample]) -> None:
        """Run the programs with their tests, as the official evaluator does."""
        # A slow candidate will be slow again: it starts first, so that nothing waits for it at the end.
        ordered = sorted(samples, key=lambda s: -s.seconds)
        made = [self._job(s, self._running) for s in ordered]
        results = dict(self._settler.settle("running official tests", made))
        for (key, _), sample in zip(made, ordered, strict=True):
            result = results.get(key, "")
            sample.ran, sample.not_run = (None, result) if isinstance(result, str) else (result, "")


def _collect(samples: list[Sample], protocol: ExecutionProtocol, without: Mapping[str, str]) -> Executions:
    executions = Executions()
    for sample in samples:
        attempt, executed = sample.attempt, sample.executed
        qid = attempt.task.id
        result = result_of(sample, protocol)
        if qid in without:
            lost = unscored(f"{ABSENT}'{without[qid]}': the task needs it, and the sandbox does not have it")
            result = msgspec.structs.replace(result, official=lost, careful=lost)
        executions.samples.append(result)
        executions.completions.setdefault(qid, []).append(attempt.program.completion)
        text = official_result(executed, protocol) if executed is not None else "unscored"
        if sample.readings is not None:
            text = sample.readings.text
        executions.results.setdefault(qid, []).append((result.official.outcome is Outcome.PASSED, text))
    return executions


def result_of(sample: Sample, protocol: ExecutionProtocol, *, is_official: bool = True) -> SampleResult:
    """Return both readings of a sample, or only the careful one."""
    attempt, found = sample.attempt, sample.readings
    if found is None:
        reason = sample.not_run if is_official else None
        return sample_result(attempt, sample.executed, sample.verdicts, reason, protocol)
    return SampleResult(
        qid=attempt.task.id,
        sample=attempt.sample,
        seconds=found.seconds,
        official=found.official,
        careful=NO_PROGRAM if attempt.program.is_missing and not sample.verdicts.not_judged else found.careful,
        groups=attempt.task.groups or msgspec.UNSET,
        calls=found.calls,
        facts=msgspec.UNSET if found.base is None else ExecutionFacts(base=found.base),
    )


def notes_of(pipeline: Pipeline) -> list[str]:
    """Return notes on tasks whose verdicts are weaker, or whose samples are unscored, and why."""
    inputs, states = pipeline.inputs, pipeline.states
    without, failed = lacking(states), states.why(Broken)
    return _notes(
        [
            (LACKING, _reason_lines(without)),
            (NOT_JUDGED, _reason_lines(_without(states.why(NotJudged), without))),
            (BROKEN, _reason_lines(_without(_without(states.broken, without), failed))),
            (WITHOUT, pipeline.without_reference),
            (f"The checker of {FAILED}", _fault_lines(inputs.failed_checkers)),
            (f"The reference solution of {FAILED}", _fault_lines(failed)),
        ]
    )


def missing_modules(samples: Iterable[SampleResult]) -> list[str]:
    """Return a note on the modules that programs or tasks lacked, with the number of samples and tasks of each."""
    tasks: dict[str, list[str]] = defaultdict(list)
    for sample in samples:
        for name in set(_LACKED.findall(f"{sample.official.detail} {sample.careful.detail}")):
            tasks[name].append(sample.qid)
    named = [
        f"{name}: {counted(len(qids), 'sample')} of {counted(len(set(qids)), 'task')}"
        for name, qids in sorted(tasks.items(), key=lambda item: -len(item[1]))
    ]
    return _notes([(MODULES, named)])


_LACKED = re.compile(rf"{ABSENT}'(\w+)")


def _whole(tasks: Iterable[CodeTask]) -> list[str]:
    return [task.id for task in tasks if not task.broken]


def _without(tasks: Mapping[str, str], others: Mapping[str, str]) -> dict[str, str]:
    return {qid: why for qid, why in tasks.items() if qid not in others}


def _notes(found: Iterable[tuple[str, list[str]]]) -> list[str]:
    return [text.format(tasks=counted(len(named), "task"), named=_named(named)) for text, named in found if named]


def _reason_lines(tasks: Mapping[str, str]) -> list[str]:
    return [f"{qid} ({why})" for qid, why in tasks.items()]


def _fault_lines(tasks: Mapping[str, str]) -> list[str]:
    return [f"{quoted(qid)}: {why}" for qid, why in tasks.items()]


def _named(texts: list[str]) -> str:
    more = f"; and {len(texts) - NAMED_TASKS} more" if len(texts) > NAMED_TASKS else ""
    return "; ".join(texts[:NAMED_TASKS]) + more
