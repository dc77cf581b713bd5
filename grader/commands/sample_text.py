"""The text that `grade show --results` prints about one sample: its verdicts and why, its output, its program."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from grader.errors import UsageError
from grader.reports.why import outcome, reason
from grader.results import READINGS
from grader.scorers import declarations
from grader.scorers.registry import scorer_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from grader.options import Options
    from grader.reports.material import Material
    from grader.results import Report, SampleResult


def describe(asked: Options, qid: str, number: int, results: Path) -> Iterator[tuple[str, str]]:
    """Yield (name, text) of one sample of a results file. Raises UsageError if it has no such sample."""
    from grader.reports import material
    from grader.scorers.earlier import read_report

    report = read_report(results)
    declared = declarations.load(asked.benchmark)
    if report.benchmark != declared.id:
        raise UsageError(f"{results} has results of {report.benchmark}, not of {declared.id}.")
    sample = _sample(report, qid, number, results)
    shown = material.load_beside(results, report, asked.data, benchmark=asked.benchmark)
    yield from verdicts(report, sample)
    yield from scorer_of(report).marks(sample).facts
    yield from _texts(shown, qid, number)
    yield from (("note", gap.in_words()) for gap in shown.gaps)


def verdicts(report: Report, sample: SampleResult) -> Iterator[tuple[str, str]]:
    """Yield each reading's outcome and why."""
    glossary = scorer_of(report).glossary
    for name in READINGS:
        reading = sample.reading(name)
        name_of_outcome = outcome(report, reading)
        answer = f"{reading.answer} ({name_of_outcome})" if reading.answer else name_of_outcome
        why = reason(reading, glossary)
        yield name, f"{answer}: {why}" if why else answer


def _texts(shown: Material, qid: str, number: int) -> Iterator[tuple[str, str]]:
    texts, programs = shown.predictions.get(qid, []), shown.programs.get(qid, [])
    if number < len(texts):
        yield "output", f"{texts[number]}\n"
    if number < len(programs):
        yield "program", f"{programs[number].program}\n"


def _sample(report: Report, qid: str, number: int, results: Path) -> SampleResult:
    samples = [sample for sample in report.samples if sample.qid == qid]
    if not samples:
        near = difflib.get_close_matches(qid, {sample.qid for sample in report.samples}, n=3)
        hint = f" Did you mean {', '.join(near)}?" if near else ""
        raise UsageError(f"{results} has no sample of {qid!r}.{hint}")
    found = next((sample for sample in samples if sample.sample == number), None)
    if found is None:
        numbers = ", ".join(str(sample.sample) for sample in samples)
        raise UsageError(f"{results} has no sample {number} of {qid}; it has {numbers}.")
    return found
