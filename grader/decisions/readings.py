"""One run under its two readings, paired by item, and one prediction file under every published reading."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from grader.results import is_same
from grader.scorers.pairing import NothingPairedError
from grader.scorers.registry import scorer_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.results import Report
    from grader.statistics.paired import Difference

CAREFUL = "careful"


class ReadingRow(msgspec.Struct, frozen=True, kw_only=True):
    """The result under one reading."""

    reader: str
    value: float | None
    """The main metric, in percent."""
    unread: int
    """Number of samples without an answer."""
    differing: int
    """Number of samples whose answer is not that of the careful reading."""


class ReadItem(msgspec.Struct, frozen=True, kw_only=True):
    """A sample whose credit depends on the reading."""

    qid: str
    sample: int
    answers: dict[str, str | None]
    """Reader -> answer."""
    right: list[str]
    """The readings under which it is correct."""


class Readings(msgspec.Struct, frozen=True, kw_only=True):
    """The same outputs under every reading."""

    predictions: str
    benchmark: str
    metric: str
    rows: list[ReadingRow]
    """The careful reading first, then the published ones from the best to the worst."""
    items: list[ReadItem]
    """The samples that make the difference."""


def readings_of(reports: Mapping[str, Report]) -> Readings:
    """Combine the reports of one file under several official readers, by the readers' names."""
    first = next(iter(reports.values()))
    metric = first.metrics[0].name
    rows = sorted((_row(name, one, metric) for name, one in reports.items()), key=lambda row: -(row.value or 0))
    items = (_item(number, reports) for number in range(len(first.samples)))
    return Readings(
        predictions=first.provenance.predictions,
        benchmark=first.benchmark,
        metric=metric,
        rows=[_row(CAREFUL, first, metric), *rows],
        items=[item for item in items if item is not None],
    )


def _row(name: str, report: Report, metric: str) -> ReadingRow:
    side = CAREFUL if name == CAREFUL else "official"
    value = next((m.value for m in report.metrics if (m.name, m.reading, m.group) == (metric, side, None)), None)
    answers = [(sample.careful if name == CAREFUL else sample.official).answer for sample in report.samples]
    careful = [sample.careful.answer for sample in report.samples]
    differing = sum(mine != other for mine, other in zip(answers, careful, strict=True))
    return ReadingRow(reader=name, value=value, unread=answers.count(None), differing=differing)


def _item(number: int, reports: Mapping[str, Report]) -> ReadItem | None:
    """Return a sample if its credit depends on the reading, else None."""
    first = next(iter(reports.values())).samples[number]
    found = {CAREFUL: first.careful} | {name: report.samples[number].official for name, report in reports.items()}
    if len({reading.credit for reading in found.values()}) == 1:
        return None
    return ReadItem(
        qid=first.qid,
        sample=first.sample,
        answers={name: reading.answer for name, reading in found.items()},
        right=[name for name, reading in found.items() if reading.credit >= 1],
    )


def careful_minus_official(report: Report) -> dict[str, Difference]:
    """Return the difference of each overall metric that is not the same in both readings."""
    scorer = scorer_of(report)
    found = {}
    for name, (official, careful) in report.overall().items():
        if official is None or careful is None or official.value is None or careful.value is None:
            continue
        if not is_same(official, careful) and scorer.is_compared(name):
            try:
                found[name] = scorer.compare_readings(report, name)
            except NothingPairedError:
                continue
    return found


def in_words(report: Report) -> list[str]:
    """Return one sentence for all metrics; empty if the readings have the same values."""
    differences = careful_minus_official(report)
    if not differences:
        return []
    listed = "; ".join(
        f"{name} {moved.value:+.1f} points (95 % interval {moved.ci95[0]:+.1f} to {moved.ci95[1]:+.1f})"
        for name, moved in differences.items()
    )
    return [f"Careful minus official, paired by item: {listed}."]
