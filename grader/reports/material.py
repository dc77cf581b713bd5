"""Material that a report shows beside its metrics: tasks, images, raw replies and programs, from the run's files.

Missing material is not an error: a missing file, or one that changed after grading, becomes a `Gap` in the report.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from grader.benchmark import Benchmark
from grader.errors import GradeError, first_line
from grader.predictions.file import PredictionFile
from grader.predictions.read import read_predictions
from grader.predictions.select import are_graded
from grader.reports.questions import Gap, ShownTasks, candidate_data_files, gather_tasks
from grader.results.names import path_beside, stem_of
from grader.scorers import declarations
from grader.scorers.interface import ExecutedProgram, ScorerFile
from grader.scorers.registry import scorer_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.data.tables import Rows
    from grader.results import Report
    from grader.scorers.registry import AnyScorer


Replies = Mapping[str, list[str]]
"""Id of a task -> the replies of its samples, verified to be the graded ones."""


class Material(ShownTasks, frozen=True, kw_only=True):
    """The material of a report's items, by qid."""

    runs_programs: bool = False
    unit: str = "question"
    """The noun for one item."""
    replies: Replies = {}
    programs: dict[str, list[ExecutedProgram]] = {}
    gaps: list[Gap] = []


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunFiles:
    """The files of one run, from which its material is read when it is shown."""

    report: Report
    predictions: Path | PredictionFile | None = None
    scorer_file: Path | None = None
    """The scorer's own file (executed programs)."""
    other_files: Sequence[Path] = ()
    """Further files of the run: its results, the graded file if `predictions` is another one, and data beside them."""
    data: Path | None = None
    """As in grading. None: a file in `folders` with the name and digest of the graded data, else the declared data."""
    folders: Sequence[Path] = ()
    """Folders to search for the benchmark's data."""
    benchmark: Benchmark | str | None = None
    """The declaration; or its name, if the report's does not find it (a folder given with -b)."""
    rows: Rows | None = None
    """The rows that were just graded, with every column; None: they are read when they are shown."""
    gaps: list[Gap] = dataclasses.field(default_factory=list)
    """What the last call of `material` could not find."""

    @property
    def paths(self) -> list[Path]:
        """The files of the run, which no report may replace."""
        paths = (self.predictions, self.scorer_file, *self.other_files)
        return [path for path in paths if isinstance(path, Path)]

    def replies(self) -> Replies:
        """Return the run's replies; empty if they are unknown."""
        file, _ = self._graded_predictions
        return self._shown_replies(file)

    def material(self) -> Material:
        """Collect the material of the report's items. Raises UsageError if the report's scorer is not installed."""
        report, scorer = self.report, scorer_of(self.report)
        gaps: list[Gap] = []
        benchmark = self.benchmark
        # Else it is a name, or None for the report's own.
        if not isinstance(benchmark, Benchmark):
            benchmark = _load_benchmark(report, benchmark, gaps)
        has_items = bool(report.samples)
        file, gap = self._graded_predictions if has_items else (None, None)
        if gap is not None:
            gaps.append(gap)
        replies = self._shown_replies(file)
        executed = ScorerFile()
        if scorer.runs_programs:
            executed = _read_scorer_file(report, scorer, self.scorer_file, replies, gaps)
            if file is None and executed.predictions and are_graded(executed.predictions, report):
                replies = executed.predictions
                # A prediction file that exists but could not be used stays a gap; one that does not exist is none.
                gaps = [gap for gap in gaps if gap.kind != "predictions" or self.predictions is not None]
        tasks = ShownTasks()
        if benchmark is not None and has_items:
            tasks = gather_tasks(report, benchmark, file, self.data, gaps, rows=self.rows, folders=self.folders)
        # Commands print the gaps of the last call. The class is frozen, so its list is filled anew.
        self.gaps[:] = gaps
        qids = dict.fromkeys(sample.qid for sample in report.samples)
        return Material(
            runs_programs=scorer.runs_programs,
            unit=benchmark.unit if benchmark is not None else "item",
            **msgspec.structs.asdict(tasks),
            replies={qid: replies[qid] for qid in qids if qid in replies},
            programs=executed.programs,
            gaps=gaps,
        )

    def _shown_replies(self, file: PredictionFile | None) -> dict[str, list[str]]:
        """Return the texts that were read: the predictions, or the whole replies that a log's filter read before."""
        if file is None:
            return {}
        return file.replies_by_qid if scorer_of(self.report).reads_whole_replies else file.predictions_by_qid

    @functools.cached_property
    def _graded_predictions(self) -> tuple[PredictionFile | None, Gap | None]:
        """The predictions if they are the graded ones, else None and the reason.

        A `PredictionFile` was graded by this process. Only a path is read, with the run's field names, and checked.
        """
        source = self.predictions
        if isinstance(source, PredictionFile):
            return source, None
        graded_name = self.report.provenance.predictions or "the prediction file"
        if source is None:
            return None, Gap(kind="predictions", reason=f"{graded_name} is not beside the results.")
        qids = dict.fromkeys(sample.qid for sample in self.report.samples)
        try:
            file = read_predictions(source, self.report.provenance.fields)
            has_positions = file.is_positional and qids.keys().isdisjoint(file.predictions_by_qid)
            if has_positions and self.report.part is not None:
                why = f"{source.name} names tasks by their positions, and only a part of them was graded."
                return None, Gap(kind="predictions", reason=why)
            file = file.with_task_ids(qids)
        except (GradeError, OSError) as error:
            return None, Gap(kind="predictions", reason=f"{source.name} cannot be read: {first_line(error)}")
        if are_graded(file.predictions_by_qid, self.report):
            return file, None
        if source.name == graded_name:
            why = f"{source.name} has changed since it was graded."
        else:
            why = f"{source.name} does not hold the predictions that were graded ({graded_name})."
        return None, Gap(kind="predictions", reason=why)


def files_of_results(
    results: Path,
    report: Report,
    *,
    data: Path | None = None,
    benchmark: str | None = None,
    predictions: Path | None = None,
) -> RunFiles:
    """Return the files beside a results file that belong to it; `predictions`, if given, replace the file there.

    Raises UsageError if the scorer is not installed.
    """
    name, ending = Path(report.provenance.predictions).name, scorer_of(report).file_ending
    # The name of the scorer's file begins like that of the results or, if these were renamed, of the predictions.
    stems = [results.with_name(results.stem.removesuffix("_results"))]
    stems += [stem_of(results.parent / name)] if name else []
    scorer_files = (_existing(path_beside(stem, ending)) for stem in stems if ending)
    folder_of_predictions = [] if predictions is None else [predictions.parent]
    folders = [*folder_of_predictions, results.parent, Path()]
    graded_file = _existing(results.parent / name) if name else None
    return RunFiles(
        report=report,
        predictions=predictions or graded_file,
        scorer_file=next(filter(None, scorer_files), None),
        other_files=[results, *filter(None, [graded_file]), *candidate_data_files(report, folders)],
        data=data,
        folders=folders,
        benchmark=benchmark,
    )


def _existing(path: Path) -> Path | None:
    """Return the path of a file; None if the file does not exist."""
    return path if path.is_file() else None


def _load_benchmark(report: Report, reference: str | None, gaps: list[Gap]) -> Benchmark | None:
    """Return the declaration of a report's benchmark; None, and a gap, if it is not found or has changed.

    Without it, no question can be shown.
    """
    try:
        declared = declarations.load(declarations.id_or_folder(report, reference))
        # They raise an error if the benchmark no longer has this split or protocol.
        declared.split(report.split)
        declared.resolve_protocol(report.protocol)
    except GradeError as error:
        gaps.append(Gap(kind="questions", reason=first_line(error)))
        return None
    return declared


def _read_scorer_file(
    report: Report, scorer: AnyScorer, path: Path | None, replies: dict[str, list[str]], gaps: list[Gap]
) -> ScorerFile:
    """Return the content of the scorer's own file; empty, and a gap, if it is missing or belongs to another run."""
    if path is None or not path.is_file():
        gaps.append(Gap(kind="programs", reason="The executed file is not beside the results."))
        return ScorerFile()
    content = scorer.read_scorer_file(report, path)
    if not content.problem and any(content.predictions.get(qid, texts) != texts for qid, texts in replies.items()):
        content = ScorerFile(problem=f"{path.name} belongs to another run: its predictions differ.")
    if content.problem:
        gaps.append(Gap(kind="programs", reason=content.problem))
    return content
