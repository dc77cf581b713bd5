"""One grading run from end to end: read, validate, score, and hand back what is to be written."""

from __future__ import annotations

import hashlib
import platform
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import msgspec

import grader
from grader import benchmark as declarations
from grader import data, subjects
from grader.errors import InputError, UsageError
from grader.observer import Silent
from grader.predictions import PredictionFile, check_against, missing_problem, read_predictions, unknown_problems
from grader.results import Report, decode_report, encode_report

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.benchmark import Benchmark
    from grader.observer import Observer
    from grader.options import Options


class Graded(msgspec.Struct, frozen=True, kw_only=True):
    """A report, and the files that belong beside the predictions."""

    report: Report
    stem: Path | None
    """Path of the predictions without suffix; None: standard input, nothing is written beside it."""
    write_more: Callable[[Path], Path] | None = None
    """Writes the benchmark's own file (`_executed.json`) beside the stem and returns its path."""

    def write(self) -> list[Path]:
        """Write `<stem>_results.json` and the benchmark's own file; return their paths."""
        if self.stem is None:
            return []
        written = [self.write_more(self.stem)] if self.write_more is not None else []
        path = self.stem.with_name(f"{self.stem.name}_results.json")
        partial = path.with_name(f".{path.name}.partial")
        partial.write_bytes(encode_report(self.report))
        partial.replace(path)
        return [*written, path]


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """What a scorer works on: the predictions of the tasks that are to be graded."""

    benchmark: Benchmark
    split: str
    protocol: str
    rows: data.Rows
    file: PredictionFile
    options: Options
    observer: Observer


def grade(source: str | Path, options: Options, observer: Observer, *, stdin: BinaryIO | None = None) -> Graded:
    """Grade a prediction file; raises a GradeError, and then nothing was written."""
    declared = declarations.load(options.benchmark)
    split, _ = declared.split(options.split)
    protocol, _ = declared.protocol(options.protocol)
    if options.score_only:
        return _rescore(source, declared, split, protocol, options)
    file = read_predictions(source, stdin=stdin)
    rows = _rows(declared, split, protocol, file, options)
    if not rows.rows:
        raise InputError([f"{rows.origin}: no rows"])
    selection = Selection(
        benchmark=declared, split=split, protocol=protocol, rows=rows, file=file, options=options, observer=observer
    )
    return _score(selection)


def _rows(declared: Benchmark, split: str, protocol: str, file: PredictionFile, options: Options) -> data.Rows:
    """Return the benchmark's rows: given, declared, or those that came with the predictions."""
    if declared.scoring != "mr_score":
        return data.load(declared, split, protocol, options.data, _columns(declared, split))
    if isinstance(file.rows, dict) and options.data is None:
        return subjects.from_tables(file.rows, file.name)
    return subjects.load(declared, split, options.data)


def known_ids(declared: Benchmark, rows: data.Rows) -> list[str]:
    """Return the ids of the benchmark's rows."""
    if declared.scoring == "mr_score":
        from grader.reading.mr_ben_scored_file import row_qids

        return row_qids(rows.rows)
    return [str(row.get(declared.columns.id)) for row in rows.rows]


def check(source: str | Path, options: Options, *, stdin: BinaryIO | None = None) -> list[str]:
    """Return what there is to say of a prediction file; raises InputError with every problem."""
    declared = declarations.load(options.benchmark)
    split, _ = declared.split(options.split)
    protocol, _ = declared.protocol(options.protocol)
    file = read_predictions(source, stdin=stdin)
    rows = _rows(declared, split, protocol, file, options)
    selection = Selection(
        benchmark=declared, split=split, protocol=protocol, rows=rows, file=file, options=options, observer=Silent()
    )
    predictions, notes = select(selection, known_ids(declared, rows))
    counts = sorted({len(texts) for texts in predictions.values()})
    samples = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    summary = (
        f"{file.name}: {len(file.records)} {declared.unit}s of {declared.id} ({file.format}), {samples} samples each"
    )
    return [summary, *file.warnings, *notes]


def _columns(declared: Benchmark, split: str) -> list[str] | None:
    """Return the columns that scoring needs; None: all but the image, which a submission carries on."""
    columns = declared.columns
    if not declared.splits[split].scored:
        return None
    single = [
        *(columns.id, columns.question, columns.answer, columns.options, columns.split, columns.group_index),
        *(columns.signature, columns.tests),
    ]
    letters = [] if declared.scoring == "execution" else list(declared.letters)
    return [name for name in single if name] + columns.groups + letters


def _score(selection: Selection) -> Graded:
    match selection.benchmark.scoring:
        case "execution":
            from grader.scoring.run_execution import run
        case "multiple_choice" | "circular":
            from grader.scoring.run_choice import run
        case "mr_score":
            from grader.scoring.run_mr_score import run
    return run(selection)


def _rescore(source: str | Path, declared: Benchmark, split: str, protocol: str, options: Options) -> Graded:
    """Score again from the files of an earlier run, without a sandbox and without a judge."""
    if str(source) == "-":
        raise UsageError("--score-only reads the files of an earlier run; name the prediction file.")
    match declared.scoring:
        case "execution":
            from grader.scoring.run_execution import rescore
        case "multiple_choice" | "circular":
            from grader.scoring.run_choice import rescore
        case "mr_score":
            from grader.scoring.run_mr_score import rescore
    return rescore(Path(source), declared, split, protocol, options)


# --- shared by the scorers --------------------------------------------------------------------------------------


def select(selection: Selection, known: list[str]) -> tuple[dict[str, list[str]], list[str]]:
    """Return the predictions of the tasks to grade, by qid in the benchmark's order, and what to note.

    A task without predictions counts as one that gave none, or is an error, as `--missing` says. Raises InputError.
    """
    options, file, unit = selection.options, selection.file, selection.benchmark.unit
    wanted = chosen(known, options, unit)
    check = check_against(file, known)
    problems = unknown_problems(file, check, known, unit=unit)
    missing = [qid for qid in check.missing if qid in wanted]
    if missing and options.missing == "error" and not problems:
        problems.append(missing_problem(file, msgspec.structs.replace(check, missing=missing), wanted, unit=unit))
    if problems:
        raise InputError(problems)
    have = {record.qid: record.predictions for record in file.records}
    notes = [f"{len(missing)} of {len(wanted)} {unit}s have no prediction and count as wrong."] if missing else []
    return {qid: have.get(qid, []) for qid in wanted}, notes


def chosen(known: list[str], options: Options, unit: str) -> list[str]:
    """Return the ids that `--id` and `--limit` leave; raises UsageError for an id that is not there."""
    strangers = [qid for qid in options.ids if qid not in known]
    if strangers:
        raise UsageError(f"--id {strangers[0]}: the benchmark has no such {unit}.")
    wanted = [qid for qid in known if not options.ids or qid in options.ids]
    return wanted[: options.limit]


def stem_of(file: PredictionFile) -> Path | None:
    """Return the path that the written files' names begin with."""
    return stem_of_path(file.path) if file.path is not None else None


def stem_of_path(path: Path) -> Path:
    """Return a prediction file's path without its suffix."""
    return path.with_suffix("") if path.suffix in {".json", ".jsonl", ".tsv", ".xlsx"} else path


def fingerprint(predictions: dict[str, list[str]]) -> str:
    """Return a hash of the predictions that were graded."""
    return hashlib.sha256(msgspec.json.encode(predictions)).hexdigest()[:16]


def environment(selection: Selection, predictions: dict[str, list[str]]) -> dict[str, object]:
    """Return the facts that every report carries."""
    return {
        "grade": grader.__version__,
        "python": platform.python_version(),
        "data": selection.rows.origin,
        "data_digest": selection.rows.digest,
        "predictions": selection.file.name.rpartition("/")[2],
        "predictions_digest": fingerprint(predictions),
    }


def earlier_report(path: Path, declared: Benchmark, split: str, protocol: str) -> Report | None:
    """Return the results file beside a prediction file, None where there is none; raises InputError, UsageError."""
    results = stem_of_path(path).with_name(f"{stem_of_path(path).name}_results.json")
    if not results.is_file():
        return None
    try:
        report = decode_report(results.read_bytes())
    except msgspec.DecodeError as error:
        raise InputError([f"{results}: {error}"]) from error
    made = (report.benchmark, report.split, report.protocol)
    if made != (declared.id, split, protocol):
        raise UsageError(
            f"{results.name} was made with -b {made[0]} --split {made[1]} --protocol {made[2]}; "
            "give the same to score it again."
        )
    return report


def check_unchanged(path: Path, report: Report) -> None:
    """Raise UsageError where the predictions are no longer those the report was made of."""
    made_of = report.environment.get("predictions_digest")
    if not path.is_file() or made_of is None:
        return
    have = {record.qid: record.predictions for record in read_predictions(path).records}
    graded = dict.fromkeys(sample.qid for sample in report.samples)
    if fingerprint({qid: have.get(qid, []) for qid in graded}) != made_of:
        raise UsageError(f"{path.name} has changed since it was graded; grade it again without --score-only.")
