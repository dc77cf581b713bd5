"""One grading run from end to end, for any scorer: read, score (or take the samples of an earlier run), report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.grading.earlier_run import EarlierInputs, read_earlier
from grader.grading.inputs import read_inputs
from grader.grading.report import Graded, report_of
from grader.grading.setup import Setup, make_setup
from grader.observer import Silent
from grader.scorers.output_check import checked_output
from grader.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.grading.inputs import Inputs, Source
    from grader.observer import Observer
    from grader.options import Options
    from grader.results.outputs import Outputs
    from grader.scorers.interface import AnyRun
    from grader.scorers.registry import AnyScorer


def grade(
    source: Source,
    options: Options | Setup,
    observer: Observer,
    *,
    outputs: Outputs | None = None,
    check_run: Callable[[AnyScorer, AnyRun], None] | None = None,
    every_column: bool = False,
) -> Graded:
    """Grade a prediction file, or several as one; raises a GradeError, and then no file was written.

    `outputs` claims the files that the caller will write, before grading starts. `check_run` is called with the
    data and the predictions before they are scored, and may refuse the run; it is not called if an earlier run is
    scored again.
    `every_column`: see `tasks.rows_for`; for a caller that shows items.
    """
    setup = options if isinstance(options, Setup) else make_setup(options)
    inputs: Inputs | EarlierInputs
    if setup.options.score_only:
        inputs = read_earlier(source, setup, observer, every_column=every_column)
    else:
        inputs = read_inputs(source, setup, observer, every_column=every_column)
    if outputs is not None:
        file_ending = setup.scorer.file_ending
        outputs.claim(inputs.stem, inputs.name, judged=inputs.is_judged, scorer_file_ending=file_ending)
    if isinstance(inputs, EarlierInputs):
        scored = setup.scorer.rescore(inputs.run)
    else:
        if check_run is not None:
            check_run(setup.scorer, inputs.run)
        scored = checked_output(setup.scorer, inputs.run, setup.scorer.score(inputs.run))
    return Graded(
        report=report_of(inputs, scored),
        stem=inputs.stem,
        write_scorer_file=scored.write_scorer_file,
        file=inputs.file,
        rows=inputs.rows,
    )


def check(source: Source, options: Options, observer: Observer | None = None) -> list[str]:
    """Return a summary of a prediction file and its warnings; raises InputError with every problem.

    For programs the reference solutions run, as in grading: `unjudged_task_notes` says which tasks cannot be judged.
    """
    inputs = read_inputs(source, make_setup(options), observer or Silent())
    declared, file, predictions = inputs.setup.declared, inputs.file, inputs.run.predictions
    counts = sorted({len(texts) for texts in predictions.values()})
    samples = counted(counts[0], "sample") if len(counts) == 1 else f"{counts[0]} to {counts[-1]} samples"
    units = counted(len(predictions), declared.unit)
    summary = f"{file.name}: {units} of {declared.id}, {samples} each (format: {file.format})"
    unjudged_notes = inputs.setup.scorer.unjudged_task_notes(inputs.run)
    return [summary, *file.warnings, *inputs.notes, *inputs.run.oddities.notes(), *unjudged_notes]
