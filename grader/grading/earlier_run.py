"""What is read to score an earlier run again (`--score-only`): its own files, and the predictions, each once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from grader.data.tables import ALL, Rows
from grader.errors import UsageError
from grader.grading.inputs import read_inputs
from grader.grading.setup import Setup
from grader.grading.tasks import rows_for
from grader.predictions.file import PredictionFile
from grader.predictions.read import read_predictions
from grader.predictions.select import fingerprint, have_digest
from grader.results import Part, Provenance
from grader.results.file import read_report
from grader.results.names import path_beside, results_path, stem_in
from grader.scorers.interface import EarlierRun
from grader.scorers.registry import fact_types

if TYPE_CHECKING:
    from grader.benchmark import Fields
    from grader.grading.inputs import Source
    from grader.observer import Observer


class EarlierInputs(msgspec.Struct, frozen=True, kw_only=True):
    """All that is read of an earlier run."""

    setup: Setup
    run: EarlierRun[Any]
    """What is scored again."""
    file: PredictionFile | None
    """The predictions; None if their file is gone: the results are enough."""
    rows: Rows | None
    """The data's rows; None: nothing needed them."""
    part: Part | None
    """Which part of the data the options choose; None: all."""
    stem: Path
    """The beginning of the paths of the files to write."""
    digest: str | None
    """A hash of the predictions that were graded; None: it is not known."""

    @property
    def name(self) -> str:
        """The name of the prediction file, without its folder."""
        return self.run.path.name

    @property
    def is_judged(self) -> bool:
        """Return True: the verdicts of a judge, if there was one, are kept."""
        return True


def read_earlier(source: Source, setup: Setup, observer: Observer, *, every_column: bool = False) -> EarlierInputs:
    """Read an earlier run, and check that the predictions and options given now are its own; raises a GradeError.

    The whole run is scored again; a part only with the same `--limit`, `--id` or dates as before.
    """
    path, options = _path(source), setup.options
    # Only the predictions and the data tell which part the options choose.
    inputs = read_inputs(path, setup, observer, every_column=every_column) if options.is_partial else None
    part, file, rows = (None, None, None) if inputs is None else (inputs.part, inputs.file, inputs.rows)
    stem, stem_beside = stem_in(options.output_dir, path, part), stem_in(None, path, part)
    run = _earlier_run(path, stem if results_path(stem).is_file() else stem_beside, setup)
    # Only a scorer with a file of its own can do without results.
    report = run.report if setup.scorer.file_ending else run.require_report()
    provenance = (
        Provenance(fields=options.fields or setup.declared.predictions) if report is None else report.provenance
    )
    file, digest = _graded_predictions(file, provenance.fields, run, setup)
    if provenance.data_digest is not None and (options.data is not None or _has_declared_file(setup, provenance.data)):
        if rows is None and file is not None:
            rows = rows_for(file, setup, every_column=every_column)
        rows = rows or setup.rows(ALL if every_column else None)
        if rows.digest != provenance.data_digest:
            raise UsageError(_other_data_message(options.data, provenance.data))
    return EarlierInputs(setup=setup, run=run, file=file, rows=rows, part=part, stem=stem, digest=digest)


def _has_declared_file(setup: Setup, name: str | None) -> bool:
    """Whether a file of this name is beside the declaration, as the data of the split."""
    data = setup.declared.splits[setup.split].data
    return bool(data) and Path(data).name == name and (Path(setup.declared.folder) / data).exists()


def _other_data_message(given: Path | None, graded: str | None) -> str:
    if given is None:
        return (
            f"The data {graded}, or its [columns] in benchmark.toml, have changed since it was graded. Grade again "
            "without --score-only."
        )
    return (
        f"--data {given} is not the data that was graded ({graded}). Grade again without --score-only; or leave out "
        "--data, to compute the metrics of the earlier verdicts again."
    )


def _path(source: Source) -> Path:
    """Return the path of the prediction file. Raises UsageError."""
    if not isinstance(source, str | Path) or str(source) == "-":
        raise UsageError("--score-only reads the files of an earlier run; name the prediction file.")
    if Path(source).is_dir():
        raise UsageError(f"{source}: is a folder; name the prediction file in it.")
    return Path(source)


def _graded_predictions(
    file: PredictionFile | None, fields: Fields | None, run: EarlierRun[Any], setup: Setup
) -> tuple[PredictionFile | None, str | None]:
    """Return the predictions with the ids of their tasks, and the digest of those that were graded, if it is known.

    `file`: the predictions if they were read; otherwise they are read by `fields`. Raises UsageError if they are not
    those that were graded.
    """
    if file is None and run.path.is_file():
        file = read_predictions(run.path, fields)
    if run.report is not None:
        qids = dict.fromkeys(sample.qid for sample in run.report.samples)
        digest = run.report.provenance.predictions_digest
    else:
        # The samples come from the scorer's own file: beside the prediction file, or this file itself.
        scorer_file = path_beside(run.stem, setup.scorer.file_ending)
        graded_file = read_predictions(scorer_file) if scorer_file.is_file() else file
        graded = {} if graded_file is None else graded_file.predictions_by_qid
        qids, digest = dict.fromkeys(graded), fingerprint(graded)
    if file is not None and qids:
        file = file.with_task_ids(qids)
        if digest is not None and not have_digest(file.predictions_by_qid, qids, digest):
            raise UsageError(f"{run.path.name} has changed since it was graded; grade it again without --score-only.")
    return file, digest


def _earlier_run(path: Path, stem: Path, setup: Setup) -> EarlierRun[Any]:
    """Return the earlier run whose files begin with `stem`, with its results file if there is one.

    Raises UsageError if the results are of another benchmark, split or protocol, or by other rules; InputError.
    """
    results = results_path(stem)
    report = read_report(results, fact_types) if results.is_file() else None
    expected = (setup.declared.id, setup.split, setup.protocol)
    if report is not None and (report.benchmark, report.split, report.protocol) != expected:
        raise UsageError(
            f"{results.name} was made with -b {report.benchmark} --split {report.split} --protocol "
            f"{report.protocol}; give the same to score it again."
        )
    declared = setup.declared.settings_in(setup.protocol).get("declared", {})
    if report is not None and (graded := report.provenance.settings.get("declared", {})) != declared:
        names = sorted(name for name in graded.keys() | declared.keys() if graded.get(name) != declared.get(name))
        raise UsageError(
            f"{results.name} was made with another benchmark.toml: {', '.join(names)} changed. Grade again without "
            "--score-only."
        )
    return EarlierRun(
        benchmark=setup.declared,
        split=setup.split,
        protocol=setup.protocol,
        path=path,
        stem=stem,
        report=report,
        options=setup.options,
    )
