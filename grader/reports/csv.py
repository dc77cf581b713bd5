"""CSV for spreadsheets and data frames: a row per sample with both readings, or the rows of a document.

The file follows RFC 4180: commas, CRLF, quotes if needed; UTF-8 without a byte order mark; always a header. Lone
surrogates and NUL become U+FFFD, because many CSV readers refuse them.

A spreadsheet must not execute model outputs as formulas when it opens the file (OWASP, "CSV injection"). `guarded`
puts an apostrophe before a text that could be a formula.
"""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING

from grader.results import READINGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from grader.reports.document import Document
    from grader.results import Reading, Report, SampleResult

PARTS = ("outcome", "credit", "answer", "rule", "detail")
COLUMNS = ["qid", "sample", "unit", *(f"{reading}_{part}" for reading in READINGS for part in PARTS), "seconds"]
"""The columns of a report without groups."""

# In some languages and settings, a spreadsheet also starts a new cell after `;`, a tab or a line break. Blanks and
# apostrophes before a sign are skipped. The signs are those of OWASP and their full-width forms, which East Asian
# versions treat as equal.
_SIGN = r"[^\S\t\r\n]*(?:'[^\S\t\r\n]*)*[=+\-@\uff1d\uff0b\uff0d\uff20]"
_UNGUARDED = re.compile(rf"^(?='*[\t\r\n])|(^|[;\t\r\n])(?={_SIGN})")
_UNWRITABLE = re.compile("[\0\ud800-\udfff]")


def make(report: Report, *_: object, **__: object) -> bytes:
    """Return the file; see `grader.reports.interface.Format`. It needs only the report."""
    return _table(records(report))


def of_runs(document: Document) -> bytes:
    """Return a document's records."""
    return _table(document.records())


def records(report: Report) -> Iterator[dict[str, object]]:
    """Yield a row per sample. Group columns are named `group.<field>`; several labels of a sample are joined by `;`."""
    fields = list(dict.fromkeys(field for sample in report.samples for field in _groups(sample)))
    for sample in report.samples:
        labels = {f"group.{field}": _joined(_groups(sample).get(field, "")) for field in fields}
        readings = {
            f"{reading}_{part}": cell
            for reading in READINGS
            for part, cell in zip(PARTS, _cells(sample.reading(reading)), strict=True)
        }
        named = {"qid": sample.qid, "sample": sample.sample, "unit": sample.cluster}
        yield {**named, **labels, **readings, "seconds": _number(sample.seconds)}


def _table(rows: Iterable[Mapping[str, object]]) -> bytes:
    """Return rows as CSV, with the columns of all of them. Texts are guarded, numbers unrounded."""
    kept = list(rows)
    columns = list(dict.fromkeys(name for row in kept for name in row)) or COLUMNS
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(map(_cell, columns))
    writer.writerows([_cell(row.get(name)) for name in columns] for row in kept)
    return text.getvalue().encode()


def _cell(value: object) -> object:
    return guarded(value) if isinstance(value, str) else value


def guarded(text: str) -> str:
    """Return a cell that no spreadsheet treats as a formula."""
    return _UNGUARDED.sub(r"\g<1>'", _UNWRITABLE.sub("\ufffd", text))


def _groups(sample: SampleResult) -> dict[str, str | list[str]]:
    return sample.groups if isinstance(sample.groups, dict) else {}


def _joined(labels: str | list[str]) -> str:
    return labels if isinstance(labels, str) else ";".join(labels)


def _cells(reading: Reading) -> list[object]:
    credit = "" if reading.credit is None else _number(reading.credit)
    return [reading.outcome.value, credit, reading.answer or "", reading.rule_name, reading.detail]


def _number(value: float) -> float:
    """Return a number; 1 and 1.0 are equal, because a record that was read from a file has floats for integers."""
    return int(value) if float(value).is_integer() else float(value)
