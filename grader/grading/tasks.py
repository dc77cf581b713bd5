"""The tasks that a prediction file answers, and the rows that they are made from, which the file itself may carry."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from grader.data.checks import missing_column_messages
from grader.data.tables import ALL, Rows
from grader.errors import DataUnavailableError, InputError
from grader.files.user_files import real_path
from grader.predictions import formats
from grader.predictions.data_match import check_file_matches_data
from grader.predictions.file import PredictionFile
from grader.scorers.rows import tasks_of
from grader.task import Task

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.benchmark import Benchmark
    from grader.grading.setup import Setup

_OWN_DATA_NOTE = (
    "The prediction file is its own data: the questions, options and gold answers are those that it carries. Nothing "
    "checks that they are those of {}."
)
_NOT_OWN_DATA = (
    "the file does not have the questions, options and gold answers of its tasks, each in a field of its own (options "
    "in a prompt are not read), so it cannot be its own data: give the data that it answers with --data"
)


class RunTasks(msgspec.Struct, frozen=True, kw_only=True):
    """The tasks of a run."""

    rows: Rows
    """The rows of the data, with all columns that were read."""
    tasks: dict[str, Task]
    file: PredictionFile
    """The predictions, with the ids of the tasks."""
    notes: list[str]


def tasks_for(file: PredictionFile, setup: Setup, *, every_column: bool) -> RunTasks:
    """Read the rows; return the tasks made of them, and the predictions with the ids of these. Raises a GradeError."""
    rows = rows_for(file, setup, every_column=every_column)
    if not rows.rows:
        raise InputError([f"{rows.origin}: no rows"])
    declared, scoring_rows = setup.declared, rows.scoring_rows()
    tasks = tasks_of(setup.scorer, declared, setup.split, scoring_rows)
    file = file.with_task_ids(tasks)
    tasks, notes = setup.scorer.complete(declared, scoring_rows, tasks, [record.qid for record in file.records])
    tasks = _mark_conflicts(tasks, file)
    if rows.is_carried:
        notes = [*notes, _OWN_DATA_NOTE.format(declared.name)]
    else:
        notes = [*notes, *_check_file_matches_data(tasks, file, rows.origin, setup)]
    return RunTasks(rows=rows, tasks=tasks, file=file, notes=[*notes, *_absent_column_notes(declared, rows)])


def rows_for(file: PredictionFile, setup: Setup, *, every_column: bool) -> Rows:
    """Return the benchmark's rows: those of `--data`, the declared ones, or those in the prediction file.

    The file is its own data if it is named as `--data`, or if there is no other data on this machine. With
    `every_column`, the rows have also what only a report shows, such as images. Scoring never sees it.
    """
    options, declared, scorer = setup.options, setup.declared, setup.scorer
    if options.data is not None and file.path is not None and real_path(options.data) == real_path(file.path):
        rows_in_file = scorer.load_scorer_rows(declared, setup.split, file)
        if rows_in_file is not None:
            return rows_in_file
        if not formats.format_named(file.format).is_data:
            raise InputError([f"{options.data}: {_NOT_OWN_DATA}"])
    try:
        return setup.rows(ALL if every_column else None)
    except DataUnavailableError as error:
        if options.data is not None:
            raise
        rows_in_file = scorer.load_scorer_rows(declared, setup.split, file)
        if rows_in_file is not None:
            return rows_in_file
        if file.field_options is None or file.path is None or not setup.has_tasks_in(file.path):
            raise
        advice = f"{file.name} has the columns of the data, so it can be its own data: --data {file.path}"
        raise DataUnavailableError(f"{error} {advice}") from None


def _mark_conflicts(tasks: dict[str, Task], file: PredictionFile) -> dict[str, Task]:
    """Return all tasks, of which those are broken whose records in the file answer different questions."""
    broken = {}
    for qid, difference in file.conflicts.items():
        if qid in tasks:
            reason = f"the file has different questions with this id: {difference}"
            broken[qid] = msgspec.structs.replace(tasks[qid], broken=reason, gold=None)
    return tasks | broken


def _check_file_matches_data(tasks: Mapping[str, Task], file: PredictionFile, origin: str, setup: Setup) -> list[str]:
    """Return a note on the rows that differ from the data. Raises InputError if most do.

    If the file has all that its tasks need, the error proposes it as `--data`.
    """
    try:
        return check_file_matches_data(tasks, file, setup.declared, origin)
    except InputError as error:
        if file.path is None or setup.scorer.load_scorer_rows(setup.declared, setup.split, file) is None:
            raise
        advice = "The file has the questions and gold answers of its tasks, so it can be its own data"
        raise InputError([f"{problem} {advice}: --data {file.path}" for problem in error.problems]) from None


def _absent_column_notes(declared: Benchmark, rows: Rows) -> list[str]:
    """Return a note on each column that a private benchmark declares and its data do not have.

    The data of bundled benchmarks comes in several forms, and some of them have fewer columns.
    """
    if declared.bundled or not rows.columns:
        return []
    messages = missing_column_messages(rows.columns, declared)
    return [
        f"The data has {message} (`{field}` in [columns] of benchmark.toml)." for field, message in messages.items()
    ]
