"""The self-test: on this machine, the bundled samples have the outcomes that their `expected.json` says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from grader import grading
from grader.errors import InfrastructureError, UsageError, first_line
from grader.grading.setup import load_tasks, make_setup
from grader.options import Options
from grader.predictions.file import PredictionFile
from grader.predictions.read import read_predictions
from grader.predictions.record import fenced
from grader.results import READINGS, Outcome, ReadingName
from grader.sandbox import choice
from grader.scorers import declarations, registry
from grader.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from grader.benchmark import Benchmark
    from grader.observer import Observer
    from grader.results import Report

DATA_STEMS = ("tasks", "questions", "problems", "data")
"""Stems of the data in a benchmark's `sample` folder."""
MEMORY = 256 << 20
"""Memory of a sample's programs. One fills all of it: on a busy machine, its time is over before a gigabyte is full."""
LISTED = 5
"""Differences, or tasks that are not judged, in one line."""

Sandbox = Literal["auto", "docker", "bubblewrap"]
Outcomes = dict[str, list[Outcome]]
"""Task id -> the outcomes of its samples."""


class ExpectedOutcomes(msgspec.Struct, frozen=True):
    """What a self-test reads of an `expected.json`."""

    outcomes: dict[ReadingName, Outcomes]


class SelftestResult(msgspec.Struct, frozen=True, kw_only=True):
    """One benchmark's self-test in one sandbox."""

    benchmark: str
    sandbox: str
    """Empty if nothing is executed."""
    samples: int = 0
    different: list[str] = []
    """`q1 #3 careful timeout (expected passed)`, for each outcome that is not as expected."""
    note: str = ""
    is_of_sample: bool = True
    """Whether a bundled sample was graded, and not the reference solutions of data."""
    problem: str = ""
    """Why nothing was graded."""

    @property
    def passed(self) -> bool:
        """Whether every outcome is as expected."""
        return not self.different and not self.problem


def plan(benchmark: str | None, data: Path | None, sandbox: Sandbox) -> list[Options]:
    """Return what `check` is to be called with: each benchmark, in each sandbox. Raises UsageError."""
    if data is not None and benchmark is None:
        raise UsageError("--data belongs to one benchmark: name it with -b.")
    return [
        Options(benchmark=name, data=data, sandbox=backend, cache=False)
        for name in ([benchmark] if benchmark is not None else declarations.names())
        for backend in (_sandboxes(sandbox) if _runs_programs(declarations.load(name)) else [sandbox])
    ]


def check(options: Options, observer: Observer) -> SelftestResult:
    """Return the self-test of one benchmark in one sandbox. Raises UsageError, InputError.

    With data, or if the benchmark has no sample, the reference solutions of the data must pass.
    """
    declared = declarations.load(options.benchmark)
    backend = options.sandbox if _runs_programs(declared) else ""
    has_sample = options.data is None and sample_folder(declared).is_dir()
    try:
        if has_sample:
            return _test_sample(declared, options, backend, observer)
        return _test_references(declared, options, backend, observer)
    except InfrastructureError as error:
        return SelftestResult(benchmark=declared.id, sandbox=backend, problem=first_line(error))


def _runs_programs(declared: Benchmark) -> bool:
    return registry.scorer(declared.scoring).runs_programs


def _sandboxes(sandbox: Sandbox) -> Sequence[Sandbox]:
    """Return the sandboxes to test: for `auto` all that this machine has, or `auto`, which then fails."""
    return [sandbox] if sandbox != "auto" else choice.available_backends() or ["auto"]


def sample_folder(declared: Benchmark) -> Path:
    """Return the folder of a benchmark's sample."""
    return Path(declared.folder) / "sample"


def grade_sample(declared: Benchmark, options: Options, observer: Observer) -> Report:
    """Grade a benchmark's sample, with its recorded judge replies if it has some. Raises GradeError."""
    folder = sample_folder(declared)
    replies = folder / "judge_replies.json"
    chosen = msgspec.structs.replace(
        options,
        data=next(path for path in sorted(folder.iterdir()) if path.stem in DATA_STEMS),
        judge_replies=replies if replies.is_file() else None,
        memory=MEMORY,
    )
    return grading.grade(read_predictions(folder / "predictions.json"), chosen, observer).report


def outcomes(report: Report) -> dict[ReadingName, Outcomes]:
    """Return a report's outcomes; without the official ones if programs ran on another Python than the protocol's."""
    by_reading: dict[ReadingName, Outcomes] = {reading: {} for reading in READINGS}
    for sample in sorted(report.samples, key=lambda sample: sample.sample):
        for reading in READINGS:
            by_reading[reading].setdefault(sample.qid, []).append(sample.reading(reading).outcome)
    if (sandbox := report.provenance.sandbox) is not None and sandbox.has_another_python:
        del by_reading["official"]
    return by_reading


def _test_sample(declared: Benchmark, options: Options, backend: str, observer: Observer) -> SelftestResult:
    """Grade the benchmark's sample, and compare the outcomes with its `expected.json`."""
    data = (sample_folder(declared) / "expected.json").read_bytes()
    expected = msgspec.json.decode(data, type=ExpectedOutcomes).outcomes
    return _compare(expected, grade_sample(declared, options, observer), backend)


def _test_references(declared: Benchmark, options: Options, backend: str, observer: Observer) -> SelftestResult:
    """Grade the reference solutions of the data: each must pass, in both readings.

    The careful reading cannot say so of a task that it never judges; such tasks are named in the note.
    """
    setup = make_setup(options)
    tasks = load_tasks(setup)
    references = {qid: fenced(source) for qid, task in tasks.items() if (source := task.reference)}
    if not references:
        raise UsageError(f"{declared.id}: there is nothing to test, because the data has no reference solutions.")
    options = msgspec.structs.replace(options, ids=tuple(references))
    file = PredictionFile.of({qid: [reference] for qid, reference in references.items()}, "references")
    expected = {qid: [Outcome.PASSED] for qid in references}
    report = grading.grade(file, options, observer).report
    unjudged = {s.qid: s.careful.detail for s in report.samples if s.careful.outcome is Outcome.NOT_JUDGED}
    expected_careful = {qid: passed for qid, passed in expected.items() if qid not in unjudged}
    result = _compare({"official": expected, "careful": expected_careful}, report, backend)
    notes = [result.note]
    if missing := len(tasks) - len(references):
        notes.append(f"{counted(missing, 'task')} without reference solution")
    if unjudged:
        reasons = _first_of([f"{qid}: {why}" for qid, why in unjudged.items()])
        notes.append(f"{counted(len(unjudged), 'task')} not judged carefully: {reasons}")
    note = "; ".join(filter(None, notes))
    return msgspec.structs.replace(result, note=note, samples=len(expected), is_of_sample=False)


def _first_of(lines: Sequence[str]) -> str:
    """Return the first lines in one, and the number of the others."""
    more = f"; and {len(lines) - LISTED} more" if len(lines) > LISTED else ""
    return f"{'; '.join(lines[:LISTED])}{more}"


def _compare(expected: Mapping[ReadingName, Outcomes], report: Report, backend: str) -> SelftestResult:
    actual = outcomes(report)
    used_sandbox = report.provenance.sandbox
    skips_official = "official" not in actual
    return SelftestResult(
        benchmark=report.benchmark,
        sandbox=backend,
        samples=sum(map(len, expected["careful"].values())),
        different=[line for reading in actual for line in _differences(reading, expected[reading], actual[reading])],
        note=f"official needs Python {used_sandbox.official_python}" if used_sandbox and skips_official else "",
    )


def _differences(reading: ReadingName, expected: Outcomes, actual: Outcomes) -> Iterator[str]:
    for qid, expected_outcomes in expected.items():
        actual_outcomes = actual.get(qid, [])
        for number, expected_outcome in enumerate(expected_outcomes):
            outcome = actual_outcomes[number] if number < len(actual_outcomes) else "no result"
            if outcome != expected_outcome:
                yield f"{qid} #{number} {reading} {outcome} (expected {expected_outcome})"


def in_words(result: SelftestResult) -> str:
    """Return the result as one line; the names stand in columns."""
    line = f"{result.benchmark:<16}{result.sandbox or '-':<12}"
    if result.problem:
        return f"{line}not graded: {result.problem}"
    note = f" ({result.note})" if result.note else ""
    if not result.different:
        return f"{line}{counted(result.samples, 'sample')} as expected{note}"
    differ = f"{counted(len(result.different), 'outcome')} of {counted(result.samples, 'sample')} DIFFER"
    return f"{line}{differ}{note}: {_first_of(result.different)}"
