"""The self-test: on this machine, the bundled samples have the outcomes that their `expected.json` says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from grader import grading
from grader.errors import InfrastructureError, UsageError, first_line
from grader.grading.inputs import load_tasks, make_setup
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

DATA = ("tasks", "questions", "problems", "data")
"""Stems of the data in a benchmark's `sample` folder."""
MEMORY = 256 << 20
"""Memory of a sample's programs: before one of them has filled the usual gigabyte, a busy machine has ended it."""
SHOWN = 5

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
    has_sample: bool = True
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
        Options(benchmark=name, data=data, sandbox=place, cache=False)
        for name in ([benchmark] if benchmark is not None else declarations.names())
        for place in (_sandboxes(sandbox) if _executes(declarations.load(name)) else [sandbox])
    ]


def check(options: Options, observer: Observer) -> SelftestResult:
    """Return the self-test of one benchmark in one sandbox. Raises UsageError, InputError.

    With data, or if the benchmark has no sample, the reference solutions of the data must pass.
    """
    declared = declarations.load(options.benchmark)
    place = options.sandbox if _executes(declared) else ""
    is_sample = options.data is None and sample_folder(declared).is_dir()
    try:
        return (_test_sample if is_sample else _test_references)(declared, options, place, observer)
    except InfrastructureError as error:
        return SelftestResult(benchmark=declared.id, sandbox=place, problem=first_line(error))


def _executes(declared: Benchmark) -> bool:
    return registry.scorer(declared.scoring).runs_programs


def _sandboxes(asked: Sandbox) -> Sequence[Sandbox]:
    """Return the sandboxes to test: the given one, or all that this machine has."""
    return [asked] if asked != "auto" else choice.available_backends() or ["auto"]


def sample_folder(declared: Benchmark) -> Path:
    """Return the folder of a benchmark's sample."""
    return Path(declared.folder) / "sample"


def grade_sample(declared: Benchmark, options: Options, observer: Observer) -> Report:
    """Grade a benchmark's sample, with its recorded judge replies if it has some. Raises GradeError."""
    folder = sample_folder(declared)
    replies = folder / "judge_replies.json"
    chosen = msgspec.structs.replace(
        options,
        data=next(path for path in sorted(folder.iterdir()) if path.stem in DATA),
        judge_replies=replies if replies.is_file() else None,
        memory=MEMORY,
    )
    return grading.grade(read_predictions(folder / "predictions.json"), chosen, observer).report


def outcomes(report: Report) -> dict[ReadingName, Outcomes]:
    """Return a report's outcomes; without the official ones if programs ran on another Python than the protocol's."""
    found: dict[ReadingName, Outcomes] = {reading: {} for reading in READINGS}
    for sample in sorted(report.samples, key=lambda sample: sample.sample):
        for reading in READINGS:
            found[reading].setdefault(sample.qid, []).append(sample.reading(reading).outcome)
    if (sandbox := report.provenance.sandbox) is not None and sandbox.has_another_python:
        del found["official"]
    return found


def _test_sample(declared: Benchmark, options: Options, place: str, observer: Observer) -> SelftestResult:
    written = (sample_folder(declared) / "expected.json").read_bytes()
    expected = msgspec.json.decode(written, type=ExpectedOutcomes).outcomes
    return _compare(expected, grade_sample(declared, options, observer), place)


def _test_references(declared: Benchmark, options: Options, place: str, observer: Observer) -> SelftestResult:
    setup = make_setup(options)
    tasks = load_tasks(setup)
    references = {qid: fenced(source) for qid, task in tasks.items() if (source := task.reference)}
    if not references:
        raise UsageError(f"{declared.id}: there is nothing to test, because the data has no reference solutions.")
    options = msgspec.structs.replace(options, ids=tuple(references))
    file = PredictionFile.of({qid: [reference] for qid, reference in references.items()}, "references")
    passed = {qid: [Outcome.PASSED] for qid in references}
    report = grading.grade(file, options, observer).report
    outside = {s.qid: s.careful.detail for s in report.samples if s.careful.outcome is Outcome.NOT_JUDGED}
    careful = {qid: wanted for qid, wanted in passed.items() if qid not in outside}
    tested = _compare({"official": passed, "careful": careful}, report, place)
    without = len(tasks) - len(references)
    notes = filter(
        None,
        (
            tested.note,
            f"{counted(without, 'task')} without reference solution" if without else "",
            _not_judged(outside),
        ),
    )
    return msgspec.structs.replace(tested, note="; ".join(notes), samples=len(passed), has_sample=False)


def _not_judged(outside: Mapping[str, str]) -> str:
    """Return the tasks that no machine judges carefully, and why; empty if there are none."""
    if not outside:
        return ""
    shown = "; ".join(f"{qid}: {why}" for qid, why in list(outside.items())[:SHOWN])
    more = f"; and {len(outside) - SHOWN} more" if len(outside) > SHOWN else ""
    return f"{counted(len(outside), 'task')} not judged carefully: {shown}{more}"


def _compare(expected: Mapping[ReadingName, Outcomes], report: Report, place: str) -> SelftestResult:
    found = outcomes(report)
    sandbox = report.provenance.sandbox
    return SelftestResult(
        benchmark=report.benchmark,
        sandbox=place,
        samples=sum(map(len, expected["careful"].values())),
        different=[line for reading in found for line in _difference(reading, expected[reading], found[reading])],
        note="" if "official" in found or sandbox is None else f"official needs Python {sandbox.official_python}",
    )


def _difference(reading: ReadingName, expected: Outcomes, found: Outcomes) -> Iterator[str]:
    for qid, wanted in expected.items():
        given = found.get(qid, [])
        for number, outcome in enumerate(wanted):
            got = given[number] if number < len(given) else "no result"
            if got != outcome:
                yield f"{qid} #{number} {reading} {got} (expected {outcome})"


def in_words(tested: SelftestResult) -> str:
    """Return the result as one line; the names stand in columns."""
    line = f"{tested.benchmark:<16}{tested.sandbox or '-':<12}"
    if tested.problem:
        return f"{line}not graded: {tested.problem}"
    note = f" ({tested.note})" if tested.note else ""
    if not tested.different:
        return f"{line}{counted(tested.samples, 'sample')} as expected{note}"
    shown = "; ".join(tested.different[:SHOWN])
    more = len(tested.different) - SHOWN
    rest = f"; and {more} more" if more > 0 else ""
    differ = f"{counted(len(tested.different), 'outcome')} of {counted(tested.samples, 'sample')} DIFFER"
    return f"{line}{differ}{note}: {shown}{rest}"
