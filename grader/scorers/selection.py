"""What a scorer works on, and what it hands back: shared by every kind of scoring."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable
from pathlib import Path

import msgspec

import grader
from grader import resources
from grader.benchmark import DEFAULT_LETTERS, Benchmark
from grader.data.load import Rows
from grader.decisions import intervals as stats
from grader.errors import InputError, UsageError
from grader.files.replacing import replacing
from grader.observer import Observer
from grader.options import Options
from grader.predictions.read import PredictionFile, check_against, missing_problem, read_predictions, unknown_problems
from grader.results import Report, encode_report, read_report


class Graded(msgspec.Struct, frozen=True, kw_only=True):
    """A report, and the files that belong beside the predictions."""

    report: Report
    stem: Path | None
    """Path of the predictions without suffix; None: standard input, nothing is written beside it."""
    write_more: Callable[[Path], Path] | None = None
    """Writes the benchmark's own file (`_executed.json`) beside the stem and returns its path."""
    file: PredictionFile | None = None
    """What was graded; None where an earlier run was scored again."""

    def write(self) -> list[Path]:
        """Write `<stem>_results.json` and the benchmark's own file; return their paths."""
        if self.stem is None:
            return []
        path = self.stem.with_name(f"{self.stem.name}_results.json")
        with replacing(path) as file:
            # Both files or none: this one takes its place when the other has.
            file.write(encode_report(self.report))
            file.flush()
            written = [self.write_more(self.stem)] if self.write_more is not None else []
        return [*written, path]


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """What a scorer works on: the predictions of the tasks that are to be graded."""

    benchmark: Benchmark
    split: str
    protocol: str
    rows: Rows
    file: PredictionFile
    options: Options
    observer: Observer


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
    part = [f"Only a part: --limit or --id leaves {len(wanted)} of {len(known)} qids."]
    notes = part if len(wanted) < len(known) else []
    notes += [f"{len(missing)} of {len(wanted)} {unit}s have no prediction and count as wrong."] if missing else []
    notes += _absent_letters(selection.benchmark, selection.rows)
    return {qid: have.get(qid, []) for qid in wanted}, notes


def _absent_letters(benchmark: Benchmark, rows: Rows) -> list[str]:
    """Say which letters of the declaration are those of no option column: a gap, or one that a private one promises."""
    apart = benchmark.scoring in ("multiple_choice", "circular") and not benchmark.options_in_text
    if not apart or benchmark.columns.options is not None:
        return []
    there = {name for row in rows.rows for name in row}
    last = max((place for place, letter in enumerate(benchmark.letters) if letter in there), default=-1)
    # Those after the last option say little unless somebody chose them for this data: one benchmark has many forms.
    bundled = Path(benchmark.folder).parent == resources.folder("benchmarks")
    chosen_for_it = not bundled and benchmark.letters != DEFAULT_LETTERS
    named = benchmark.letters if chosen_for_it else benchmark.letters[: last + 1]
    lacking = [repr(letter) for letter in named if letter not in there]
    if not lacking:
        return []
    some = ", ".join(lacking[:5]) + (", ..." if len(lacking) > 5 else "")
    columns = "column" if len(lacking) == 1 else "columns"
    return [f"The data has no option {columns} {some}, which the benchmark's letters ({benchmark.letters}) name."]


def chosen(known: list[str], options: Options, unit: str) -> list[str]:
    """Return the ids that `--id` and `--limit` leave; raises UsageError for an id that is not there."""
    present, ids = set(known), set(options.ids)
    strangers = [qid for qid in options.ids if qid not in present]
    if strangers:
        raise UsageError(f"--id {strangers[0]}: the benchmark has no such {unit}.")
    wanted = [qid for qid in known if not ids or qid in ids]
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
        "intervals": stats.DESCRIPTION,
    }


def earlier_report(path: Path, declared: Benchmark, split: str, protocol: str) -> Report | None:
    """Return the results file beside a prediction file, None where there is none; raises InputError, UsageError."""
    results = stem_of_path(path).with_name(f"{stem_of_path(path).name}_results.json")
    if not results.is_file():
        return None
    report = read_report(results)
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
