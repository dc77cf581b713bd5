"""Tasks and their images for reports, or why they are not shown.

A report of an earlier run reads the data again, with every column; a run that was just graded gives its rows.
"""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from grader.data.images import Images, Picture, folder_of
from grader.data.load import ALL, offline
from grader.errors import DataUnavailableError, GradeError, first_line
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

    what: Literal["predictions", "questions", "images", "programs"]
    why: str
    """The reason, as a full sentence."""
    is_lost: bool = True
    """Whether the report would have it if nothing was missing; False: the data has none."""

    def in_words(self) -> str:
        """Return a sentence about the whole report."""
        return f"The report does not show all {self.what}: {self.why}" if self.is_lost else self.why


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


def gather(
    report: Report,
    declared: Benchmark,
    file: PredictionFile | None,
    given: Path | None,
    gaps: list[Gap],
    *,
    rows: Rows | None = None,
    folders: Iterable[Path] = (),
) -> ShownTasks:
    """Return the tasks and images of a report's samples; add the missing ones to `gaps`.

    `rows` are those that were just graded. If there are none and no data was `given`, a file with the name in the
    report is searched in `folders`.
    """
    scorer = scorer_of(report)
    try:
        found_data = None if rows is None else _Data(rows, given)
        if found_data is None and given is None:
            found_data = _in_folders(report, declared, scorer, folders)
        rows, given = found_data or _Data(_rows(report, declared, scorer, file, given), given)
        if not _is_unchanged(report, rows):
            gaps.append(Gap(what="questions", why=f"The data ({rows.origin}) is not the data that was graded."))
            return ShownTasks()
        predicted = [record.qid for record in file.records] if file else []
        tasks, _ = scorer.complete(declared, rows, tasks_of(scorer, declared, report.split, rows), predicted)
    except DataUnavailableError:
        changed = next((path for path in _places(report, folders)), None)
        also = "" if changed is None else f" ({changed.name} beside the results is not the data that was graded.)"
        why = f"The data of {declared.id} ({report.split}) is not on this machine; give it with --data.{also}"
        gaps.append(Gap(what="questions", why=why))
        return ShownTasks()
    except (GradeError, OSError, LookupError, ValueError, TypeError) as error:
        gaps.append(Gap(what="questions", why=f"The data cannot be read: {first_line(error)}"))
        return ShownTasks()
    wanted = dict.fromkeys(sample.qid for sample in report.samples)
    found = {qid: tasks[qid] for qid in wanted if qid in tasks}
    if len(found) < len(wanted):
        why = f"The data has no row for {len(wanted) - len(found)} of {len(wanted)} {declared.unit}s."
        gaps.append(Gap(what="questions", why=why))
    column = declared.image_column(report.protocol)
    if column is None:
        return ShownTasks(tasks=_with_prompts(found, file))
    images = Images(tasks, column, folder_of(declared, report.split, given))
    if images.is_empty:
        none = f"because the data ({rows.origin}) has none (column {column})"
        gaps.append(Gap(what="images", why=f"The report has no images, {none}.", is_lost=False))
    return _with_images(_with_prompts(found, file), images, declared.unit, gaps)


def _places(report: Report, folders: Iterable[Path]) -> list[Path]:
    """Return the files in these folders that have the name of the graded data; empty if the data is from the hub."""
    name = report.provenance.data
    if report.provenance.data_is_carried or report.provenance.data_digest is None:
        return []
    if not name or name in {".", ".."} or Path(name).name != name:
        return []
    return [folder / name for folder in dict.fromkeys(folders) if (folder / name).exists()]


def _in_folders(report: Report, declared: Benchmark, scorer: AnyScorer, folders: Iterable[Path]) -> _Data | None:
    """Return the first data in these folders with the digest of the graded data."""
    for path in _places(report, folders):
        with contextlib.suppress(GradeError, OSError, LookupError, ValueError, TypeError):
            rows = _rows(report, declared, scorer, None, path)
            if _is_unchanged(report, rows):
                return _Data(rows, path)
    return None


def _rows(
    report: Report, declared: Benchmark, scorer: AnyScorer, file: PredictionFile | None, given: Path | None
) -> Rows:
    """Read the rows as grading does, but with every column."""
    if given is None and file is not None:
        carried = scorer.own_rows(declared, report.split, file) if report.provenance.data_is_carried else None
        if carried is not None:
            return carried
    from_hub = given is None and bool(declared.splits[report.split].hub)
    # Grading filled the cache of the hub's client, and a report must not wait for the network.
    with offline() if from_hub else contextlib.nullcontext():
        return rows_of(declared, report.split, report.protocol, given, scorer, wanted=ALL)


def _is_unchanged(report: Report, rows: Rows) -> bool:
    return report.provenance.data_digest in {None, rows.digest}


def _with_prompts(tasks: dict[str, Task], file: PredictionFile | None) -> dict[str, Task]:
    """Add the prompt from the prediction file to tasks whose data has no question."""
    prompts = {r.qid: r.prompts[0] for r in file.records if r.prompts} if file else {}
    texts = {qid: prompt for qid, prompt in prompts.items() if isinstance(prompt, str) and prompt.strip()}
    return {
        qid: task if task.text or qid not in texts else msgspec.structs.replace(task, text=texts[qid])
        for qid, task in tasks.items()
    }


def _with_images(tasks: dict[str, Task], images: Images, unit: str, gaps: list[Gap]) -> ShownTasks:
    found: dict[str, Picture] = {}
    image_of: dict[str, str] = {}
    lost = 0
    for qid, task in tasks.items():
        picture = images.of(task)
        if picture is None:
            lost += images.has_cell(task)
            continue
        image_of[qid] = _key(picture)
        found.setdefault(image_of[qid], picture)
    if lost:
        gaps.append(Gap(what="images", why=f"The images that the data names for {counted(lost, unit)} were not found."))
    return ShownTasks(tasks=tasks, image_of=image_of, images=found)


def _key(picture: Picture) -> str:
    if isinstance(picture, Path):
        return str(picture)
    return hashlib.sha256(picture).hexdigest()[:24]
