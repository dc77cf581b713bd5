"""A grading run of an execution benchmark: from a selection to a report and the `_executed.json`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import msgspec

from grader.errors import InputError, UsageError
from grader.results import Outcome, Reading, Report, SampleResult
from grader.scorers.execution import executed, jobs
from grader.scorers.execution import metrics as execution_metrics
from grader.scorers.execution import phases as execution
from grader.scorers.selection import Graded, check_unchanged, earlier_report, environment, select, stem_of, stem_of_path

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from grader.benchmark import Benchmark
    from grader.options import Options
    from grader.scorers.selection import Selection


def run(selection: Selection) -> Graded:
    """Execute and score; raises a GradeError."""
    declared, options = selection.benchmark, selection.options
    version = declared.protocols[selection.protocol]
    tasks = execution.tasks_from(selection.rows, declared)
    predictions, notes = select(selection, list(tasks))
    samples_each = max(map(len, predictions.values()), default=0)
    ks = execution.wanted_k(options.k, [len(p) or samples_each for p in predictions.values()], version)
    words = jobs.texts(selection.protocol, version, options.timeout)
    made = execution.execute(tasks, predictions, words, options, selection.observer)
    samples = made.samples + [s for qid, p in predictions.items() if not p for s in _absent(tasks[qid], samples_each)]
    report = Report(
        benchmark=declared.id,
        split=selection.split,
        protocol=selection.protocol,
        metrics=execution_metrics.metrics(samples, ks),
        samples=samples,
        unscored=sum(Outcome.UNSCORED in (s.official.outcome, s.careful.outcome) for s in samples),
        environment=environment(selection, predictions) | made.environment,
        notes=[*selection.file.warnings, *notes, *made.notes],
    )

    def write_executed(stem: Path) -> Path:
        path = stem.with_name(f"{stem.name}_executed.json")
        executed.write(path, _records(selection, tasks, made, words))
        return path

    return Graded(report=report, stem=stem_of(selection.file), write_more=write_executed)


def _absent(task: jobs.Task, count: int) -> Iterator[SampleResult]:
    """A task without predictions, under `--missing wrong`: as many failed samples as the others have."""
    reading = Reading(outcome=Outcome.FAILED, credit=0, detail="there is no prediction", rule="missing")
    for number in range(count):
        yield SampleResult(
            qid=task.qid, sample=number, official=reading, careful=reading, groups=task.groups or msgspec.UNSET
        )


def _records(
    selection: Selection, tasks: dict[str, jobs.Task], made: execution.Executions, words: jobs.Texts
) -> Iterator[executed.Record]:
    for record in selection.file.records:
        if record.qid in made.results:
            qid = record.qid
            programs = [head + tasks[qid].tests for head in made.heads[qid]]
            yield executed.record(record, made.completions[qid], programs, made.results[qid], words)


def rescore(path: Path, declared: Benchmark, split: str, protocol: str, options: Options) -> Graded:
    """Score again from `<stem>_results.json`, or from an `_executed.json` of the official evaluator."""
    report = earlier_report(path, declared, split, protocol)
    if report is not None:
        check_unchanged(path, report)
        samples, facts, notes = report.samples, report.environment, report.notes
    else:
        samples = _from_executed(path, declared, protocol, options)
        facts, notes = {}, ["Scored from an executed file: it holds no careful verdicts, so careful equals official."]
    counts: dict[str, int] = {}
    for sample in samples:
        counts[sample.qid] = counts.get(sample.qid, 0) + 1
    ks = execution.wanted_k(options.k, counts.values(), declared.protocols[protocol])
    again = Report(
        benchmark=declared.id,
        split=split,
        protocol=protocol,
        metrics=execution_metrics.metrics(samples, ks),
        samples=samples,
        unscored=sum(Outcome.UNSCORED in (s.official.outcome, s.careful.outcome) for s in samples),
        environment=facts,
        notes=notes,
    )
    return Graded(report=again, stem=stem_of_path(path))


def _from_executed(path: Path, declared: Benchmark, protocol: str, options: Options) -> list[SampleResult]:
    stem = stem_of_path(path)
    beside = path if stem.name.endswith("_executed") else stem.with_name(f"{stem.name}_executed.json")
    if not beside.is_file():
        raise UsageError(
            f"--score-only: there is neither {stem.name}_results.json nor {beside.name} beside {path.name}; "
            "grade it once without --score-only."
        )
    words = jobs.texts(protocol, declared.protocols[protocol], options.timeout)
    try:
        samples = executed.samples_of(json.loads(beside.read_bytes()), words)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError([f"{beside}: not an executed file ({type(error).__name__}: {error})"]) from error
    if not samples:
        raise InputError([f"{beside}: no samples"])
    return samples
