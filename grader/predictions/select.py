"""Compare a file's qids with the benchmark's, and select the tasks to grade and their predictions."""

from __future__ import annotations

import datetime
import hashlib
from typing import TYPE_CHECKING

import msgspec

from grader.errors import InputError, UsageError
from grader.files.json_text import quoted
from grader.predictions.record import listing
from grader.results.provenance import Part, ids_hash
from grader.wording import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from grader.options import Options
    from grader.predictions.file import PredictionFile
    from grader.results import Report
    from grader.task import Task

PARTIAL = "Partial run: "
"""Beginning of the note on a run of some tasks."""


def select(
    tasks: Mapping[str, Task],
    file: PredictionFile,
    options: Options,
    noun: str,
    *,
    whole_units: bool,
    date: str | None = None,
    versions: Mapping[str, Collection[str]] | None = None,
) -> tuple[dict[str, list[str]], list[str]]:
    """Return the predictions of the tasks to grade, by qid in the benchmark's order, and notes.

    A task without predictions is an error, wrong or left out, depending on `--missing`; with `whole_units`, all tasks
    of its unit are left out. `noun` is the word for a unit in messages, `date` the column with a task's day, `versions`
    are other versions of the data with their own ids. Raises InputError, UsageError.
    """
    task_ids = list(tasks)
    selected = selected_ids(tasks, options, noun, whole_units=whole_units, date=date)
    unknown = [record.qid for record in file.records if record.qid not in tasks]
    messages = unknown_qid_messages(file, unknown, task_ids, noun=noun)
    messages += _version_hint(unknown, versions or {}, noun)
    predictions = file.predictions_by_qid
    missing = [qid for qid in selected if qid not in predictions]
    # A run that is scored again was allowed to miss tasks.
    if missing and options.missing == "error" and not options.score_only and not messages:
        messages.append(missing_prediction_message(file, missing, len(selected), noun=noun))
    if messages:
        raise InputError(messages)
    notes = []
    if len(selected) < len(task_ids):
        notes.append(f"{PARTIAL}{_selecting_options(options)} selects {len(selected)} of {len(task_ids)} qids.")
    if missing and options.missing == "skip":
        selected = _without_incomplete(selected, missing, tasks, whole_units=whole_units)
        left_out = f"{len(missing)} of {len(task_ids)} {noun}s"
        notes.append(f"{left_out} have no prediction and are left out (--missing skip).")
        if not selected:
            raise InputError([f"{file.name}: no {noun} has all its predictions; --missing skip leaves all of them out"])
    elif missing:
        notes.append(f"{len(missing)} of {len(selected)} {noun}s have no prediction and count as wrong.")
    return {qid: predictions.get(qid, []) for qid in selected}, notes


def _without_incomplete(
    selected: Mapping[str, None], missing: Collection[str], tasks: Mapping[str, Task], *, whole_units: bool
) -> dict[str, None]:
    """Return the tasks that are not `missing`; with `whole_units`, nor in a unit with a missing one."""
    incomplete_units = {tasks[qid].observation if whole_units else qid for qid in missing}
    return {qid: None for qid in selected if (tasks[qid].observation if whole_units else qid) not in incomplete_units}


def _selecting_options(options: Options) -> str:
    dates = (f"--{name} {day}" for name, day in (("since", options.since), ("until", options.until)) if day)
    return " ".join(dates) or "--limit or --id"


def selected_ids(
    tasks: Mapping[str, Task], options: Options, noun: str, *, whole_units: bool, date: str | None = None
) -> dict[str, None]:
    """Return the ids that `--since`, `--until`, `--id` and `--limit` select; raises UsageError, InputError.

    A unit is a task; with `whole_units`, it is all tasks of an observation, and an id of one of them selects them all.
    `noun` is the word for one in messages, `date` the column with a task's day.
    """
    if options.since or options.until:
        tasks = _tasks_between_days(tasks, options, noun, date)
    unit_of = {qid: task.observation if whole_units else qid for qid, task in tasks.items()}
    units = dict.fromkeys(unit_of.values())
    if options.ids:
        id_given_for = {unit_of.get(qid, qid): qid for qid in options.ids}
        unknown = [qid for unit, qid in id_given_for.items() if unit not in units]
        if unknown:
            raise UsageError(
                f"--id {unknown[0]}: the benchmark has no such {noun}. `grade show {options.benchmark}` lists the "
                f"ids. For several {noun}s, repeat the option (--id A --id B)."
            )
        units = {unit: None for unit in units if unit in id_given_for}
    selected_units = set(list(units)[: options.limit])
    return {qid: None for qid in tasks if unit_of[qid] in selected_units}


def _tasks_between_days(tasks: Mapping[str, Task], options: Options, noun: str, column: str | None) -> dict[str, Task]:
    """Return the tasks of the days from `--since` to `--until`, both included."""
    if column is None:
        raise UsageError("--since, --until: this benchmark has no dates (`date` in [columns] of benchmark.toml).")
    since, until = _parse_day(options.since or "0001-01-01"), _parse_day(options.until or "9999-12-31")
    days = {}
    for qid, task in tasks.items():
        try:
            days[qid] = datetime.date.fromisoformat(str(task.row.get(column))[:10])
        except ValueError:
            value = quoted(str(task.row.get(column)))
            raise InputError([f"{noun} {quoted(qid)}: {value} in column {column} is not a day: 2024-08-01"]) from None
    selected = {qid: task for qid, task in tasks.items() if since <= days[qid] <= until}
    if not selected:
        first, last = min(days.values()), max(days.values())
        raise UsageError(f"{_selecting_options(options)}: no {noun} is of these days; the data has {first} to {last}.")
    return selected


def _parse_day(text: str) -> datetime.date:
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{quoted(text)} is not a day; write it like 2024-08-01.") from None


def fingerprint(predictions: Mapping[str, list[str]]) -> str:
    """Return a hash of the predictions that were graded, as JSON; tasks without predictions are ignored.

    They are encoded task by task, because all of them can take hundreds of megabytes.
    """
    encode = msgspec.json.Encoder().encode
    digest = hashlib.sha256(b"{")
    separator = b""
    for qid, texts in predictions.items():
        if not texts:
            continue
        digest.update(separator + encode(qid) + b":" + encode(texts))
        separator = b","
    digest.update(b"}")
    return digest.hexdigest()[:16]


def are_graded(predictions: Mapping[str, list[str]], report: Report) -> bool:
    """Whether these are the predictions that a report graded; those of other tasks do not count."""
    return have_digest(predictions, (sample.qid for sample in report.samples), report.provenance.predictions_digest)


def have_digest(predictions: Mapping[str, list[str]], qids: Iterable[str], digest: str | None) -> bool:
    """Whether the predictions of these tasks have this `fingerprint`."""
    try:
        return digest == fingerprint({qid: predictions.get(qid, []) for qid in dict.fromkeys(qids)})
    except UnicodeEncodeError:  # a lone surrogate, which no graded prediction has
        return False


_LISTED_UNKNOWN = 5
"""More unknown qids than these are counted in one line."""

_ROW_NUMBERS_HINT = (
    "The ids of the data are row numbers; if the records are in this order, number them, too: --fields id=#,reply=FIELD"
)
_DATA_HINT = "Are the benchmark (-b), the split (--split) and the data (--data) right?"


def unknown_qid_messages(
    file: PredictionFile, unknown: Collection[str], task_ids: Collection[str], *, noun: str = "task"
) -> list[str]:
    """Return one line for each unknown qid of a file; a single line with a count for many.

    If most are unknown, the last line asks whether the benchmark, the split and the data are right.
    """
    if not unknown:
        return []
    positions = {record.qid: record.field_position("qid") for record in file.records}
    first = positions[next(iter(unknown))]
    count = len(unknown)
    is_majority = 2 * count > len(file.records)
    if count == len(file.records):
        qids = f"the file has {listing(unknown)}, the benchmark {listing(task_ids)}"
        has_row_numbers = count == len(task_ids) and set(task_ids) == set(map(str, range(count)))
        hint = f" {_ROW_NUMBERS_HINT}" if has_row_numbers else ""
        return [f"{first}: no qid of the file is a {noun} of the benchmark: {qids}. {_DATA_HINT}{hint}"]
    if count > _LISTED_UNKNOWN:
        summary = f"{count:,} of {len(file.records):,} qids are no {noun} of the benchmark: {listing(unknown)}"
        return [f"{first}: {summary}.{f' {_DATA_HINT}' if is_majority else ''}"]
    lines = [f"{positions[qid]}: the benchmark has no {noun} {quoted(qid)}" for qid in unknown]
    if is_majority:
        lines.append(f"{count:,} of {len(file.records):,} qids are unknown. {_DATA_HINT}")
    return lines


def _version_hint(unknown: Collection[str], versions: Mapping[str, Collection[str]], noun: str) -> list[str]:
    """Return how many of the unknown qids each other version of the data has: a line for each that has some."""
    counts = {name: len(set(ids).intersection(unknown)) for name, ids in versions.items()}
    return [
        f"{counted(count, noun)} of {name} {'is' if count == 1 else 'are'} not in this data: the file answers "
        f"{name}, so give its data with --data, or leave these records out."
        for name, count in counts.items()
        if count
    ]


def missing_prediction_message(
    file: PredictionFile, missing: Collection[str], count: int, *, noun: str = "task"
) -> str:
    """Return the line that says which of so many tasks have no prediction and what can be done."""
    summary = f"{len(missing):,} of {counted(count, noun)} without a prediction: {listing(missing)}"
    advice = (
        "--missing wrong counts them as wrong, --missing skip leaves them out, --join reads several files as one run"
    )
    return f"{file.path or file.name}: $: {summary}; {advice}"


def selected_part(selected: Collection[str], task_ids: Collection[str]) -> Part | None:
    """Return how many of a benchmark's tasks were selected, and a hash of their ids; None if all were."""
    if len(selected) >= len(task_ids):
        return None
    return Part(n=len(selected), of=len(task_ids), ids_hash=ids_hash(selected))
