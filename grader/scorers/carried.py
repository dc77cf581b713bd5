"""Data that a prediction file carries: its own questions, options and gold answers, in the benchmark's columns."""

from __future__ import annotations

import hashlib
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from grader.data.tables import BROKEN_SHARE, Rows
from grader.predictions import formats
from grader.predictions.recorded_task import RecordedTask, recorded_task_of, task_row_of
from grader.scorers.choice.items import options_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from grader.benchmark import Benchmark
    from grader.data.tables import Row
    from grader.predictions.file import PredictionFile, PredictionRecord


def carried_rows(
    file: PredictionFile,
    benchmark: Benchmark,
    *,
    letters: str = "",
    options_column: str = "",
    options_in_question: bool = False,
) -> Rows | None:
    """Return the rows of a file that carries the gold answers of its tasks, and their questions or options; else None.

    With `letters`, tasks need options: in a column for each letter; or all in `options_column`; or, with
    `options_in_question`, at the end of the question.
    """
    if not formats.format_named(file.format).has_task:
        return None
    make_row = (
        _row_with_options_in_question
        if options_in_question
        else partial(_row, letters=letters, options_column=options_column)
    )
    pairs = [make_row(record, file, benchmark) for record in file.records]
    if sum(not is_complete for _, is_complete in pairs) > BROKEN_SHARE * len(pairs):
        return None
    rows = [row for row, _ in pairs]
    return Rows(rows=rows, origin=f"{file.name} (its own questions)", digest=digest_of(rows), is_carried=True)


def digest_of(rows: Iterable[Mapping[str, object]]) -> str:
    """Return a hash of carried rows in any order: tools log the same tasks as their answers come."""
    return hashlib.sha256(b"\n".join(sorted(msgspec.json.encode(row, enc_hook=str) for row in rows))).hexdigest()[:16]


def _row_with_options_in_question(
    record: PredictionRecord, file: PredictionFile, benchmark: Benchmark
) -> tuple[Row, bool]:
    """Return the row as `_row` does, with the options of the record at the end of a question that has none."""
    row, is_complete = _row(record, file, benchmark, letters="", options_column="")
    column = benchmark.columns.question or ""
    options, question = recorded_task_of(record, file, benchmark).options, str(row[column] or "")
    if options and not options_in(question):
        row[column] = " ".join([question, *(f"({letter}) {text}" for letter, text in options.items())])
    return row, is_complete


def _row(
    record: PredictionRecord, file: PredictionFile, benchmark: Benchmark, letters: str, options_column: str
) -> tuple[Row, bool]:
    """Return the task's row that a record carries, and whether it has a question, an answer, and the options it needs.

    `letters`: those of its options; without any, it needs none. `options_column`: see `carried_rows`.
    """
    recorded_task, id_column = recorded_task_of(record, file, benchmark), benchmark.columns.id
    row: Row = {id_column: record.qid, **task_row_of(record)}  # the id's column is the first one
    row[id_column] = record.qid  # also where the record's own data has another id
    has_options = _add_options(row, recorded_task, letters, options_column)
    question = benchmark.columns.question
    if question and question not in row:
        row[question] = recorded_task.question or recorded_task.prompt or None
    # A question with options can be an image alone.
    has_question = bool(not question or row[question] or letters)
    has_answer = _add_answer(row, recorded_task, benchmark, has_letters=bool(letters))
    return row, has_options and has_question and has_answer


def _add_options(row: Row, recorded_task: RecordedTask, letters: str, column: str) -> bool:
    """Add the options to a row, in one column or one for each letter; return whether it has those it needs."""
    if column and column not in row and recorded_task.options:
        row[column] = [*recorded_task.options.values()]
    if not letters:
        return True
    if column:
        return bool(recorded_task.options)  # they are those of the row's own column, if it has one
    has_columns = set(letters[:2]) <= row.keys()  # a task can have only two options
    row |= {letter: text for letter, text in recorded_task.options.items() if letter in letters and letter not in row}
    return has_columns or bool(recorded_task.options)


def _add_answer(row: Row, recorded_task: RecordedTask, benchmark: Benchmark, *, has_letters: bool) -> bool:
    """Add the gold answer to a row; return whether the row has a column with it, or the benchmark declares none.

    A number in the column becomes the letter of this option, unless the declaration says that answers are numbers.
    """
    column = getattr(benchmark.columns, "answer", None)
    if not column:
        return True
    is_present = column in row
    must_be_letter = has_letters and getattr(benchmark, "answer_from", None) is None
    if not is_present or (must_be_letter and isinstance(row[column], int)):
        row[column] = recorded_task.gold or None
    return is_present or row[column] is not None
