"""Numeric answers within a tolerance: an example of a scorer in a package of its own.

Official is a naive scorer, which takes the first number of a reply. Careful takes the number that the reply ends with.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from grader.scorers.interface import (
    Benchmark,
    Block,
    Columns,
    Facts,
    Outcome,
    Reading,
    ReadingName,
    Run,
    SampleDetails,
    SampleResult,
    Scorer,
    ScorerOutput,
    Settings,
    Summary,
    TableBlock,
    Task,
    Words,
    credit,
    facts_as,
    missing_reading,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.data.tables import Rows
    from grader.results import Report

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


class NumericColumns(Columns, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Names of the data's columns."""

    answer: str
    working: str | None = None


class NumericSettings(Settings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The `[settings]` of a benchmark.toml."""

    tolerance: float = 0.0
    """An answer may be off by this much."""


class NumericBenchmark(Benchmark, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A benchmark whose answers are numbers."""

    columns: NumericColumns
    settings: NumericSettings = NumericSettings()


class NumericTask(Task, frozen=True, kw_only=True):
    """A question with a number for an answer."""

    target: float


class NumericFacts(Facts, frozen=True, kw_only=True):
    """What is kept of a sample."""

    target: float
    off: float | None = None
    """How far off the careful answer is."""


def within_one(sample: SampleResult, reading: ReadingName) -> float:
    """Return 1 if the number of a reading is off by at most one."""
    answer = sample.reading(reading).answer
    return float(answer is not None and abs(float(answer) - _facts(sample).target) <= 1)


class Numeric(Scorer[NumericBenchmark, NumericTask]):
    """Reads a number and compares it with the right one."""

    declaration = NumericBenchmark
    sample_facts = NumericFacts
    sample_values: ClassVar = {"accuracy": credit, "within_one": within_one}
    words: ClassVar = Words(glossary={"within_one": "The share of answers that are off by at most one."})

    def tasks(self, declared: NumericBenchmark, split: str, rows: Rows) -> dict[str, NumericTask]:
        """Turn rows into tasks."""
        return rows.tasks(lambda row: _task(row, declared.columns))

    def score(self, run: Run[NumericBenchmark, NumericTask]) -> ScorerOutput:
        """Read a number from every reply, both ways."""
        tolerance = run.benchmark.settings.tolerance
        samples = [_sample(*reply, tolerance) for reply in run.replies()]
        return ScorerOutput(samples=run.with_task_data(samples))

    def summary(self, report: Report) -> Summary:
        """Show how far off the wrong answers are."""
        far = [(sample.qid, facts.off) for sample in report.samples if (facts := _facts(sample)).off]
        rows = [[qid, f"{off:g}"] for qid, off in far]
        table = TableBlock(
            title="Wrong answers", lead="How far off they are.", columns=["Question", "off by"], rows=rows
        )
        return Summary(lines=[f"Wrong answers with a number: {len(far)}."], tables=[table] if rows else [])

    def sample_details(self, sample: SampleResult) -> SampleDetails:
        """Show the right number."""
        return SampleDetails(facts=[("target", f"{_facts(sample).target:g}")])


def _task(row: Mapping[str, object], columns: NumericColumns) -> NumericTask:
    working, answer = row.get(columns.working or ""), str(row[columns.answer])
    if not NUMBER.fullmatch(answer):
        raise ValueError(f"no number in column {columns.answer}")
    return NumericTask(
        id=str(row[columns.id]),
        text=str(row.get(columns.question or "", "")),
        gold=answer,
        blocks=(Block(kind="text", title="Working", content=str(working)),) if working else (),
        target=float(answer),
    )


def _sample(task: NumericTask, number: int, text: str | None, tolerance: float) -> SampleResult:
    found = [] if text is None else list(NUMBER.finditer(text))
    first, last = (_reading(task, found[at] if found else None, tolerance) for at in (0, -1))
    if text is None:
        first = last = missing_reading(Outcome.NO_ANSWER)
    off = abs(float(found[-1][0]) - task.target) if found else None
    return SampleResult(
        qid=task.id, sample=number, official=first, careful=last, facts=NumericFacts(target=task.target, off=off)
    )


def _reading(task: NumericTask, found: re.Match[str] | None, tolerance: float) -> Reading:
    if found is None:
        return Reading(outcome=Outcome.NO_ANSWER, credit=0, detail="there is no number")
    right = abs(float(found[0]) - task.target) <= tolerance
    return Reading(
        outcome=Outcome.CORRECT if right else Outcome.WRONG, credit=int(right), answer=found[0], span=found.span()
    )


def _facts(sample: SampleResult) -> NumericFacts:
    return facts_as(NumericFacts, sample.facts)
