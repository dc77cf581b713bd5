"""Material that a report shows beside its metrics: tasks, images, raw outputs and programs, from the run's files.

Missing material is not an error: a missing file, or one that changed after grading, becomes a `Gap` in the report.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from grader.benchmark import Benchmark
from grader.errors import GradeError, first_line
from grader.predictions.fields import fields_from
from grader.predictions.file import PredictionFile
from grader.predictions.read import read_predictions
from grader.predictions.select import fingerprint
from grader.reports.questions import Gap, ShownTasks, gather
from grader.results.outputs import path_beside, stem_of
from grader.scorers import declarations
from grader.scorers.interface import ExecutedProgram, ScorerFile
from grader.scorers.registry import scorer_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.data.tables import Rows
    from grader.results import Report
    from grader.scorers.registry import AnyScorer


RawOutputs = Mapping[str, list[str]]
"""Id of a task -> its raw outputs, verified to be the graded ones."""


class Material(ShownTasks, frozen=True, kw_only=True):
    """The material of a report's items, by qid."""

    runs_programs: bool = False
    unit: str = "question"
    """The noun for one item."""
    predictions: RawOutputs = {}
    programs: dict[str, list[ExecutedProgram]] = {}
    gaps: list[Gap] = []


class Files(msgspec.Struct, frozen=True, kw_only=True):
    """The files that belong to a results file; None if a file does not exist."""

    predictions: Path | None
    scorer_file: Path | None
    """The scorer's own file (executed programs)."""
    folders: list[Path] = []
    """Folders to search for the benchmark's data."""


def files_for_results(results: Path, report: Report) -> Files:
    """Return the files beside a results file that belong to it. Raises UsageError if the scorer is not installed."""
    name = Path(report.provenance.predictions).name
    predictions = _existing(results.parent / name) if name else None
    scorer_file = None
    if ending := scorer_of(report).file_ending:
        # The file is called like the results. If the results were renamed, it is called like the predictions.
        scorer_file = _existing(path_beside(results.with_name(results.stem.removesuffix("_results")), ending))
        if scorer_file is None and name:
            scorer_file = _existing(path_beside(stem_of(results.parent / name), ending))
    return Files(predictions=predictions, scorer_file=scorer_file, folders=[results.parent, Path()])


def _existing(path: Path) -> Path | None:
    """Return the path of a file; None if the file does not exist."""
    return path if path.is_file() else None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Where the material of a run that was just graded is."""

    predictions: Path | PredictionFile
    data: Path | None
    stem: Path | None
    """The path of the predictions without suffix: the scorer's own file is beside it."""
    declared: Benchmark
    rows: Rows | None
    """The rows that were graded, with every column; None: they are read when they are shown."""
    gaps: list[Gap] = dataclasses.field(default_factory=list)
    """What `load` could not find."""

    def outputs(self, report: Report) -> RawOutputs:
        """Return the run's outputs, as far as they are known."""
        return _outputs_by_task(_graded_predictions(report, self.predictions, []))

    def load(self, report: Report) -> Material:
        """Collect the material of the run's report."""
        ending = scorer_of(report).file_ending
        scorer_file = _existing(path_beside(self.stem, ending)) if ending and self.stem is not None else None
        material = load(report, self.predictions, self.data, scorer_file, benchmark=self.declared, rows=self.rows)
        self.gaps.extend(material.gaps)
        return material


def load(
    report: Report,
    predictions: Path | PredictionFile | None,
    data: Path | None,
    scorer_file: Path | None,
    *,
    benchmark: str | Benchmark | None = None,
    rows: Rows | None = None,
    folders: Sequence[Path] = (),
) -> Material:
    """Collect the material of a report's items. Raises UsageError if the report's scorer is not installed.

    `data` is as in grading. If it is None, a file with the name and digest of the graded data is searched in `folders`,
    then the declared data are used. `scorer_file` is the scorer's own file. `benchmark` is the declaration, or names it
    if the report's name does not find it (a folder given with -b). `rows`: those that were just graded.
    """
    scorer = scorer_of(report)
    gaps: list[Gap] = []
    declared = benchmark if isinstance(benchmark, Benchmark) else _load_benchmark(report, benchmark, gaps)
    file = _graded_predictions(report, predictions, gaps) if report.samples else None
    outputs = _outputs_by_task(file)
    executed = _read_scorer_file(report, scorer, scorer_file, outputs, gaps) if scorer.runs_programs else ScorerFile()
    if file is None and scorer_file is not None and executed.predictions and _are_graded(report, executed.predictions):
        outputs = executed.predictions
        gaps = _gaps_with_scorer_file(gaps, scorer_file.name, has_predictions_file=predictions is not None)
    tasks = ShownTasks()
    if declared is not None and report.samples:
        tasks = gather(report, declared, file, data, gaps, rows=rows, folders=folders)
    qids = dict.fromkeys(sample.qid for sample in report.samples)
    return Material(
        runs_programs=scorer.runs_programs,
        unit=declared.unit if declared is not None else "item",
        **msgspec.structs.asdict(tasks),
        predictions={qid: outputs[qid] for qid in qids if qid in outputs},
        programs=executed.programs,
        gaps=gaps,
    )


def load_for_results(
    results: Path, report: Report, data: Path | None, *, benchmark: str | None = None, predictions: Path | None = None
) -> Material:
    """Collect the material of a report from the files beside its results, and from `predictions`, if given."""
    files = files_for_results(results, report)
    folders = files.folders if predictions is None else [predictions.parent, *files.folders]
    file = predictions or files.predictions
    return load(report, file, data, files.scorer_file, benchmark=benchmark, folders=folders)


def outputs_for_results(results: Path, report: Report, predictions: Path | None = None) -> RawOutputs:
    """Return the outputs of a report from `predictions`, or from the file beside its results; empty if unknown."""
    file = predictions or files_for_results(results, report).predictions
    return _outputs_by_task(_graded_predictions(report, file, []))


def _load_benchmark(report: Report, reference: str | None, gaps: list[Gap]) -> Benchmark | None:
    """Return the declaration of a report's benchmark; None, and a gap, if it is not found or has changed.

    Without it, no question can be shown.
    """
    try:
        declared = declarations.load(declarations.id_or_folder(report, reference))
        declared.split(report.split)
        declared.check_protocol(report.protocol)
    except GradeError as error:
        gaps.append(Gap(what="questions", why=first_line(error)))
        return None
    return declared


# --- predictions ------------------------------------------------------------------------------------------------


def _gaps_with_scorer_file(gaps: list[Gap], name: str, *, has_predictions_file: bool) -> list[Gap]:
    """Return the gaps when the outputs come from the scorer's own file, with this name.

    A prediction file that exists but could not be used stays a gap; one that does not exist is no longer a gap.
    """
    remaining = []
    for gap in gaps:
        if gap.what != "predictions":
            remaining.append(gap)
        elif has_predictions_file:
            remaining.append(msgspec.structs.replace(gap, why=f"{gap.why} The outputs shown are from {name}."))
    return remaining


def _outputs_by_task(file: PredictionFile | None) -> dict[str, list[str]]:
    return {record.qid: record.predictions for record in file.records} if file else {}


def _graded_predictions(report: Report, source: Path | PredictionFile | None, gaps: list[Gap]) -> PredictionFile | None:
    """Return the predictions if they are the graded ones, else None, and add a gap with the reason.

    A `PredictionFile` was read and graded by this process, so only a path is checked.
    """
    if isinstance(source, PredictionFile):
        return source
    graded_name = report.provenance.predictions or "the prediction file"
    if source is None:
        gaps.append(Gap(what="predictions", why=f"{graded_name} is not beside the results."))
        return None
    name = source.name
    try:
        file = read_predictions(source, fields_from(report.provenance.fields))
    except (GradeError, OSError) as error:
        gaps.append(Gap(what="predictions", why=f"{name} cannot be read: {first_line(error)}"))
        return None
    if _are_graded(report, _outputs_by_task(file)):
        return file
    if name == graded_name:
        why = f"{name} has changed since it was graded."
    else:
        why = f"{name} does not hold the predictions that were graded ({graded_name})."
    gaps.append(Gap(what="predictions", why=why))
    return None


def _are_graded(report: Report, outputs: dict[str, list[str]]) -> bool:
    """Whether these are the predictions that were graded: a file beside the results may have changed since."""
    qids = dict.fromkeys(sample.qid for sample in report.samples)
    try:
        return report.provenance.predictions_digest == fingerprint({qid: outputs.get(qid, []) for qid in qids})
    except UnicodeEncodeError:  # a lone surrogate, which no graded prediction has
        return False


# --- programs ---------------------------------------------------------------------------------------------------


def _read_scorer_file(
    report: Report, scorer: AnyScorer, path: Path | None, outputs: dict[str, list[str]], gaps: list[Gap]
) -> ScorerFile:
    """Return the content of the scorer's own file; empty, and a gap, if it is missing or belongs to another run."""
    if path is None or not path.is_file():
        gaps.append(Gap(what="programs", why="The executed file is not beside the results."))
        return ScorerFile()
    content = scorer.read_scorer_file(report, path)
    if not content.problem and any(content.predictions.get(qid, texts) != texts for qid, texts in outputs.items()):
        content = ScorerFile(problem=f"{path.name} belongs to another run: its predictions differ.")
    if content.problem:
        gaps.append(Gap(what="programs", why=content.problem))
    return content
