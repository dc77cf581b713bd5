"""Several files that are one run (`--join`): shards of a server, or the logs of a task's subjects."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from grader.errors import InputError
from grader.predictions.file import judge_key
from grader.predictions.formats import format_named
from grader.predictions.layouts import join_subjects
from grader.predictions.merging import Merger
from grader.predictions.read import conflicts_error, read_predictions
from grader.predictions.recorded_task import CONFLICT_SHARE
from grader.results.names import stem_of
from grader.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.benchmark import Fields
    from grader.data.tables import Row
    from grader.observer import Observer
    from grader.predictions.file import PredictionFile

_LOG_NAME = re.compile(r"(?:samples_)?(.+?)(?:_\d{4}-\d\d-\d\dT[\w.:-]*)?")
"""`samples_mmlu_anatomy_2025-01-01T00-00-00.000000` is a log of the task `mmlu_anatomy`."""


def read_files(
    paths: str | Path | Sequence[str], fields: Fields | None = None, *, observer: Observer | None = None
) -> PredictionFile:
    """Read a file, or several as one, in their order; raises InputError with the problems of all of them.

    Row numbers and positions that begin again in each file become `<task>/<number>`; the file's name has the task.
    """
    if isinstance(paths, str | Path):
        return read_predictions(paths, fields, observer=observer)
    files, problems = [], []
    for path in paths:
        try:
            files.append(read_predictions(path, fields, observer=observer))
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    formats = {file.format for file in files}
    if len(formats) > 1:
        raise InputError([f"--join: the files have different formats: {', '.join(sorted(formats))}."])
    return _join([_with_task_in_ids(file) for file in files] if _ids_restart(files) else files)


def _ids_restart(files: Sequence[PredictionFile]) -> bool:
    """Whether the ids are numbers that begin again in each file."""
    if not all(file.is_numbered or file.is_positional for file in files):
        return False
    return len({record.qid for file in files for record in file.records}) < sum(len(file.records) for file in files)


def _with_task_in_ids(file: PredictionFile) -> PredictionFile:
    """Return a file with ids `<task>/<id>`; the name of the file has the task."""
    stem = file.name.removesuffix(".gz").rpartition(".")[0] or file.name
    match = _LOG_NAME.fullmatch(stem)
    task = match[1] if match else stem
    records = [msgspec.structs.replace(record, qid=f"{task}/{record.qid}") for record in file.records]
    conflicts = {f"{task}/{qid}": difference for qid, difference in file.conflicts.items()}
    return msgspec.structs.replace(file, records=records, conflicts=conflicts)


def _join(files: Sequence[PredictionFile]) -> PredictionFile:
    """Return files as one, named after all of them, with the path of the first one's folder; raises InputError."""
    name = " + ".join(file.name for file in files)
    merger = Merger()
    for record in (record for file in files for record in file.records):
        merger.put(record)
    file_format = format_named(files[0].format)
    conflicts_between_files = merger.conflicts() if file_format.has_task else {}
    if len(conflicts_between_files) >= CONFLICT_SHARE * len(merger):
        raise conflicts_error(name, conflicts_between_files, len(merger), file_format)
    records = merger.records()
    warnings = dict.fromkeys(warning for file in files for warning in file.warnings)
    note = f"{counted(len(files), 'file')} are one run: {', '.join(file.name for file in files)}."
    path = files[0].path
    return msgspec.structs.replace(
        files[0],
        name=name,
        path=path and path.with_name(f"{stem_of(path).name}_joined{path.suffix}"),
        records=records,
        is_positional=False,
        conflicts={qid: text for file in files for qid, text in file.conflicts.items()} | conflicts_between_files,
        warnings=[note, *warnings, *merger.warnings(records)],
        judge_replies=_join_judge_replies(files),
        benchmark_rows=_join_benchmark_rows(files, name),
    )


def _join_judge_replies(files: Sequence[PredictionFile]) -> dict[str, str]:
    """Return the judge's replies to the samples of all files, which are numbered in the order of the files."""
    replies: dict[str, str] = {}
    counts = Counter[str]()
    for file in files:
        for record in file.records:
            for sample in range(len(record.predictions)):
                reply = file.judge_replies.get(judge_key(record.qid, sample))
                if reply is not None:
                    replies[judge_key(record.qid, counts[record.qid] + sample)] = reply
            counts[record.qid] += len(record.predictions)
    return replies


def _join_benchmark_rows(files: Sequence[PredictionFile], name: str) -> dict[str, list[Row]] | None:
    """Return the benchmark's own rows that the files contain; raises InputError if they differ."""
    tables = [file.benchmark_rows for file in files if file.benchmark_rows is not None]
    try:
        return join_subjects(tables) if tables else None
    except ValueError as error:
        problem = f"{name}: {error} has different rows of the benchmark in two of these files."
        raise InputError([f"{problem} Join only results on the same data."]) from None
