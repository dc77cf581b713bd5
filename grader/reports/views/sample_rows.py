"""A run's samples for other programs: a record of each for tables, and lines of evidence for every verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.reports.text import clean
from grader.reports.why import facts_of
from grader.results import READINGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grader.reports.findings import Findings
    from grader.results import Reading, Report, SampleResult

PARTS = ("outcome", "credit", "answer", "rule", "detail")
COLUMNS = ["qid", "sample", "unit", *(f"{reading}_{part}" for reading in READINGS for part in PARTS), "seconds"]
"""The columns of the records of a report without groups."""
LONGEST_DETAIL = 200
LONGEST_EVIDENCE = 500


def records_of(report: Report) -> Iterator[dict[str, object]]:
    """Yield a row per sample. Group columns are named `group.<field>`; several labels of a sample are joined by `;`."""
    fields = list(dict.fromkeys(field for sample in report.samples for field in _labels(sample)))
    for sample in report.samples:
        labels = {f"group.{field}": _joined(_labels(sample).get(field, "")) for field in fields}
        read = {
            f"{reading}_{part}": cell
            for reading in READINGS
            for part, cell in zip(PARTS, _cells(sample.reading(reading)), strict=True)
        }
        named = {"qid": sample.qid, "sample": sample.sample, "unit": sample.cluster}
        yield {**named, **labels, **read, "seconds": _number(sample.seconds)}


def _labels(sample: SampleResult) -> dict[str, str | list[str]]:
    return sample.groups if isinstance(sample.groups, dict) else {}


def _joined(labels: str | Iterable[str]) -> str:
    return labels if isinstance(labels, str) else ";".join(labels)


def _cells(reading: Reading) -> list[object]:
    credit = "" if reading.credit is None else _number(reading.credit)
    return [reading.outcome.value, credit, reading.answer or "", reading.rule_name, reading.detail]


def _number(number: float) -> float:
    """Return a number; 1 and 1.0 are equal, because a record that was read from a file has floats for integers."""
    return int(number) if float(number).is_integer() else float(number)


def evidence_of(run: Findings) -> Iterator[str]:
    """Yield the outcomes of each sample, and what the scorer knows of one that lost credit: a test, another answer."""
    for sample in run.report.samples:
        outcomes = f"{sample.official.outcome} {sample.careful.outcome}"
        detail = clean(sample.careful.detail)[:LONGEST_DETAIL]
        yield f"{clean(sample.qid)} #{sample.sample} {outcomes} {detail}".rstrip()
        if not sample.official.credit == sample.careful.credit == 1:
            because = "; ".join(f"{name} {' '.join(text.split())}" for name, text in facts_of(run.scorer, sample))
            yield from [f"    {clean(because)[:LONGEST_EVIDENCE]}"] if because else []
