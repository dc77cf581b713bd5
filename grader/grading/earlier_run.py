"""Scoring again from the files of an earlier run (`--score-only`), without a sandbox and without a judge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from grader.errors import UsageError
from grader.grading.inputs import read_inputs, rows_for
from grader.grading.report import Graded, complete_report
from grader.observer import Silent
from grader.predictions.read import read_predictions
from grader.predictions.select import are_graded, fingerprint
from grader.results import Provenance, Report
from grader.results.file import read_report
from grader.results.outputs import path_beside, results_path, stem_in
from grader.scorers.interface import EarlierRun
from grader.scorers.registry import fact_types

if TYPE_CHECKING:
    from grader.data.tables import Rows
    from grader.grading.inputs import Inputs, Setup, Source
    from grader.options import Options
    from grader.results import Part, SampleResult
    from grader.results.outputs import Outputs
    from grader.scorers.registry import AnyScorer


def score_again(source: Source, setup: Setup, outputs: Outputs | None, *, every_column: bool = False) -> Graded:
    """Return the report of an earlier run's samples, scored again with the options given now; raises a GradeError.

    The whole run is scored again; a part only with the same `--limit`, `--id` or dates as before.
    """
    path, options = _path(source), setup.options
    inputs = _read_selected_part(path, setup, every_column=every_column) if options.is_partial else None
    part = None if inputs is None else inputs.part
    earlier_stem, stem = _earlier_stem(path, options, part), stem_in(options.output_dir, path, part)
    earlier = EarlierRun(
        benchmark=setup.declared,
        split=setup.split,
        protocol=setup.protocol,
        path=path,
        stem=earlier_stem,
        report=_earlier_report(earlier_stem, setup),
        options=options,
    )
    if outputs is not None:
        # The verdicts of a judge, if there was one, are kept.
        outputs.claim(stem, path.name, judged=True, scorer_file_ending=setup.scorer.file_ending)
    scored = setup.scorer.rescore(earlier)
    # Without a results file, the samples come from the scorer's own file.
    report = earlier.report or _report_from_scorer_file(path, earlier_stem, setup, scored.samples)
    rows = None if inputs is None else inputs.rows
    rows = _check_inputs(path, setup, report, rows, every_column=every_column)
    notes = report.notes if scored.notes is None else scored.notes
    return Graded(report=complete_report(report, scored, setup, notes), stem=stem, rows=rows)


def _path(source: Source) -> Path:
    """Return the path of the prediction file. Raises UsageError."""
    if not isinstance(source, str | Path) or str(source) == "-":
        raise UsageError("--score-only reads the files of an earlier run; name the prediction file.")
    if Path(source).is_dir():
        raise UsageError(f"{source}: is a folder; name the prediction file in it.")
    return Path(source)


def _read_selected_part(path: Path, setup: Setup, *, every_column: bool) -> Inputs:
    """Read the predictions and the data again: they tell which part the options choose."""
    # The part was graded, so a task without a prediction was no error then, and is none now.
    missing = "skip" if setup.options.missing == "skip" else "wrong"
    options = msgspec.structs.replace(setup.options, missing=missing)
    return read_inputs(path, msgspec.structs.replace(setup, options=options), Silent(), every_column=every_column)


def _report_from_scorer_file(path: Path, stem: Path, setup: Setup, samples: list[SampleResult]) -> Report:
    """Return a report, without metrics, of samples that come from the scorer's file: there is no results file."""
    return Report(
        benchmark=setup.declared.id,
        scorer=setup.declared.scoring,
        split=setup.split,
        protocol=setup.protocol,
        metrics=[],
        samples=samples,
        provenance=Provenance(
            predictions=path.name, predictions_digest=_digest_with_scorer_file(path, stem, setup.scorer)
        ),
    )


def _earlier_stem(path: Path, options: Options, part: Part | None) -> Path:
    """Return the stem of the earlier run's files: in the folder of `--output-dir`, else beside the predictions."""
    in_output_dir, beside_predictions = stem_in(options.output_dir, path, part), stem_in(None, path, part)
    assert in_output_dir is not None
    assert beside_predictions is not None
    return in_output_dir if results_path(in_output_dir).is_file() else beside_predictions


def _earlier_report(stem: Path, setup: Setup) -> Report | None:
    """Return the results file of an earlier run, None if there is none; raises InputError, UsageError."""
    results = results_path(stem)
    if not results.is_file():
        return None
    report = read_report(results, fact_types)
    if (report.benchmark, report.split, report.protocol) != (setup.declared.id, setup.split, setup.protocol):
        raise UsageError(
            f"{results.name} was made with -b {report.benchmark} --split {report.split} --protocol "
            f"{report.protocol}; give the same to score it again."
        )
    return report


def _digest_with_scorer_file(path: Path, stem: Path, scorer: AnyScorer) -> str:
    """Return the digest of the predictions in the scorer's file: beside the prediction file, or this file itself."""
    scorer_file = path_beside(stem, scorer.file_ending)
    return fingerprint(read_predictions(scorer_file if scorer_file.is_file() else path).predictions_by_qid)


def _check_inputs(path: Path, setup: Setup, report: Report, rows: Rows | None, *, every_column: bool) -> Rows | None:
    """Raise UsageError if the predictions, or the data of `--data`, are not those of the report.

    Return the data's rows: those given, or those that had to be read for this; None if none were needed.
    """
    provenance = report.provenance
    checks_predictions = path.is_file() and provenance.predictions_digest is not None and bool(report.samples)
    checks_data = setup.options.data is not None and provenance.data_digest is not None
    if not checks_predictions and not checks_data:
        return rows
    file = read_predictions(path, provenance.fields)
    if checks_predictions and not are_graded(file.predictions_by_qid, report):
        raise UsageError(f"{path.name} has changed since it was graded; grade it again without --score-only.")
    if not checks_data:
        return rows
    rows = rows or rows_for(file, setup, every_column=every_column)
    if rows.digest != provenance.data_digest:
        raise UsageError(
            f"--data {setup.options.data} is not the data that was graded ({provenance.data}). Grade again without "
            "--score-only; or leave out --data, to compute the metrics of the earlier verdicts again."
        )
    return rows
