"""Scoring by execution without an end, in rounds, in sandboxes where programs and tests never meet.

A round is like a run: all its programs answer, then all answers are judged, then the tasks run that need program and
tests at the same time. So while a test runs, no program with an open verdict is alive. The sandboxes of a run may serve
programs first and tests later; those of rounds may not: see `grader/executors/apart.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import msgspec

from grader.executors.choice import open_executor
from grader.observer import Silent
from grader.results import SampleResult
from grader.sandbox.interface import FEW_LINTS
from grader.scorers.asked import NOT_ASKED
from grader.scorers.asking import oddities_of
from grader.scorers.execution import jobs
from grader.scorers.execution.assembly import assemble
from grader.scorers.execution.calls import Calls, Unrecordable
from grader.scorers.execution.confirming import Confirmation
from grader.scorers.execution.phases import Phases, limits_of
from grader.scorers.execution.reading import careful_alone, sample_result, unscored
from grader.scorers.execution.settling import Settler
from grader.scorers.execution.spool import Spool
from grader.scorers.oddities import marked

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from grader.executors.interface import Executor
    from grader.results import Reading
    from grader.scorers.asked import Asked
    from grader.scorers.execution.declaration import ExecutionBenchmark
    from grader.scorers.execution.sample import Sample
    from grader.scorers.execution.tasks import CodeTask
    from grader.scorers.interface import Run

INTERACTIVE = "interactive"
"""The flag of a sample whose program ran beside its tests. The guarantee against leaks does not hold for it."""


class Rounds:
    """Scores samples of one benchmark in rounds. Use it as a context manager, in one thread."""

    def __init__(self, run: Run[ExecutionBenchmark, CodeTask]) -> None:
        version = run.benchmark.protocols[run.protocol]
        self._tasks: Mapping[str, CodeTask] = run.tasks
        self._words = jobs.texts(version, run.options.timeout)
        self._limits = limits_of(run.options)
        self._calls: dict[str, Calls | Unrecordable] = {}
        self._executor: Executor = open_executor(
            run.options, self._limits, run.observer, self._words.python or None, apart=True
        )

    def __enter__(self) -> Self:
        self._executor.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.__exit__(*_)

    def begin(self) -> None:
        """Start, in the background, the sandboxes that every round needs."""
        # Every round lints a few programs, and the rounds together many.
        self._executor.begin(lint=FEW_LINTS + 1 if self._words.lint else 0)

    def score(self, asked: Sequence[Asked]) -> list[SampleResult]:
        """Return one result per sample; raises InfrastructureError."""
        with Spool() as spool:
            lost = self._record({one.qid for one in asked}, spool)
            refused = {place: why for place, one in enumerate(asked) if (why := self._refusal(one, lost))}
            graded = [one for place, one in enumerate(asked) if place not in refused]
            results = iter(self._grade(graded, spool))
        return [_refused(one, refused[place]) if place in refused else next(results) for place, one in enumerate(asked)]

    def _record(self, qids: Iterable[str], spool: Spool) -> Mapping[str, str]:
        """Record the calls of new tasks, in sandboxes that never run a model's program; return task -> error."""
        executor = self._executor.with_tests()
        confirmation = Confirmation(self._tasks, Settler(executor, Silent()), spool, self._limits, self._calls)
        found = confirmation.record(sorted(qids))
        self._calls = {qid: calls for qid, calls in found.items() if qid not in confirmation.unrecorded}
        return confirmation.unrecorded

    def _refusal(self, one: Asked, lost: Mapping[str, str]) -> str:
        """Return why a sample is not graded; empty if it is."""
        if one.qid in lost:
            return f"the calls of its tests were not recorded: {lost[one.qid]}"
        calls = self._calls[one.qid]
        if isinstance(calls, Unrecordable) and not one.interactive:
            return f"the calls of its tests cannot be recorded ({calls.why}), and interactive=False refuses other ways"
        return ""

    def _grade(self, asked: Sequence[Asked], spool: Spool) -> list[SampleResult]:
        settler = Settler(self._executor, Silent())
        confirmation = Confirmation(self._tasks, settler, spool, self._limits, self._calls)
        phases = Phases(confirmation, self._words, self._limits, settler)
        samples = phases.judge(self._attempts(asked))
        phases.run(sample for sample, one in zip(samples, asked, strict=True) if one.official)
        results = [self._result(sample, one) for sample, one in zip(samples, asked, strict=True)]
        return [msgspec.structs.replace(result, sample=0) for result in self._marked(results, asked)]

    def _attempts(self, asked: Sequence[Asked]) -> Iterable[jobs.Attempt]:
        seen: dict[str, int] = {}
        for one in asked:
            task, number = self._tasks[one.qid], seen.get(one.qid, 0)
            seen[one.qid] = number + 1
            program = assemble(one.text, task.signature_text, self._words.assembly)
            yield jobs.Attempt(task=task, sample=number, program=program)

    def _result(self, sample: Sample, one: Asked) -> SampleResult:
        """Return both readings, or only the careful one, equal to those of a run."""
        if one.official:
            return sample_result(sample.attempt, sample.executed, sample.apart, sample.not_run, self._words)
        split = sample.apart.completion.split
        return SampleResult(
            qid=one.qid,
            sample=sample.attempt.sample,
            seconds=split.evidence.cpu if split is not None else 0.0,
            official=NOT_ASKED,
            careful=careful_alone(sample.lint, sample.apart, sample.attempt, self._words),
            groups=sample.attempt.task.groups or msgspec.UNSET,
        )

    def _marked(self, results: list[SampleResult], asked: Sequence[Asked]) -> list[SampleResult]:
        """Add the oddities of the texts, and flag the samples that ran beside their tests."""
        predictions: dict[str, list[str]] = {}
        for one in asked:
            predictions.setdefault(one.qid, []).append(one.text)
        tasks = {qid: self._tasks[qid] for qid in predictions}
        return [
            _flagged(result) if isinstance(self._calls[result.qid], Unrecordable) else result
            for result in marked(results, oddities_of(tasks, predictions))
        ]


def _flagged(result: SampleResult) -> SampleResult:
    flags = result.flags if isinstance(result.flags, list) else []
    return msgspec.structs.replace(result, flags=[*flags, INTERACTIVE])


def _refused(one: Asked, why: str) -> SampleResult:
    reading: Reading = unscored(why)
    return SampleResult(qid=one.qid, sample=0, official=reading if one.official else NOT_ASKED, careful=reading)
