"""Scoring by execution: assemble, gate, confirm, run; each sample in both readings."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from grader import resources
from grader.errors import UsageError
from grader.results import Outcome, SampleResult, SandboxProvenance
from grader.sandbox import choice
from grader.sandbox import verdict_cache as verdicts
from grader.sandbox.answer import Executed, Split, understand
from grader.sandbox.interface import Answer, Limits
from grader.sandbox.pool import Pool
from grader.scorers.execution import jobs
from grader.scorers.execution.reading import official_result, sample_result, unscored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from grader.observer import Observer
    from grader.options import Options
    from grader.sandbox.interface import Backend, Job
    from grader.scorers.execution.declaration import ExecutionProtocol
    from grader.scorers.execution.tasks import CodeTask

ANSWER_SECONDS = 180.0
"""No job takes longer: lint, official run and confirmation each have a wall limit well below this."""

CHECKING = "checking"


class Executions(msgspec.Struct, kw_only=True):
    """What came of a run, sample by sample."""

    samples: list[SampleResult] = []
    completions: dict[str, list[str]] = {}
    heads: dict[str, list[str]] = {}
    """qid -> programs, without the task's tests that follow each."""
    results: dict[str, list[tuple[bool, str]]] = {}
    """qid -> (passed, official result text)."""
    sandbox: SandboxProvenance | None = None


def wanted_k(asked: tuple[int, ...], counts: Iterable[int], protocol: ExecutionProtocol) -> tuple[int, ...]:
    """Return the ks to report; raises UsageError for an asked k that some task has too few samples for."""
    fewest = min(counts, default=0)
    if not asked:
        return tuple(sorted({1, protocol.k if fewest >= protocol.k else 1}))
    for k in asked:
        if k > fewest:
            raise UsageError(
                f"pass@{k} needs at least {k} samples of every task, and some task has only {fewest}: "
                f"there is no unbiased estimate. Give -k at most {fewest}."
            )
    return tuple(sorted(set(asked)))


def execute(
    tasks: Mapping[str, CodeTask],
    predictions: Mapping[str, list[str]],
    words: jobs.Texts,
    options: Options,
    observer: Observer,
) -> Executions:
    """Run every prediction and read it both ways; raises InfrastructureError where no sandbox can be had."""
    limits = Limits(
        cpu_seconds=options.timeout, wall_seconds=max(20.0, 10 * options.timeout), memory_bytes=options.memory
    )
    if options.cache and resources.cache_is_temporary():
        observer.message(
            f"Verdicts are kept in {resources.cache_folder()}, which may be gone tomorrow: your cache folder cannot be "
            "written (name another with XDG_CACHE_HOME)"
        )
    backend = choice.open_backend(options, limits, observer, words.python or None)
    run = _Run(backend, limits, words, options, observer)
    with _cache(options) as run.cache, _pool(backend, options, limits) as run.pool:
        return run.all(jobs.attempts(tasks, predictions, words))


class _closing:  # noqa: N801 - a context manager, used like contextlib.closing
    """Closes the verdict cache, interrupted or not: what is finished is what the next run resumes from."""

    def __init__(self, cache: verdicts.VerdictCache) -> None:
        self._cache = cache

    def __enter__(self) -> verdicts.VerdictCache:
        return self._cache

    def __exit__(self, *_: object) -> None:
        self._cache.close()


def _cache(options: Options) -> _closing:
    return _closing(verdicts.VerdictCache(verdicts.default_path() if options.cache else None))


def _pool(backend: Backend, options: Options, limits: Limits) -> Pool:
    seconds = ANSWER_SECONDS + 4 * limits.wall_seconds
    return Pool(backend, options.worker_count, seconds, fresh=options.isolation == "container")


class _Run:
    """One execution of many attempts: identical programs once, verdicts from the cache where it has them."""

    cache: verdicts.VerdictCache
    pool: Pool

    def __init__(
        self, backend: Backend, limits: Limits, words: jobs.Texts, options: Options, observer: Observer
    ) -> None:
        self._backend, self._limits, self._words = backend, limits, words
        self._options, self._observer = options, observer
        self._cached = Counter[str]()
        """Phase -> verdicts that came from the cache."""

    def all(self, attempts: Iterable[jobs.Attempt]) -> Executions:
        # A program that has run with its tests can leave word of them in ways no cleaning finds (which pages of a file
        # are in memory, the kernel's counters). So what confirms runs first, when nothing of this run has seen a test.
        samples = self._prepare(attempts)
        self._confirm(samples)
        self._recover([sample for sample in samples if sample.attempt.program.recovered is not None])
        self.pool.renew()
        self._grade([sample for sample in samples if not sample.refused])
        return self._collect(samples)

    def _prepare(self, attempts: Iterable[jobs.Attempt]) -> list[_Sample]:
        """Return the attempts, each with the key of the job that confirms it.

        Supervisors start as soon as one is known to be needed: assembling takes as long as that.
        """
        samples: list[_Sample] = []
        needed = False
        for attempt in attempts:
            sample = _Sample(attempt)
            sample.key = self._key(self._confirming(sample))
            samples.append(sample)
            if not needed and not self.cache.has(sample.key):
                needed = True
                self.pool.begin()
        return samples

    def _confirming(self, sample: _Sample) -> Job:
        return jobs.confirm_job(sample.attempt, self._words, self._limits)

    def _recovering(self, sample: _Sample) -> Job:
        return jobs.recovery_job(sample.attempt, self._words, self._limits)

    def _running(self, sample: _Sample) -> Job:
        return jobs.run_job(sample.attempt, self._words, self._limits, gated=sample.checked is not None)

    def _confirm(self, samples: list[_Sample]) -> None:
        """Lint every program, and run those that the linter lets through apart from their tests."""
        keys = [sample.key for sample in samples]
        seen, lost = self._settle(samples, keys, self._confirming, CHECKING)
        for sample in samples:
            sample.checked, sample.unchecked = seen.get(sample.key), lost.get(sample.key, "")

    def _recover(self, samples: list[_Sample]) -> None:
        """Run what the official assembly drops code of, with that code, apart from its tests."""
        if not samples:
            return
        keys = [self._key(self._recovering(sample)) for sample in samples]
        seen, _ = self._settle(samples, keys, self._recovering, "recovering dropped code")
        for sample, key in zip(samples, keys, strict=True):
            sample.recovered = seen[key].split if key in seen else None

    def _grade(self, samples: list[_Sample]) -> None:
        """Run the programs with their tests, as the official evaluator does."""
        # What took long will again: begun first, it is not waited for at the end.
        samples = sorted(samples, key=lambda sample: -sample.seconds)
        keys = [self._key(self._running(sample)) for sample in samples]
        seen, lost = self._settle(samples, keys, self._running, "grading")
        for sample, key in zip(samples, keys, strict=True):
            sample.ran, sample.not_run = seen.get(key), lost.get(key, "")

    def _key(self, job: Job) -> str:
        return verdicts.key(job, self._backend.identity, self._limits)

    def _settle(
        self, samples: list[_Sample], keys: list[str], job: Callable[[_Sample], Job], phase: str
    ) -> tuple[dict[str, Executed], dict[str, str]]:
        """Return key -> what was seen, and key -> why nothing was. Jobs are made as they are needed."""
        multiplicity = Counter(keys)
        self._observer.phase(phase, len(keys))
        seen: dict[str, Executed] = {}
        lost: dict[str, str] = {}
        todo: dict[str, _Sample] = {}
        for key, sample in zip(keys, samples, strict=True):
            if key in seen or key in todo:
                continue
            answer = self.cache.get(key)
            if answer is not None and self._take(seen, key, answer, multiplicity[key]):
                self._cached[phase] += multiplicity[key]
            else:
                todo[key] = sample
        for verdict in self.pool.run((key, job(sample)) for key, sample in todo.items()):
            times = multiplicity[verdict.key]
            if verdict.answer is not None and self._take(seen, verdict.key, verdict.answer, times):
                self.cache.put(verdict.key, verdict.answer)
            else:
                lost[verdict.key] = verdict.reason or "the supervisor's answer could not be understood"
                self._observer.advance(times)
        return seen, lost

    def _take(self, seen: dict[str, Executed], key: str, answer: Answer, times: int) -> bool:
        """Take in an answer; False where it is none."""
        try:
            seen[key] = understand(answer)
        except msgspec.ValidationError:
            return False
        self._observer.advance(times, passed=times * _credited(seen[key]))
        return True

    def _collect(self, samples: list[_Sample]) -> Executions:
        made = Executions()
        for sample in samples:
            attempt, executed = sample.attempt, sample.executed
            qid = attempt.task.id
            result = sample_result(attempt, executed, sample.recovered, sample.not_run, self._words)
            if sample.checked is None and result.official.outcome is Outcome.PASSED:
                result = msgspec.structs.replace(result, careful=unscored(sample.unchecked))
            made.samples.append(result)
            made.completions.setdefault(qid, []).append(attempt.program.completion)
            made.heads.setdefault(qid, []).append(attempt.program.head)
            text = official_result(executed, self._words) if executed is not None else "unscored"
            made.results.setdefault(qid, []).append((result.official.outcome is Outcome.PASSED, text))
        made.sandbox = msgspec.structs.replace(
            self._backend.describe(),
            official_python=self._words.python,
            workers=self._options.worker_count,
            cpu_seconds=self._limits.cpu_seconds,
            memory_bytes=self._limits.memory_bytes,
            programs=len(samples),
            distinct_programs=len({sample.key for sample in samples}),
            verdicts_from_cache=self._cached[CHECKING],
        )
        return made


class _Sample:
    """One attempt, and what was seen of it."""

    __slots__ = ("attempt", "checked", "key", "not_run", "ran", "recovered", "unchecked")

    def __init__(self, attempt: jobs.Attempt) -> None:
        self.attempt = attempt
        self.key = ""
        """Key of the job that lints and confirms it."""
        self.checked: Executed | None = None
        """What came of that; None: infrastructure failed, for the reason `unchecked`."""
        self.unchecked = ""
        self.recovered: Split | None = None
        self.ran: Executed | None = None
        """What came of the official run; None: it was refused, or infrastructure failed, for the reason `not_run`."""
        self.not_run = ""

    @property
    def refused(self) -> bool:
        """Whether the linter has spoken against the program, so that it does not run."""
        lint = self.checked.lint if self.checked is not None else None
        return lint is not None and bool(lint.messages or lint.broken)

    @property
    def seconds(self) -> float:
        """How long the confirming run took."""
        split = self.checked.split if self.checked is not None else None
        return split.evidence.wall if split is not None else 0.0

    @property
    def executed(self) -> Executed | None:
        """All that was seen; None where that is not enough for a verdict."""
        if self.refused:
            return self.checked
        if self.ran is None or self.checked is None:
            return self.ran
        return msgspec.structs.replace(self.checked, run=self.ran.run)


def _credited(executed: Executed) -> bool:
    return executed.split.confirmed if executed.split is not None else _passed(executed)


def _passed(executed: Executed) -> bool:
    return executed.run is not None and executed.run.result == "passed"
