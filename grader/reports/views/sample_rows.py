"""A run's samples: a record of each for other programs, and a table with the evidence for every verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.reports.document import Column, Table, cells
from grader.reports.why import deciding_words, labelled_facts, partial_credit
from grader.results import READINGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grader.reports.findings import Findings
    from grader.reports.material import Replies
    from grader.results import Reading, Report, SampleResult

PARTS = ("outcome", "credit", "answer", "rule", "detail")
COLUMNS = ["qid", "sample", "unit", *(f"{reading}_{part}" for reading in READINGS for part in PARTS), "seconds"]
"""The columns of the records of a report without groups."""
LONGEST_DETAIL = 200
LONGEST_ANSWER = 40
LONGEST_EVIDENCE = 500


def records_of(report: Report) -> Iterator[dict[str, object]]:
    """Yield a row per sample. Group columns are named `group.<field>`; several labels of a sample are joined by `;`."""
    fields = list(dict.fromkeys(field for sample in report.samples for field in _groups(sample)))
    for sample in report.samples:
        ids = {"qid": sample.qid, "sample": sample.sample, "unit": sample.observation}
        labels = {f"group.{field}": _join(_groups(sample).get(field, "")) for field in fields}
        readings = {
            f"{reading}_{part}": value
            for reading in READINGS
            for part, value in zip(PARTS, _values(sample.reading(reading)), strict=True)
        }
        yield {**ids, **labels, **readings, "seconds": _number(sample.seconds)}


def _groups(sample: SampleResult) -> dict[str, str | list[str]]:
    return sample.groups if isinstance(sample.groups, dict) else {}


def _join(labels: str | Iterable[str]) -> str:
    return labels if isinstance(labels, str) else ";".join(labels)


def _values(reading: Reading) -> list[object]:
    """Return the values of `PARTS`."""
    credit = "" if reading.credit is None else _number(reading.credit)
    return [reading.outcome.value, credit, reading.answer or "", reading.rule_name, reading.detail]


def _number(number: float) -> float:
    """Return a whole number as an integer: a record that was read from a file has 1.0 where a new one has 1."""
    return int(number) if float(number).is_integer() else float(number)


def reply_of(replies: Replies, sample: SampleResult) -> str | None:
    """Return the reply of a sample, if it is known."""
    return next(iter(replies.get(sample.qid, [])[sample.sample : sample.sample + 1]), None)


def evidence_of(run: Findings, replies: Replies) -> Table:
    """Return a row per sample: both verdicts with answer and rule, the words of the reply, and what the scorer knows.

    `replies`: as far as they are known.
    """
    has_gold = any(run.scorer.sample_details(sample).gold for sample in run.report.samples)
    columns = [Column(name=name, kind="name") for name in ("item", *(["gold"] if has_gold else []), *READINGS)]
    return Table(
        title="Evidence for every verdict",
        columns=[*columns, Column(name="evidence", kind="sentence")],
        rows=[
            cells(_evidence(run, sample, reply_of(replies, sample), has_gold=has_gold)) for sample in run.report.samples
        ],
    )


def _evidence(run: Findings, sample: SampleResult, reply: str | None, *, has_gold: bool) -> list[str]:
    """Return the texts of a row. The scorer's facts explain why credit is missing; with full credit there are none."""
    item = f"{sample.qid} #{sample.sample}"
    gold = [run.scorer.sample_details(sample).gold[:LONGEST_ANSWER]] if has_gold else []
    parts = [sample.careful.detail[:LONGEST_DETAIL], deciding_words(sample.careful, reply)]
    has_full_credit = sample.official.credit == 1 and sample.careful.credit == 1
    if not has_full_credit:
        parts += [f"{name} {text}" for name, text in labelled_facts(run.scorer, sample)]
    evidence = " ".join("; ".join(filter(None, parts)).split())[:LONGEST_EVIDENCE]
    return [item, *gold, _verdict_text(sample.official), _verdict_text(sample.careful), evidence]


def _verdict_text(reading: Reading) -> str:
    """Return outcome, answer, partial credit and rule of a reading, as far as it has them: `correct B (boxed)`."""
    answer = reading.answer[:LONGEST_ANSWER] if reading.answer else ""
    rule = f"({reading.rule_name})" if reading.rule else ""
    return " ".join(filter(None, (reading.outcome.value, answer, partial_credit(reading), rule)))
