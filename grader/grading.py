"""One grading run from end to end: read, validate, score, and hand back what is to be written."""

from __future__ import annotations

import difflib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec

from grader import benchmark as declarations
from grader.data import fetch
from grader.data import load as data
from grader.errors import GradeError, InputError, UsageError
from grader.observer import Silent
from grader.predictions.read import PredictionFile, read_predictions
from grader.scorers.mr_ben import subjects
from grader.scorers.selection import Graded, Selection, select

if TYPE_CHECKING:
    from grader.benchmark import Benchmark
    from grader.observer import Observer
    from grader.options import Options


def grade(source: str | Path, options: Options, observer: Observer, *, stdin: BinaryIO | None = None) -> Graded:
    """Grade a prediction file; raises a GradeError, and then nothing was written."""
    _check_options(options)
    if options.score_only:
        return _rescore(source, options)
    selection = _open(source, options, observer, stdin)
    graded = _score(selection)
    report = msgspec.structs.replace(graded.report, notes=[*graded.report.notes, *_absent_groups(selection)])
    return msgspec.structs.replace(graded, report=report, file=selection.file)


def _absent_groups(selection: Selection) -> list[str]:
    """Say which breakdowns a private benchmark declares and its data has no column for."""
    if selection.options.benchmark in declarations.names():
        # Their data comes in several forms, and not each has every column.
        return []
    return [
        f"The data has no column {name!r}, so there are no figures by it."
        for name in selection.benchmark.columns.groups
        if not any(name in row for row in selection.rows.rows)
    ]


def _check_options(options: Options) -> None:
    """Refuse options that mean nothing for the benchmark, rather than ignore them."""
    declared = declarations.load(options.benchmark)
    if options.k and declared.scoring != "execution":
        raise UsageError(f"-k: {declared.id} has no pass@k; leave it out.")
    if options.weights and declared.scoring != "mr_score":
        raise UsageError(f"--weight: {declared.id} has no MR-Score; leave it out.")
    if declared.scoring == "execution":
        for name in ("judge_model", "judge_base_url", "judge_replies", "judge_prompt"):
            if getattr(options, name) is not None:
                raise UsageError(f"--{name.replace('_', '-')}: {declared.id} asks no judge; leave it out.")


def _open(source: str | Path, options: Options, observer: Observer, stdin: BinaryIO | None) -> Selection:
    """Read the declaration, the predictions and the data."""
    declared = declarations.load(options.benchmark)
    split, _ = declared.split(options.split)
    protocol, _ = declared.protocol(options.protocol)
    file = read_predictions(source, stdin=stdin)
    rows = _rows(declared, split, protocol, file, options)
    if not rows.rows:
        raise InputError([f"{rows.origin}: no rows"])
    return Selection(
        benchmark=declared, split=split, protocol=protocol, rows=rows, file=file, options=options, observer=observer
    )


def _rows(declared: Benchmark, split: str, protocol: str, file: PredictionFile, options: Options) -> data.Rows:
    """Return the benchmark's rows: given, declared, or those that came with the predictions."""
    if declared.scoring == "mr_score":
        if isinstance(file.rows, dict) and options.data is None:
            return subjects.from_tables(file.rows, file.name)
        return subjects.load(declared, split, options.data)
    place = declared.splits[split]
    if options.data is None and not (place.data or place.hub or fetch.kept(declared, split)):
        from grader.scorers.choice.items import carried_rows

        carried = carried_rows(file, declared)
        if carried is not None:
            return carried
    return data.load(declared, split, protocol, options.data, _columns(declared, split))


def check(source: str | Path, options: Options, *, stdin: BinaryIO | None = None) -> list[str]:
    """Return what there is to say of a prediction file; raises InputError with every problem."""
    selection = _open(source, options, Silent(), stdin)
    declared, file = selection.benchmark, selection.file
    notes: list[str] = []
    predictions, missing = select(selection, _known(selection, notes))
    counts = sorted({len(texts) for texts in predictions.values()})
    samples = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    summary = (
        f"{file.name}: {len(file.records)} {declared.unit}s of {declared.id} ({file.format}), {samples} samples each"
    )
    return [summary, *file.warnings, *missing, *notes]


def describe(options: Options) -> list[str]:
    """Return what a benchmark declares, and the ids of its tasks where its data is at hand."""
    declared = declarations.load(options.benchmark)
    lines = [
        f"{declared.id}: {declared.name} ({declared.scoring})",
        f"splits: {', '.join(declared.splits)} (default {declared.default_split})",
        f"protocols: {', '.join(declared.protocols)} (default {declared.default_protocol})",
    ]
    try:
        rows = _task_rows(declared, options)
    except GradeError as error:
        return [*lines, f"{declared.unit}s: {error}"]
    return [*lines, f"{len(rows)} {declared.unit}s:", *rows]


def show(options: Options, qid: str) -> list[tuple[str, str]]:
    """Return a task's columns and their texts, images left out; raises UsageError for a task that is not there."""
    declared = declarations.load(options.benchmark)
    rows = _task_rows(declared, options)
    if qid not in rows:
        near = difflib.get_close_matches(qid, rows, n=3)
        hint = f"; did you mean {', '.join(near)}?" if near else ""
        raise UsageError(f"{declared.id} has no {declared.unit} {qid!r}{hint}")
    return [
        (name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))
        for name, value in rows[qid].items()
        if name != declared.columns.image and value not in (None, "")
    ]


def _task_rows(declared: Benchmark, options: Options) -> dict[str, dict[str, Any]]:
    """Return a benchmark's rows by the id that a prediction would have."""
    split, _ = declared.split(options.split)
    protocol, _ = declared.protocol(options.protocol)
    if declared.scoring == "mr_score":
        from grader.scorers.mr_ben.scored_file import row_qids

        found = subjects.load(declared, split, options.data).rows
        return dict(zip(row_qids(found), found, strict=True))
    found = data.load(declared, split, protocol, options.data, None).rows
    return {str(row.get(declared.columns.id)): row for row in found}


def _known(selection: Selection, notes: list[str]) -> list[str]:
    """Return the ids that a prediction may have."""
    declared, rows = selection.benchmark, selection.rows
    match declared.scoring:
        case "execution":
            return [str(row.get(declared.columns.id)) for row in rows.rows]
        case "multiple_choice" | "circular":
            from grader.scorers.choice.items import items_from
            from grader.scorers.choice.passes import with_rotations

            items = items_from(rows, declared, selection.split)
            return list(with_rotations(items, selection, notes) if declared.scoring == "circular" else items)
        case "mr_score":
            from grader.scorers.mr_ben.scored_file import row_qids

            return row_qids(rows.rows)


def _columns(declared: Benchmark, split: str) -> list[str] | None:
    """Return the columns that scoring needs; None: all but the image, which a submission carries on."""
    columns = declared.columns
    if not declared.splits[split].scored:
        return None
    single = [
        *(columns.id, columns.question, columns.answer, columns.options, columns.split, columns.group_index),
        *(columns.signature, columns.tests, columns.solution),
    ]
    letters = [] if declared.scoring == "execution" else list(declared.letters)
    return [name for name in single if name] + columns.groups + letters


def _score(selection: Selection) -> Graded:
    match selection.benchmark.scoring:
        case "execution":
            from grader.scorers.execution.run import run
        case "multiple_choice" | "circular":
            from grader.scorers.choice.run import run
        case "mr_score":
            from grader.scorers.mr_ben.run import run
    return run(selection)


def _rescore(source: str | Path, options: Options) -> Graded:
    """Score again from the files of an earlier run, without a sandbox and without a judge."""
    declared = declarations.load(options.benchmark)
    split, _ = declared.split(options.split)
    protocol, _ = declared.protocol(options.protocol)
    if Path(source).is_dir():
        raise UsageError(f"{source}: is a folder; name the prediction file in it.")
    if str(source) == "-":
        raise UsageError("--score-only reads the files of an earlier run; name the prediction file.")
    match declared.scoring:
        case "execution":
            from grader.scorers.execution.run import rescore
        case "multiple_choice" | "circular":
            from grader.scorers.choice.run import rescore
        case "mr_score":
            from grader.scorers.mr_ben.run import rescore
    return rescore(Path(source), declared, split, protocol, options)
