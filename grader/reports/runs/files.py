"""The document of several files that one command graded: one row per file and metric."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING

import msgspec

from grader.reports.csv import records
from grader.reports.document import Column, Document, GradedFile, Section, Table, cells, interval, notes_below, value
from grader.results import observations
from grader.results.file import encode_report
from grader.scorers.interface import official_notes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.results import Metric, ReadingName

_STATES = {"failed": "not met", "unscored": "undecided", "inconclusive": "inconclusive", "met": "met"}
"""State of a gate -> its name, the worst state first."""
_COLUMNS = [
    Column(name="file", kind="name"),
    Column(name="metric", kind="name"),
    *(Column(name=name) for name in ("official", "careful", "95 % interval (careful)", "n")),
    Column(name="gates", kind="name"),
]


def document(files: Sequence[GradedFile], *, reading: ReadingName = "careful") -> Document:
    """Return the table of all files."""
    table = Table(title="", columns=_COLUMNS, rows=list(map(cells, _rows(files))))
    notes = notes_below((name, _official_notes(graded)) for graded, name in _named(files) if graded.report is not None)
    return Document(
        title="",
        sections=[Section(title="", parts=[table, *notes])],
        records=lambda: _records(files),
        data=lambda: {"runs": list(map(_run, files))},
        reading=reading,
        files=files,
    )


def _rows(files: Sequence[GradedFile]) -> Iterator[tuple[str, ...]]:
    """Yield the cells of each row; a file's name and its gates are in its first row."""
    for graded, name in _named(files):
        if graded.report is None:
            yield name, "not graded", "", "", "", "", _short(graded.problem)
            continue
        pairs = graded.report.overall() or {"": (None, None)}
        for place, (metric, pair) in enumerate(pairs.items()):
            values = _values(*pair, _official_notes(graded))
            yield ("" if place else name, metric, *values, "" if place else _gates(graded))


def _named(files: Sequence[GradedFile]) -> list[tuple[GradedFile, str]]:
    """Return each file with its name; with its path, if two of them have the same name."""
    short = [PurePath(graded.file).name for graded in files]
    names = short if len(set(short)) == len(short) else [graded.file for graded in files]
    return list(zip(files, names, strict=True))


def _official_notes(graded: GradedFile) -> list[str]:
    return [] if graded.report is None else official_notes(graded.report)


def _gates(graded: GradedFile) -> str:
    """Return the worst state of a file's gates as text, or the problem with the file."""
    states = {gate.state for gate in graded.gates}
    return next((name for state, name in _STATES.items() if state in states), _short(graded.problem))


def _short(problem: str) -> str:
    """Return the first words of a problem, which is printed whole below the table."""
    return re.split(r" \(|[.:;](?: |$)|\n", problem, maxsplit=1)[0]


def _values(official: Metric | None, careful: Metric | None, notes: Sequence[str]) -> tuple[str, ...]:
    return value(official, notes), value(careful), interval(careful), observations(official, careful)


def _records(files: Sequence[GradedFile]) -> Iterator[dict[str, object]]:
    """Yield the rows of each file's own CSV, with the file's name first."""
    for graded in files:
        if graded.report is not None:
            for row in records(graded.report):
                yield {"file": graded.file} | row


def _run(graded: GradedFile) -> dict[str, object]:
    return {
        "file": graded.file,
        "exit_code": graded.exit_code,
        "problem": graded.problem,
        "gates": [{"gate": gate.gate, "state": gate.state, "reason": gate.reason} for gate in graded.gates],
        "report": None if graded.report is None else msgspec.Raw(encode_report(graded.report)),
    }
