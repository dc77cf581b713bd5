"""Data that a prediction file carries: its own questions, options and gold answers, in the benchmark's columns."""

from __future__ import annotations

import hashlib
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from grader.data.tables import BROKEN_SHARE, Rows
from grader.predictions import formats
from grader.predictions.evidence import evidence_of, task_row_of
from grader.scorers.choice.items import options_in

if TYPE_CHECKING:
    from grader.benchmark import Benchmark
    from grader.data.tables import Row
    from grader.predictions.file import PredictionFile, PredictionRecord


def carried_rows(
    file: PredictionFile, benchmark: Benchmark, *, letters: str = "", options: str = "", in_text: bool = False
) -> Rows | None:
    """Return the rows of a file that carries the gold answers of its tasks, and their questions or options; else None.

    With `letters`, tasks need options, in columns of these names, in the column `options` or, with `in_text`, at the
    end of the question.
    """
    if not formats.format_named(file.format).has_task:
        return None
    make = _row_with_options_in_text if in_text else partial(_row, letters=letters, options=options)
    found = [make(record, file, benchmark) for record in file.records]
    if sum(not is_whole for _, is_whole in found) > BROKEN_SHARE * len(found):
        return None
    rows = [row for row, _ in found]
    digest = hashlib.sha256(msgspec.json.encode(rows, enc_hook=str)).hexdigest()[:16]
    return Rows(rows=rows, origin=f"{file.name} (its own questions)", digest=digest, is_carried=True)


def _row_with_options_in_text(record: PredictionRecord, file: PredictionFile, benchmark: Benchmark) -> tuple[Row, bool]:
    row, is_whole = _row(record, file, benchmark, "", "")
    options, question = evidence_of(record, file, benchmark).options, str(row[benchmark.columns.question or ""] or "")
    if options and not options_in(question):
        row[benchmark.columns.question or ""] = " ".join([question, *(f"({k}) {text}" for k, text in options.items())])
    return row, is_whole


def _row(
    record: PredictionRecord, file: PredictionFile, benchmark: Benchmark, letters: str, options: str
) -> tuple[Row, bool]:
    """Return the row that a record carries, and whether it has all parts: one that lacks some is a broken row."""
    columns, said = benchmark.columns, evidence_of(record, file, benchmark)
    row: Row = {columns.id: record.qid, **task_row_of(record)}
    row[columns.id] = record.qid
    answer, question = getattr(columns, "answer", None), columns.question
    if letters and not options:
        options_there = bool(said.options) or set(letters[:2]) <= row.keys()
        row |= {letter: text for letter, text in said.options.items() if letter in letters and letter not in row}
    else:
        options_there = bool(said.options) or not letters
        if options and options not in row and said.options:
            row[options] = [*said.options.values()]
    if question and question not in row:
        row[question] = said.question or said.prompt or None
    is_number = isinstance(row.get(answer or ""), int) and letters and getattr(benchmark, "answer_from", None) is None
    if answer and (answer not in row or is_number):
        row[answer] = said.gold_letter or None
    has_answer = not answer or answer in task_row_of(record) or row[answer] is not None
    return row, options_there and has_answer and bool(not question or row[question] or letters)
