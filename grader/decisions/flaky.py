"""Known flaky tasks cannot make a gate pass: a gate is met only if it is also met without their credit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from grader.results import READINGS, Outcome
from grader.scorers.registry import scorer_of

if TYPE_CHECKING:
    from grader.results import ReadingName, Report, SampleResult

SHOWN = 5


def tasks(report: Report) -> list[str]:
    """Return the tasks of a report whose verdicts changed in repeated grading on the same machine."""
    return list(report.provenance.flakes.tasks) if report.provenance.flakes is not None else []


def without_them(report: Report) -> Report:
    """Return a report in which samples of known flaky tasks have no credit. The metrics are not updated."""
    flaky = set(tasks(report))
    return msgspec.structs.replace(
        report, samples=[_uncredited(sample) if sample.qid in flaky else sample for sample in report.samples]
    )


def _uncredited(sample: SampleResult) -> SampleResult:
    worse = {
        name: msgspec.structs.replace(sample.reading(name), outcome=Outcome.FAILED, credit=0)
        for name in READINGS
        if sample.reading(name).credit > 0
    }
    return msgspec.structs.replace(sample, **worse)


def lowest(report: Report, name: str, reading: ReadingName, group: str | None) -> float | None:
    """Return a metric in percent without the credit of known flaky tasks; None if they cannot change it."""
    scorer = scorer_of(report)
    if not tasks(report) or scorer.observe(name) is None:
        return None
    values = scorer.observations(without_them(report), name, reading, group).values()
    found = [value for value in values if value is not None]
    return 100 * sum(found) / len(found) if found else None


def in_words(report: Report) -> str:
    """Return the tasks as text."""
    named = tasks(report)
    more = f" and {len(named) - SHOWN} more" if len(named) > SHOWN else ""
    return f"the known flaky task{'s' * (len(named) > 1)} {', '.join(named[:SHOWN])}{more}"
