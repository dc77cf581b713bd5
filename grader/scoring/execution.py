"""Scoring by execution: assemble, gate, run, confirm; pass@k and the parsing success rate in both readings."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from grader import cache as verdicts
from grader import stats
from grader.code import jobs
from grader.code.pass_at_k import pass_at_k
from grader.errors import InputError, UsageError
from grader.reading.execution import official_result, sample_result, unscored
from grader.results import READINGS, Metric, Outcome, ReadingName, SampleResult
from grader.sandbox import choice
from grader.sandbox.answer import Executed, Split, understand
from grader.sandbox.interface import Answer, Limits
from grader.sandbox.pool import Pool

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grader.benchmark import Benchmark, Protocol
    from grader.data import Rows
    from grader.observer import Observer
    from grader.options import Options
    from grader.sandbox.interface import Backend, Job

ANSWER_SECONDS = 180.0
"""No job takes longer: lint, official run and confirmation each have a wall limit well below this."""


class Executions(msgspec.Struct, kw_only=True):
    """What came of a run, sample by sample."""

    samples: list[SampleResult] = []
    completions: dict[str, list[str]] = {}
    programs: dict[str, list[str]] = {}
    results: dict[str, list[tuple[bool, str]]] = {}
    """qid -> (passed, official result text)."""
    environment: dict[str, object] = {}


def tasks_from(rows: Rows, benchmark: Benchmark) -> dict[str, jobs.Task]:
    """Turn rows into tasks; raises InputError naming every row that lacks something."""
    columns = benchmark.columns
    if columns.signature is None or columns.tests is None:
        raise InputError(
            [f"{benchmark.id}/benchmark.toml: scoring by execution needs columns.signature and columns.tests"]
        )
    tasks: dict[str, jobs.Task] = {}
    problems = []
    for number, row in enumerate(rows.rows, 1):
        lacking = [
            name for name in (columns.id, columns.signature, columns.tests) if not isinstance(row.get(name), str)
        ]
        if lacking:
            problems.append(f"{rows.origin}: row {number} has no text in {', '.join(lacking)}")
            continue
        qid = row[columns.id]
        if qid in tasks:
            problems.append(f"{rows.origin}: row {number}: task {qid!r} stands twice")
        groups = {name: labels for name in columns.groups if (labels := _labels(row.get(name)))}
        tasks[qid] = jobs.task(qid, row[columns.signature], row[columns.tests], groups)
    if problems:
        raise InputError(problems[:50])
    return tasks


def _labels(value: object) -> str | list[str] | None:
    """Return a column's label or labels: of a mapping, the keys that have something."""
    if isinstance(value, dict):
        return [str(key) for key, item in value.items() if item] or None
    if isinstance(value, list):
        return [str(item) for item in value] or None
    return str(value) if value not in (None, "") else None


def wanted_k(asked: tuple[int, ...], counts: Iterable[int], protocol: Protocol) -> tuple[int, ...]:
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
    tasks: dict[str, jobs.Task],
    predictions: dict[str, list[str]],
    words: jobs.Texts,
    options: Options,
    observer: Observer,
) -> Executions:
    """Run every prediction and read it both ways; raises InfrastructureError where no sandbox can be had."""
    limits = Limits(
        cpu_seconds=options.timeout, wall_seconds=max(20.0, 10 * options.timeout), memory_bytes=options.memory
    )
    backend = choice.open_backend(options, limits, observer)
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
        self._cached = 0

    def all(self, assembled: Iterable[jobs.Attempt]) -> Executions:
        attempts, keyed = self._prepare(assembled)
        keys = [key for key, _ in keyed]
        # A program that has run with its tests can leave word of them in ways no cleaning finds (which pages of a file
        # are in memory, the kernel's counters). So what confirms runs first, when nothing of this run has seen a test.
        checked, unchecked = self._settle(keyed, "checking")
        recovered = self._recover([a for a in attempts if a.program.recovered is not None])
        self.pool.renew()
        open_ = [(a, key) for a, key in zip(attempts, keys, strict=True) if not _refused(checked.get(key))]
        # What took long will again: begun first, it is not waited for at the end.
        open_.sort(key=lambda pair: -_seconds(checked.get(pair[1])))
        batch = [jobs.run_job(a, self._words, self._limits, gated=key in checked) for a, key in open_]
        keyed = self._keyed(batch)
        ran, lost = self._settle(keyed, "grading")
        run_key = {(a.task.qid, a.sample): name for (a, _), (name, _) in zip(open_, keyed, strict=True)}
        made = _Collected(recovered=recovered, distinct=len(set(keys)))
        for attempt, key in zip(attempts, keys, strict=True):
            first, name = checked.get(key), run_key.get((attempt.task.qid, attempt.sample))
            if name is None:
                made.add(attempt, first)
            elif name not in ran:
                made.add(attempt, None, lost=lost.get(name, ""))
            elif first is None:
                made.add(attempt, ran[name], unconfirmed=unchecked.get(key, ""))
            else:
                made.add(attempt, msgspec.structs.replace(first, run=ran[name].run))
        return self._collect(made)

    def _prepare(self, assembled: Iterable[jobs.Attempt]) -> tuple[list[jobs.Attempt], list[tuple[str, Job]]]:
        """Return the attempts, and the jobs that confirm them with their keys.

        Supervisors start as soon as one is known to be needed: assembling takes as long as that.
        """
        attempts: list[jobs.Attempt] = []
        keyed: list[tuple[str, Job]] = []
        needed = False
        for attempt in assembled:
            attempts.append(attempt)
            keyed += self._keyed([jobs.confirm_job(attempt, self._words, self._limits)])
            if not needed and not self.cache.has(keyed[-1][0]):
                needed = True
                self.pool.begin()
        return attempts, keyed

    def _recover(self, attempts: list[jobs.Attempt]) -> dict[tuple[str, int], Split | None]:
        """Run what the official assembly drops code of, with that code, apart from its tests; by sample."""
        if not attempts:
            return {}
        keyed = self._keyed([jobs.recovery_job(a, self._words, self._limits) for a in attempts])
        seen, _ = self._settle(keyed, "recovering dropped code")
        return {
            (a.task.qid, a.sample): seen[key].split for a, (key, _) in zip(attempts, keyed, strict=True) if key in seen
        }

    def _keyed(self, batch: list[Job]) -> list[tuple[str, Job]]:
        return [(verdicts.key(job, self._backend.identity, self._limits), job) for job in batch]

    def _settle(self, keyed: list[tuple[str, Job]], phase: str) -> tuple[dict[str, Executed], dict[str, str]]:
        """Return key -> what was seen, and key -> why nothing was, of a batch."""
        multiplicity = Counter(key for key, _ in keyed)
        self._observer.phase(phase, len(keyed))
        seen: dict[str, Executed] = {}
        lost: dict[str, str] = {}
        todo: dict[str, Job] = {}
        for key, job in keyed:
            if key in seen or key in todo:
                continue
            answer = self.cache.get(key)
            if answer is not None and self._take(seen, key, answer, multiplicity[key]):
                self._cached += multiplicity[key] if job.get("lint") else 0
            else:
                todo[key] = job
        for verdict in self.pool.run(todo.items()):
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

    def _collect(self, seen: _Collected) -> Executions:
        made = Executions()
        for attempt, executed, lost, unconfirmed in seen.rows:
            qid = attempt.task.qid
            recovery = seen.recovered.get((qid, attempt.sample))
            sample = sample_result(attempt, executed, recovery, lost, self._words)
            if unconfirmed is not None and sample.official.outcome is Outcome.PASSED:
                sample = msgspec.structs.replace(sample, careful=unscored(unconfirmed))
            made.samples.append(sample)
            made.completions.setdefault(qid, []).append(attempt.program.completion)
            made.programs.setdefault(qid, []).append(attempt.program.head + attempt.task.tests)
            text = official_result(executed, self._words) if executed is not None else "unscored"
            made.results.setdefault(qid, []).append((sample.official.outcome is Outcome.PASSED, text))
        made.environment = {
            **self._backend.describe(),
            "workers": self._options.worker_count,
            "cpu_seconds": self._limits.cpu_seconds,
            "memory_bytes": self._limits.memory_bytes,
            "programs": len(seen.rows),
            "distinct_programs": seen.distinct,
            "verdicts_from_cache": self._cached,
        }
        return made


class _Collected(msgspec.Struct, kw_only=True):
    """What was seen of every attempt, in the attempts' order."""

    recovered: dict[tuple[str, int], Split | None]
    distinct: int
    rows: list[tuple[jobs.Attempt, Executed | None, str, str | None]] = []
    """(attempt, what was seen or None, why nothing was, why nothing could confirm it)."""

    def add(
        self, attempt: jobs.Attempt, executed: Executed | None, *, lost: str = "", unconfirmed: str | None = None
    ) -> None:
        """Note one attempt."""
        self.rows.append((attempt, executed, lost, unconfirmed))


def _refused(checked: Executed | None) -> bool:
    """Whether the linter has spoken against a program, so that it does not run."""
    return checked is not None and checked.lint is not None and bool(checked.lint.messages or checked.lint.broken)


def _seconds(checked: Executed | None) -> float:
    return checked.split.evidence.wall if checked is not None and checked.split is not None else 0.0


def _credited(executed: Executed) -> bool:
    return executed.split.confirmed if executed.split is not None else _passed(executed)


def _passed(executed: Executed) -> bool:
    return executed.run is not None and executed.run.result == "passed"


# --- metrics ----------------------------------------------------------------------------------------------------


def metrics(samples: list[SampleResult], ks: Iterable[int]) -> list[Metric]:
    """Return pass@k for every k and the parsing success rate, overall and by group, in both readings."""
    ks = tuple(ks)
    rows: list[Metric] = []
    for group, members in _groups(samples):
        for reading in READINGS:
            by_task = _by_task(members)
            rows += [row for k in ks if (row := _pass_metric(by_task, k, reading, group)) is not None]
            rows += [row for row in [_parse_metric(members, reading, group)] if row is not None]
    return rows


def _groups(samples: list[SampleResult]) -> Iterator[tuple[str | None, list[SampleResult]]]:
    yield None, samples
    groups: dict[str, list[SampleResult]] = {}
    for sample in samples:
        if sample.groups is not msgspec.UNSET:
            for name, labels in sample.groups.items():
                for label in [labels] if isinstance(labels, str) else labels:
                    groups.setdefault(f"{name}={label}", []).append(sample)
    yield from sorted(groups.items())


def _by_task(samples: list[SampleResult]) -> dict[str, list[SampleResult]]:
    tasks: dict[str, list[SampleResult]] = {}
    for sample in samples:
        tasks.setdefault(sample.qid, []).append(sample)
    return tasks


def _pass_metric(
    tasks: dict[str, list[SampleResult]], k: int, reading: ReadingName, group: str | None
) -> Metric | None:
    """Return one pass@k: over scored samples, with bounds where some are unscored; None where no task has k."""
    estimates, lowest, highest, unscored = [], [], [], 0
    for members in tasks.values():
        outcomes = [member.reading(reading) for member in members]
        passed = sum(o.credit >= 1 for o in outcomes)
        lost = sum(o.outcome is Outcome.UNSCORED for o in outcomes)
        unscored += lost
        if len(outcomes) - lost >= k:
            estimates.append(pass_at_k(len(outcomes) - lost, passed, k))
        if len(outcomes) >= k:
            lowest.append(pass_at_k(len(outcomes), passed, k))
            highest.append(pass_at_k(len(outcomes), passed + lost, k))
    summary = stats.mean(estimates)
    if summary is None:
        return None
    bounds = (100 * math.fsum(lowest) / len(lowest), 100 * math.fsum(highest) / len(highest)) if unscored else None
    return Metric(
        name=f"pass@{k}",
        reading=reading,
        group=group,
        value=summary.value,
        ci95=summary.ci95,
        stderr=summary.stderr,
        n=summary.n,
        bounds=bounds or msgspec.UNSET,
    )


def _parse_metric(samples: list[SampleResult], reading: ReadingName, group: str | None) -> Metric | None:
    """Return the parsing success rate, over scored samples; None where there is none.

    Official: failures over (samples of the last record x records), where nothing is unscored.
    """
    scored = [s for s in samples if s.reading(reading).outcome is not Outcome.UNSCORED]
    if not scored:
        return None
    lost = len(samples) - len(scored)
    failures = sum(s.reading(reading).outcome is Outcome.LINT_FAILED for s in scored)
    tasks = _by_task(scored)
    total = len(scored)
    if reading == "official" and not lost:
        total = len(tasks) * len(next(reversed(tasks.values())))
    by_task = [
        sum(s.reading(reading).outcome is not Outcome.LINT_FAILED for s in members) / len(members)
        for members in tasks.values()
    ]
    spread = stats.mean(by_task)
    assert spread is not None
    low, high = (100 * (1 - (failures + more) / len(samples)) for more in (lost, 0))
    return Metric(
        name="parse_success_rate",
        reading=reading,
        group=group,
        value=100 * (1 - failures / total),
        ci95=spread.ci95,
        stderr=spread.stderr,
        n=spread.n,
        bounds=(low, high) if lost else msgspec.UNSET,
    )
