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
from grader.results.outputs import beside as file_beside
from grader.results.outputs import stem_of
from grader.scorers import declarations
from grader.scorers.interface import ExecutedProgram, OwnFile
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
    own: Path | None
    """The scorer's own file."""
    folders: list[Path] = []
    """Folders to search for the benchmark's data."""


def beside(results: Path, report: Report) -> Files:
    """Return the files that a run wrote beside its results. Raises UsageError."""
    name = report.provenance.predictions
    named = results.parent / Path(name).name if Path(name).name else None
    ending = scorer_of(report).own_file
    # A run of a part has its own files beside the same predictions. For renamed results, use the predictions' name.
    stem = results.with_name(results.stem.removesuffix("_results"))
    if named is not None and ending and not file_beside(stem, ending).is_file():
        stem = stem_of(named)
    own = file_beside(stem, ending) if ending else None
    return Files(
        predictions=named if named is not None and named.is_file() else None,
        own=own if own is not None and own.is_file() else None,
        folders=[results.parent, Path()],
    )


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
        return _texts(_file(report, self.predictions, []))

    def load(self, report: Report) -> Material:
        """Collect the material of the run's report."""
        ending = scorer_of(report).own_file
        own = file_beside(self.stem, ending) if ending and self.stem is not None else None
        there = own if own is not None and own.is_file() else None
        found = load(report, self.predictions, self.data, there, benchmark=self.declared, rows=self.rows)
        self.gaps.extend(found.gaps)
        return found


def load(
    report: Report,
    predictions: Path | PredictionFile | None,
    data: Path | None,
    own: Path | None,
    *,
    benchmark: str | Benchmark | None = None,
    rows: Rows | None = None,
    folders: Sequence[Path] = (),
) -> Material:
    """Collect the material of a report's items. Raises UsageError if the report's scorer is not installed.

    `data` is as in grading. If it is None, a file with the name and digest of the graded data is searched in `folders`,
    then the declared data are used. `own` is the scorer's own file. `benchmark` is the declaration, or names it if the
    report's name does not find it (a folder given with -b). `rows`: those that were just graded.
    """
    scorer = scorer_of(report)
    gaps: list[Gap] = []
    declared = benchmark if isinstance(benchmark, Benchmark) else _declared(report, benchmark, gaps)
    file = _file(report, predictions, gaps) if report.samples else None
    texts = _texts(file)
    own_file = _own_file(report, scorer, own, texts, gaps) if scorer.runs_programs else OwnFile()
    if file is None and own_file.predictions and own is not None and _are_graded(report, own_file.predictions):
        texts = own_file.predictions
        gaps = _without_predictions(gaps, own.name, given=predictions is not None)
    shown = ShownTasks()
    if declared is not None and report.samples:
        shown = gather(report, declared, file, data, gaps, rows=rows, folders=folders)
    wanted = dict.fromkeys(sample.qid for sample in report.samples)
    return Material(
        runs_programs=scorer.runs_programs,
        unit=declared.unit if declared is not None else "item",
        **msgspec.structs.asdict(shown),
        predictions={qid: texts[qid] for qid in wanted if qid in texts},
        programs=own_file.programs,
        gaps=gaps,
    )


def load_beside(
    results: Path, report: Report, data: Path | None, *, benchmark: str | None = None, predictions: Path | None = None
) -> Material:
    """Collect the material of a report from the files beside its results, and from `predictions`, if given."""
    files = beside(results, report)
    folders = files.folders if predictions is None else [predictions.parent, *files.folders]
    file = predictions or files.predictions
    return load(report, file, data, files.own, benchmark=benchmark, folders=folders)


def outputs_beside(results: Path, report: Report, predictions: Path | None = None) -> RawOutputs:
    """Return the outputs of a report from `predictions`, or from the file beside its results; empty if unknown."""
    return _texts(_file(report, predictions or beside(results, report).predictions, []))


def _declared(report: Report, reference: str | None, gaps: list[Gap]) -> Benchmark | None:
    try:
        declared = declarations.load(declarations.id_or_folder(report, reference))
        declared.split(report.split)
        declared.check_protocol(report.protocol)
    except GradeError as error:
        gaps.append(Gap(what="questions", why=first_line(error)))
        return None
    return declared


# --- predictions ------------------------------------------------------------------------------------------------


def _without_predictions(gaps: list[Gap], name: str, *, given: bool) -> list[Gap]:
    """Update the gaps when the outputs come from the scorer's own file.

    A prediction file that exists but could not be used stays a gap; one that does not exist is no longer a gap.
    """
    remaining = []
    for gap in gaps:
        if gap.what != "predictions":
            remaining.append(gap)
        elif given:
            remaining.append(msgspec.structs.replace(gap, why=f"{gap.why} The outputs shown are from {name}."))
    return remaining


def _texts(file: PredictionFile | None) -> dict[str, list[str]]:
    return {record.qid: record.predictions for record in file.records} if file else {}


def _file(report: Report, source: Path | PredictionFile | None, gaps: list[Gap]) -> PredictionFile | None:
    """Return the predictions if they are the graded ones, else None, and add a gap with the reason.

    A file that was read is that of a run that was just graded.
    """
    if isinstance(source, PredictionFile):
        return source
    graded = report.provenance.predictions or "the prediction file"
    if source is None:
        gaps.append(Gap(what="predictions", why=f"{graded} is not beside the results."))
        return None
    name = source.name
    try:
        file = read_predictions(source, fields_from(report.provenance.fields))
    except (GradeError, OSError) as error:
        gaps.append(Gap(what="predictions", why=f"{name} cannot be read: {first_line(error)}"))
        return None
    if not _are_graded(report, {record.qid: record.predictions for record in file.records}):
        changed = f"{name} has changed since it was graded."
        other = f"{name} does not hold the predictions that were graded ({graded})."
        gaps.append(Gap(what="predictions", why=changed if name == graded else other))
        return None
    return file


def _are_graded(report: Report, texts: dict[str, list[str]]) -> bool:
    """Whether these are the predictions that were graded: a file beside the results may have changed since."""
    graded = dict.fromkeys(sample.qid for sample in report.samples)
    try:
        return report.provenance.predictions_digest == fingerprint({qid: texts.get(qid, []) for qid in graded})
    except UnicodeEncodeError:  # a lone surrogate, which no graded prediction has
        return False


# --- programs ---------------------------------------------------------------------------------------------------


def _own_file(
    report: Report, scorer: AnyScorer, path: Path | None, texts: dict[str, list[str]], gaps: list[Gap]
) -> OwnFile:
    """Return the content of the scorer's own file; empty if the file belongs to another run."""
    if path is None or not path.is_file():
        gaps.append(Gap(what="programs", why="The executed file is not beside the results."))
        return OwnFile()
    read = scorer.read_own_file(report, path)
    if not read.problem and any(read.predictions.get(qid, text) != text for qid, text in texts.items()):
        read = OwnFile(problem=f"{path.name} belongs to another run: its predictions differ.")
    if read.problem:
        gaps.append(Gap(what="programs", why=read.problem))
    return read
