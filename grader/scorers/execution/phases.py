"""Score by execution: assemble, lint, confirm and run; each sample gets both readings."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import msgspec

from grader.decisions import intervals
from grader.errors import UsageError
from grader.executors.choice import executor_of_run
from grader.files.json_text import quoted
from grader.results import Outcome, SampleResult, SandboxProvenance
from grader.sandbox.answer import Executed, Lint
from grader.sandbox.interface import FEW_LINTS, Limits
from grader.scorers.execution import jobs
from grader.scorers.execution.accepted import Accepted
from grader.scorers.execution.candidate import Apart, Confirmed
from grader.scorers.execution.computed import Computed
from grader.scorers.execution.confirming import Confirmation
from grader.scorers.execution.reading import official_result, sample_result
from grader.scorers.execution.sample import Sample
from grader.scorers.execution.settling import Settler
from grader.scorers.execution.spool import Spool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from grader.observer import Observer
    from grader.options import Options
    from grader.sandbox.interface import Job
    from grader.scorers.execution.assembly import Program
    from grader.scorers.execution.declaration import ExecutionProtocol
    from grader.scorers.execution.tasks import CodeTask

LINTING = "linting"
NAMED_TASKS = 10


class Executions(msgspec.Struct, kw_only=True):
    """The results of a run, sample by sample."""

    samples: list[SampleResult] = []
    completions: dict[str, list[str]] = {}
    results: dict[str, list[tuple[bool, str]]] = {}
    """qid -> (passed, official result text)."""
    sandbox: SandboxProvenance | None = None
    notes: list[str] = []


def wanted_k(asked: tuple[int, ...], counts: Mapping[str, int], protocol: ExecutionProtocol) -> tuple[int, ...]:
    """Return the ks to report; raises UsageError for a given k if some task has fewer samples."""
    task, fewest = min(counts.items(), key=lambda item: item[1], default=("", 0))
    if not asked:
        return tuple(sorted({1, protocol.k if fewest >= protocol.k else 1}))
    for k in asked:
        if k > fewest:
            raise UsageError(
                f"pass@{k} needs at least {k} samples of every task, and {quoted(task)} has only {fewest}: "
                f"there is no unbiased estimate. Give -k at most {fewest}."
            )
    return tuple(sorted(set(asked)))


@contextlib.contextmanager
def executing(
    tasks: Mapping[str, CodeTask],
    predictions: Mapping[str, list[str]],
    words: jobs.Texts,
    options: Options,
    observer: Observer,
) -> Iterator[Executions]:
    """Run every prediction and read it both ways. The sandboxes end while the caller's block runs.

    Raises InfrastructureError if no sandbox is available.
    """
    limits = limits_of(options)
    with executor_of_run(options, limits, observer, words.python or None) as executor, Spool() as spool:
        settler = Settler(executor, observer)
        run = Phases(Confirmation(tasks, settler, spool, limits), words, limits, settler)
        samples = run.all(_attempts(tasks, predictions, words, settler))
        executor.finish()
        made = _collect(samples, words)
        made.notes = _notes(run.unrecordable)
        made.sandbox = msgspec.structs.replace(
            executor.describe(),
            official_python=words.python,
            programs=len(samples),
            distinct_programs=len({sample.key for sample in samples}),
            verdicts_from_cache=settler.cached[LINTING],
        )
        yield made


def _attempts(
    tasks: Mapping[str, CodeTask], predictions: Mapping[str, list[str]], words: jobs.Texts, settler: Settler
) -> Iterator[jobs.Attempt]:
    """Yield every attempt. Then, while sandboxes start, there is time to load what the results will need."""
    yield from jobs.attempts(tasks, predictions, words, Computed(settler).program)
    if settler.has_begun:
        intervals.load()


def limits_of(options: Options) -> Limits:
    """Return the resource limits of one program."""
    return Limits(
        cpu_seconds=options.timeout, wall_seconds=max(20.0, 10 * options.timeout), memory_bytes=options.memory
    )


class Phases:
    """The phases of executing many attempts."""

    def __init__(self, confirmation: Confirmation, words: jobs.Texts, limits: Limits, settler: Settler) -> None:
        self._words, self._limits, self._settler = words, limits, settler
        self._confirmation = confirmation
        self._keys: dict[tuple[str, str, Program, bool], str] = {}
        """Kind of job, task, program, and whether it was not linted -> key."""

    def all(self, attempts: Iterable[jobs.Attempt]) -> list[Sample]:
        """Return every attempt with its observations.

        A program that runs with its tests can leave information about them behind in ways that no cleaning finds. So
        the official runs come last, when no careful verdict of this run is open.
        """
        samples = self.judge(attempts)
        self.run(samples)
        return samples

    def judge(self, attempts: Iterable[jobs.Attempt]) -> list[Sample]:
        """Return every attempt with its careful verdict; nothing has run officially yet."""
        samples = self._prepare(attempts)
        self._lint(samples)
        verdicts = self._confirmation.verdicts(c for sample in samples for c in sample.candidates)
        for sample in samples:
            written = None if sample.written is None else verdicts.get(sample.written)
            completion = verdicts.get(sample.completion, sample.apart.completion)
            sample.apart = Apart(completion=completion, written=written)
        return samples

    def run(self, samples: Iterable[Sample]) -> None:
        """Run samples officially. Every careful verdict must be known."""
        self._run([sample for sample in samples if not sample.refused])

    @property
    def unrecordable(self) -> dict[str, str]:
        """Task -> why it was not graded calls first."""
        return self._confirmation.unrecordable

    def _prepare(self, attempts: Iterable[jobs.Attempt]) -> list[Sample]:
        """Return the attempts as samples.

        Supervisors start as soon as one is needed, in parallel with assembling, which takes as long.
        """
        samples: list[Sample] = []
        seen: set[str] = set()
        missing = 0
        for attempt in attempts:
            sample = Sample(attempt)
            sample.key = self._key(sample, self._linting)
            samples.append(sample)
            if missing > FEW_LINTS or sample.key in seen:
                continue
            seen.add(sample.key)
            if not self._settler.has(sample.key):
                missing += 1
                if missing in {1, FEW_LINTS + 1}:
                    self._settler.begin(lint=missing if self._words.lint else 0)
        return samples

    def _linting(self, sample: Sample) -> Job:
        return jobs.lint_job(sample.attempt, self._words, self._limits)

    def _running(self, sample: Sample) -> Job:
        return jobs.run_job(sample.attempt, self._words, self._limits, gated=sample.lint is not None)

    def _key(self, sample: Sample, job: Callable[[Sample], Job]) -> str:
        """Return the cache key of a sample's job, computed once for all samples with the same program."""
        place = job.__name__, sample.attempt.task.id, sample.attempt.program, sample.lint is None
        if place not in self._keys:
            self._keys[place] = self._settler.key(job(sample))
        return self._keys[place]

    def _lint(self, samples: list[Sample]) -> None:
        """Lint every program, if the protocol requires it. Meanwhile, accepted programs can begin to answer."""
        if not self._words.lint:
            for sample in samples:
                sample.lint = Lint()
            return
        seen: dict[str, Lint | None] = {}
        accepted = Accepted(samples, lambda: self._settler.is_overlap_over)

        def take(key: str, executed: Executed) -> bool:
            seen[key] = executed.lint
            accepted.note(key, executed)
            return executed.lint is not None and not executed.lint.messages

        # Programs that may never end are linted first, so that they also answer first (see confirming.py).
        ordered = sorted(samples, key=lambda sample: "while" not in sample.attempt.program.completion)
        items = [(sample.key, sample) for sample in ordered]
        if self._settler.overlap(LINTING, items, self._linting, take, accepted.note):
            self._confirmation.answer(accepted)
        lost = self._settler.finish_overlap()
        for sample in samples:
            sample.lint = seen.get(sample.key)
            if sample.lint is None:
                sample.apart = Apart(completion=Confirmed(lost=lost.get(sample.key, "it was not linted")))

    def _run(self, samples: list[Sample]) -> None:
        """Run the programs with their tests, as the official evaluator does."""
        seen: dict[str, Executed] = {}

        def take(key: str, executed: Executed) -> bool:
            seen[key] = executed
            return executed.run is not None and executed.run.result == "passed"

        # A slow candidate will be slow again: it starts first, so that nothing waits for it at the end.
        ordered = sorted(samples, key=lambda s: -s.seconds)
        items = [(self._key(s, self._running), s) for s in ordered]
        lost = self._settler.settle("running official tests", items, self._running, take)
        for key, sample in items:
            sample.ran, sample.not_run = seen.get(key), lost.get(key, "")


def _collect(samples: list[Sample], words: jobs.Texts) -> Executions:
    made = Executions()
    for sample in samples:
        attempt, executed = sample.attempt, sample.executed
        qid = attempt.task.id
        result = sample_result(attempt, executed, sample.apart, sample.not_run, words)
        made.samples.append(result)
        made.completions.setdefault(qid, []).append(attempt.program.completion)
        text = official_result(executed, words) if executed is not None else "unscored"
        made.results.setdefault(qid, []).append((result.official.outcome is Outcome.PASSED, text))
    return made


def _notes(unrecordable: dict[str, str]) -> list[str]:
    """Return a note on the tasks that were not graded calls first."""
    if not unrecordable:
        return []
    named = "; ".join(f"{qid} ({why})" for qid, why in list(unrecordable.items())[:NAMED_TASKS])
    more = f"; and {len(unrecordable) - NAMED_TASKS} more" if len(unrecordable) > NAMED_TASKS else ""
    return [
        f"The calls of {len(unrecordable)} task{'s' * (len(unrecordable) > 1)} could not be recorded before any "
        f"program ran. Their tests ran while the programs were alive, so a program may have learned from them. "
        f"{named}{more}"
    ]
