"""What a run grades: the tasks of its benchmark and the predictions. Each is read once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from grader.data.tables import Rows
from grader.grading.setup import Setup
from grader.grading.tasks import tasks_for
from grader.predictions import outcomes
from grader.predictions.file import PredictionFile
from grader.predictions.joining import read_files
from grader.predictions.select import fingerprint, select, selected_part
from grader.results import Part
from grader.results.names import STANDARD_INPUT, stem_in
from grader.scorers.interface import AnyRun, Run
from grader.scorers.lookalikes import suggest_other_benchmark

if TYPE_CHECKING:
    from grader.observer import Observer

Source = str | Path | Sequence[str] | PredictionFile
"""A prediction file (`-`: standard input), several that are one run, or one that was read."""


class Inputs(msgspec.Struct, frozen=True, kw_only=True):
    """All that a run reads."""

    setup: Setup
    run: AnyRun
    """What is scored: the predictions, and the tasks that they answer."""
    rows: Rows
    """The rows of the data, with all columns that were read."""
    part: Part | None
    """Which part of the data is graded; None: all."""
    stem: Path | None
    """The beginning of the paths of the files to write; None: predictions from standard input, no file is written."""
    digest: str
    """A hash of the graded predictions."""
    notes: list[str]

    @property
    def file(self) -> PredictionFile:
        """The predictions as they were read."""
        return self.run.file

    @property
    def name(self) -> str:
        """The name of the prediction file, without its folder."""
        return self.file.name.rpartition("/")[2]

    @property
    def is_judged(self) -> bool:
        """Whether the run has a judge."""
        options = self.setup.options
        return bool(options.judge_model or options.judge_replies or self.file.judge_replies)


def read_inputs(source: Source, setup: Setup, observer: Observer, *, every_column: bool = False) -> Inputs:
    """Read the predictions and the data, and select what is graded; raises a GradeError.

    `every_column`: see `tasks.rows_for`; for a caller that shows items.
    """
    options, declared = setup.options, setup.declared
    fields = options.fields or declared.predictions
    file = source if isinstance(source, PredictionFile) else read_files(source, fields, observer=observer)
    with suggest_other_benchmark(declared, file, options.data):
        run_tasks = tasks_for(file, setup, every_column=every_column)
        tasks, file = run_tasks.tasks, run_tasks.file
        predictions, selection_notes = select(
            tasks,
            file,
            options,
            declared.unit,
            whole_units=setup.scorer.has_units,
            date=declared.columns.date,
            versions=declared.other_versions,
        )
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
    part = selected_part(predictions, tasks)
    has_stem = file.path is not None or options.output_dir is not None
    return Inputs(
        setup=setup,
        run=run,
        rows=run_tasks.rows,
        part=part,
        stem=stem_in(options.output_dir, file.path or STANDARD_INPUT, part) if has_stem else None,
        digest=fingerprint(predictions),
        notes=[*selection_notes, *run_tasks.notes],
    )
