"""Tasks and their images for reports, or why they are not shown.

A report of an earlier run reads the data again, with every column; a run that was just graded gives its rows.
"""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from grader.data.hub import offline
from grader.data.images import Images, Picture, folder_of
from grader.data.tables import ALL
from grader.errors import DataUnavailableError, GradeError, first_line
from grader.files.user_files import real_path
from grader.scorers.registry import scorer_of
from grader.scorers.rows import rows_of, tasks_of
from grader.task import Task
from grader.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.benchmark import Benchmark
    from grader.data.tables import Rows
    from grader.predictions.file import PredictionFile
    from grader.results import Report
    from grader.scorers.registry import AnyScorer


class Gap(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a report that cannot be shown."""

    kind: Literal["predictions", "questions", "images", "programs"]
    reason: str
    """A full sentence."""
    is_missing: bool = True
    """Whether it exists and could not be read; False: the data has none."""

    def in_words(self) -> str:
        """Return a sentence about the whole report."""
        return f"The report does not show all {self.kind}: {self.reason}" if self.is_missing else self.reason


class ShownTasks(msgspec.Struct, frozen=True, kw_only=True):
    """The tasks and their images."""

    tasks: dict[str, Task] = {}
    image_of: dict[str, str] = {}
    """Task id -> key of its image."""
    images: dict[str, Picture] = {}
    """Key -> an image's bytes or its file, as the data has it."""


class _Data(NamedTuple):
    """Rows, and the path they were read from (None: the declared data)."""

    rows: Rows
    path: Path | None


def gather_tasks(
    report: Report,
    benchmark: Benchmark,
    file: PredictionFile | None,
    path: Path | None,
    gaps: list[Gap],
    *,
    rows: Rows | None = None,
    folders: Iterable[Path] = (),
) -> ShownTasks:
    """Return the tasks and images of a report's samples; add the missing ones to `gaps`.

    The data is the first of: `rows`, which were just graded; the file at `path`; a file in `folders` with the name and
    the content of the graded data; what the prediction file carries; the declared data.
    """
    scorer = scorer_of(report)
    data = None if rows is None else _Data(rows, path)
    try:
        if data is None and path is None:
            data = _data_with_digest(report, benchmark, scorer, folders)
        if data is None:
            data = _Data(_read_rows(report, benchmark, scorer, path, file), path)
        if not _has_graded_digest(report, data.rows):
            gaps.append(Gap(kind="questions", reason=f"The data ({data.rows.origin}) is not the data that was graded."))
            return ShownTasks()
        read_tasks = tasks_of(scorer, benchmark, report.split, data.rows)
        predicted_qids = [record.qid for record in file.records] if file else []
        # Predictions can be of tasks that the scorer makes from others, as the later passes of a circular question.
        all_tasks, _ = scorer.complete(benchmark, data.rows, read_tasks, predicted_qids)
    except _READ_ERRORS as error:
        gaps.append(Gap(kind="questions", reason=_read_error_text(report, benchmark, folders, error)))
        return ShownTasks()
    graded_qids = dict.fromkeys(sample.qid for sample in report.samples)
    tasks = {qid: all_tasks[qid] for qid in graded_qids if qid in all_tasks}
    if len(tasks) < len(graded_qids):
        missing = len(graded_qids) - len(tasks)
        why = f"The data has no row for {missing} of {len(graded_qids)} {benchmark.unit}s."
        gaps.append(Gap(kind="questions", reason=why))
    tasks = _with_prompts(tasks, file)
    column = benchmark.image_column(report.protocol)
    if column is None:
        return ShownTasks(tasks=tasks)
    images = Images(all_tasks, column, folder_of(benchmark, report.split, data.path))
    if images.is_empty:
        why = f"The report has no images, because the data ({data.rows.origin}) has none (column {column})."
        # Grading had none, either: nothing is missing.
        gaps.append(Gap(kind="images", reason=why, is_missing=False))
    return _with_images(tasks, images, benchmark.unit, gaps)


_READ_ERRORS = (GradeError, OSError, LookupError, ValueError, TypeError)
"""Errors of data that has changed since it was graded, also those that a scorer raises for rows it does not expect."""


def _read_error_text(report: Report, benchmark: Benchmark, folders: Iterable[Path], error: Exception) -> str:
    if not isinstance(error, DataUnavailableError):
        return f"The data cannot be read: {first_line(error)}"
    # None of these files has the content of the graded data, or one of them would have been read.
    changed_file = next(iter(candidate_data_files(report, folders)), None)
    hint = "" if changed_file is None else f" ({changed_file.name} beside the results is not the data that was graded.)"
    return f"The data of {benchmark.id} ({report.split}) is not on this machine; give it with --data.{hint}"


def candidate_data_files(report: Report, folders: Iterable[Path]) -> list[Path]:
    """Return the files in these folders with the name of the graded data; none if it was not one file.

    The name is from a results file, which anybody may have written: only a plain file name is used.
    """
    name = report.provenance.data
    if report.provenance.data_is_carried or report.provenance.data_digest is None:
        return []
    if not name or name in {".", ".."} or Path(name).name != name:
        return []
    return [folder / name for folder in dict.fromkeys(folders) if (folder / name).exists()]


def _data_with_digest(report: Report, benchmark: Benchmark, scorer: AnyScorer, folders: Iterable[Path]) -> _Data | None:
    """Return the first data in these folders with the digest of the graded data."""
    for path in candidate_data_files(report, folders):
        with contextlib.suppress(*_READ_ERRORS):  # a file that only has the same name
            rows = _read_rows(report, benchmark, scorer, path)
            if _has_graded_digest(report, rows):
                return _Data(rows, path)
    return None


def _read_rows(
    report: Report, benchmark: Benchmark, scorer: AnyScorer, path: Path | None, file: PredictionFile | None = None
) -> Rows:
    """Read the rows as grading does, but with every column. They may be in the predictions, a file, or on the hub."""
    # As in grading, the file can be named as its own data.
    is_own_data = path is None or (
        file is not None and file.path is not None and real_path(path) == real_path(file.path)
    )
    if is_own_data and file is not None and report.provenance.data_is_carried:
        carried_rows = scorer.load_scorer_rows(benchmark, report.split, file)
        if carried_rows is not None:
            return carried_rows
    is_from_hub = path is None and bool(benchmark.splits[report.split].hub)
    # Grading filled the cache of the hub's client, and a report must not wait for the network.
    with offline() if is_from_hub else contextlib.nullcontext():
        return rows_of(benchmark, report.split, report.protocol, path, scorer, wanted=ALL)


def _has_graded_digest(report: Report, rows: Rows) -> bool:
    return report.provenance.data_digest in {None, rows.digest}


def _with_prompts(tasks: dict[str, Task], file: PredictionFile | None) -> dict[str, Task]:
    """Add the prompt from the prediction file, if it is a text, to tasks whose data has no question."""
    prompts = {record.qid: record.prompts[0] for record in file.records if record.prompts} if file else {}
    texts = {qid: prompt for qid, prompt in prompts.items() if isinstance(prompt, str) and prompt.strip()}
    return {
        qid: task if task.text or qid not in texts else msgspec.structs.replace(task, text=texts[qid])
        for qid, task in tasks.items()
    }


def _with_images(tasks: dict[str, Task], images: Images, noun: str, gaps: list[Gap]) -> ShownTasks:
    """Return the tasks with their images; equal images are kept once. `noun`: the benchmark's word for a task."""
    pictures: dict[str, Picture] = {}
    image_of: dict[str, str] = {}
    missing = 0
    for qid, task in tasks.items():
        picture = images.image_of(task)
        if picture is None:
            if images.has_cell(task):
                missing += 1
            continue
        image_of[qid] = _image_key(picture)
        pictures.setdefault(image_of[qid], picture)
    if missing:
        why = f"The images that the data names for {counted(missing, noun)} were not found."
        gaps.append(Gap(kind="images", reason=why))
    return ShownTasks(tasks=tasks, image_of=image_of, images=pictures)


def _image_key(picture: Picture) -> str:
    """Return a key that equal images share: the path, or a hash of the bytes."""
    if isinstance(picture, Path):
        return str(picture)
    return hashlib.sha256(picture).hexdigest()
