"""What a run grades: the benchmark that its options choose, its rows and tasks, and the predictions. Each is read once.

Whoever needs a part of it (grading, `check`, reports, `infer`, a pool) takes it from here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from grader.benchmark import Benchmark
from grader.data.checks import missing_column_messages
from grader.data.tables import ALL, ColumnSet, Rows
from grader.errors import DataUnavailableError, InputError, UsageError
from grader.files.user_files import real_path
from grader.options import Options
from grader.predictions import formats, outcomes
from grader.predictions.data_match import check_file_matches_data
from grader.predictions.file import PredictionFile
from grader.predictions.joining import read_files
from grader.predictions.select import fingerprint, select, selected_part
from grader.results import Part
from grader.scorers import declarations, registry
from grader.scorers.interface import AnyRun, Run
from grader.scorers.lookalikes import hinting
from grader.scorers.registry import AnyScorer
from grader.scorers.rows import rows_of, tasks_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from grader.observer import Observer
    from grader.task import Task

    Source = str | Path | Sequence[str] | PredictionFile
    """A prediction file (`-`: standard input), several that are one run, or one that was read."""

SCORER_SPECIFIC_OPTIONS = ("k", "judge_model", "judge_base_url", "judge_replies")
"""Options that not every scorer supports. If a scorer does not, giving them is an error."""
_OWN_DATA_NOTE = (
    "The prediction file is its own data: the questions, options and gold answers are those that it carries. Nothing "
    "checks that they are those of {}."
)
_NOT_OWN_DATA = (
    "the file does not have the questions, options and gold answers of its tasks, each in a field of its own (options "
    "in a prompt are not read), so it cannot be its own data: give the data that it answers with --data"
)


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """What the options of a run choose."""

    options: Options
    declared: Benchmark
    scorer: AnyScorer
    split: str
    protocol: str

    def rows(self, wanted: ColumnSet | None = None) -> Rows:
        """Read the rows, with the columns that scoring reads, or with those that are `wanted`. Raises a GradeError."""
        return rows_of(self.declared, self.split, self.protocol, self.options.data, self.scorer, wanted=wanted)


def make_setup(options: Options) -> Setup:
    """Return what options choose; raises UsageError, InputError. The only place where a run's declaration is parsed."""
    declared = declarations.load(options.benchmark)
    scorer = registry.scorer(declared.scoring)
    _check_options(options, declared, scorer)
    split, _ = declared.split(options.split)
    protocol = declared.resolve_protocol(options.protocol)
    return Setup(options=options, declared=declared, scorer=scorer, split=split, protocol=protocol)


def accepted_options(scorer: AnyScorer, declared: Benchmark) -> frozenset[str]:
    """Return the options of `SCORER_SPECIFIC_OPTIONS` (and of `grade infer`) that this benchmark takes.

    If the declaration can have a prompt for a judge and has none, the options of a judge are not among them.
    """
    options = scorer.options
    lacks_prompt = getattr(declared, "judge_prompt", "") is None
    return frozenset(name for name in options if not name.startswith("judge_")) if lacks_prompt else options


def _check_options(options: Options, declared: Benchmark, scorer: AnyScorer) -> None:
    """Raise UsageError for options that the benchmark does not use, instead of ignoring them."""
    for name in SCORER_SPECIFIC_OPTIONS:
        if getattr(options, name) and name not in accepted_options(scorer, declared):
            spelled = "-k" if name == "k" else f"--{name.replace('_', '-')}"
            raise UsageError(f"{spelled}: the benchmark {declared.id} (-b) does not use it; leave it out.")


def load_tasks(setup: Setup, *, with_generated: bool = False) -> dict[str, Task]:
    """Return a benchmark's tasks, with all columns except the image; raises a GradeError.

    `with_generated`: also those that the scorer derives from rows and the data need not have, such as the passes of
    MMBench with the options in other orders.
    """
    rows = setup.rows(ColumnSet(None, setup.declared.columns.image))
    tasks = tasks_of(setup.scorer, setup.declared, setup.split, rows)
    if with_generated:
        tasks, _ = setup.scorer.complete(setup.declared, rows, tasks, None)
    return tasks


class Inputs(msgspec.Struct, frozen=True, kw_only=True):
    """All that a run reads."""

    setup: Setup
    run: AnyRun
    """What is scored: the predictions, and the tasks that they answer."""
    rows: Rows
    """The rows of the data, with all columns that were read."""
    part: Part | None
    """Which part of the data is graded; None: all."""
    digest: str
    """A hash of the graded predictions."""
    notes: list[str]

    @property
    def file(self) -> PredictionFile:
        """The predictions as they were read."""
        return self.run.file


def read_inputs(source: Source, setup: Setup, observer: Observer, *, every_column: bool = False) -> Inputs:
    """Read the predictions and the data, and select what is graded; raises a GradeError.

    With `every_column`, the rows have also what only a report shows, such as images. Scoring never sees it.
    """
    options, declared, scorer = setup.options, setup.declared, setup.scorer
    fields = options.fields or declared.predictions
    file = source if isinstance(source, PredictionFile) else read_files(source, fields, observer=observer)
    with hinting(declared, file, options.data):
        rows = rows_for(file, setup, every_column=every_column)
        if not rows.rows:
            raise InputError([f"{rows.origin}: no rows"])
        tasks, file, task_notes = _tasks_of_run(rows, file, setup)
        predictions, selection_notes = select(
            tasks,
            file,
            options,
            declared.unit,
            whole_units=scorer.has_units,
            date=declared.columns.date,
            versions=declared.other_versions,
        )
    digest, part = fingerprint(predictions), selected_part(predictions, tasks)
    run = Run(
        benchmark=declared,
        split=setup.split,
        protocol=setup.protocol,
        tasks={qid: tasks[qid] for qid in predictions},
        predictions=predictions,
        file=file,
        options=options,
        observer=observer,
        oddities=outcomes.find_oddities(tasks, predictions, file),
    )
    notes = [*selection_notes, *task_notes, *_absent_column_notes(declared, rows)]
    return Inputs(setup=setup, run=run, rows=rows, part=part, digest=digest, notes=notes)


def _tasks_of_run(rows: Rows, file: PredictionFile, setup: Setup) -> tuple[dict[str, Task], PredictionFile, list[str]]:
    """Return the tasks that a file can answer, the file with their ids, and notes; raises InputError."""
    declared, scoring_rows = setup.declared, rows.scoring_rows()
    tasks = tasks_of(setup.scorer, declared, setup.split, scoring_rows)
    file = file.with_task_ids(tasks)
    tasks, notes = setup.scorer.complete(declared, scoring_rows, tasks, [record.qid for record in file.records])
    tasks = _mark_conflicts(tasks, file)
    if rows.is_carried:
        return tasks, file, [*notes, _OWN_DATA_NOTE.format(declared.name)]
    return tasks, file, [*notes, *_check_file_matches_data(tasks, file, rows.origin, setup)]


def rows_for(file: PredictionFile, setup: Setup, *, every_column: bool = False) -> Rows:
    """Return the benchmark's rows: those of `--data`, the declared ones, or those in the prediction file.

    The file is its own data if it is named as `--data`, or if there is no other data on this machine.
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
        if file.field_options is None or file.path is None or not _can_be_data(file.path, setup):
            raise
        advice = f"{file.name} has the columns of the data, so it can be its own data: --data {file.path}"
        raise DataUnavailableError(f"{error} {advice}") from None


def _can_be_data(path: Path, setup: Setup) -> bool:
    """Whether a file can be given as `--data`."""
    named = msgspec.structs.replace(setup, options=msgspec.structs.replace(setup.options, data=path))
    try:
        tasks_of(setup.scorer, setup.declared, setup.split, named.rows().scoring_rows())
    except (InputError, UsageError, DataUnavailableError):
        return False
    return True


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


def _mark_conflicts(tasks: dict[str, Task], file: PredictionFile) -> dict[str, Task]:
    """Return all tasks, of which those are broken whose records in the file answer different questions."""
    broken = {}
    for qid, difference in file.conflicts.items():
        if qid in tasks:
            reason = f"the file has different questions with this id: {difference}"
            broken[qid] = msgspec.structs.replace(tasks[qid], broken=reason, gold=None)
    return tasks | broken


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
