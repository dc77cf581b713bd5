"""Compare a file's qids with the benchmark's, and select the tasks to grade and their predictions."""

from __future__ import annotations

import datetime
import hashlib
from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from grader.errors import InputError, UsageError
from grader.files.json_text import quoted
from grader.predictions.record import listing
from grader.results.provenance import Part, ids_hash
from grader.wording import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from grader.options import Options
    from grader.predictions.file import PredictionFile
    from grader.task import Task

PARTIAL = "Partial run: "
"""Beginning of the note on a run of some tasks."""


def select(
    tasks: Mapping[str, Task],
    file: PredictionFile,
    options: Options,
    unit: str,
    *,
    whole_units: bool,
    date: str | None = None,
    versions: Mapping[str, Collection[str]] | None = None,
) -> tuple[dict[str, list[str]], list[str]]:
    """Return the predictions of the tasks to grade, by qid in the benchmark's order, and notes.

    A task without predictions is an error, wrong or left out, depending on `--missing`. `unit` is the name of a task in
    messages, `date` the column with its day, `versions` are other versions of the data with their own ids. Raises
    InputError, UsageError.
    """
    known = list(tasks)
    wanted = selected_ids(tasks, options, unit, whole_units=whole_units, date=date)
    check = compare_qids(file, known)
    problems = unknown_qid_messages(file, check, known, unit=unit)
    problems += _version_hint(check.unknown, versions or {}, unit)
    missing = [qid for qid in check.missing if qid in wanted]
    if missing and options.missing == "error" and not problems:
        problems.append(
            missing_prediction_message(file, msgspec.structs.replace(check, missing=missing), list(wanted), unit=unit)
        )
    if problems:
        raise InputError(problems)
    predictions = {record.qid: record.predictions for record in file.records}
    notes = []
    if len(wanted) < len(known):
        notes.append(f"{PARTIAL}{_given_options(options)} selects {len(wanted)} of {len(known)} qids.")
    if missing and options.missing == "skip":
        wanted = _without_incomplete(wanted, missing, tasks, whole_units=whole_units)
        notes.append(f"{len(missing)} of {len(known)} {unit}s have no prediction and are left out (--missing skip).")
        if not wanted:
            raise InputError([f"{file.name}: no {unit} has all its predictions; --missing skip leaves all of them out"])
    elif missing:
        notes.append(f"{len(missing)} of {len(wanted)} {unit}s have no prediction and count as wrong.")
    return {qid: predictions.get(qid, []) for qid in wanted}, notes


def _without_incomplete(
    wanted: Mapping[str, None], missing: Collection[str], tasks: Mapping[str, Task], *, whole_units: bool
) -> dict[str, None]:
    """Return the tasks that are not `missing`; with `whole_units`, nor in a unit with a missing one."""
    incomplete_units = {tasks[qid].observation if whole_units else qid for qid in missing}
    return {qid: None for qid in wanted if (tasks[qid].observation if whole_units else qid) not in incomplete_units}


def _given_options(options: Options) -> str:
    dates = (f"--{name} {day}" for name, day in (("since", options.since), ("until", options.until)) if day)
    return " ".join(dates) or "--limit or --id"


def selected_ids(
    tasks: Mapping[str, Task], options: Options, unit: str, *, whole_units: bool, date: str | None = None
) -> dict[str, None]:
    """Return the ids that `--since`, `--until`, `--id` and `--limit` select; raises UsageError, InputError.

    `whole_units`: the tasks of one unit are selected together or not at all. `date`: the column with a task's day.
    """
    if options.since or options.until:
        tasks = _tasks_between_days(tasks, options, unit, date)
    of_unit = {qid: task.observation if whole_units else qid for qid, task in tasks.items()}
    units = dict.fromkeys(of_unit.values())
    if options.ids:
        named = {of_unit.get(qid, qid): qid for qid in options.ids}
        unknown = [qid for name, qid in named.items() if name not in units]
        if unknown:
            raise UsageError(
                f"--id {unknown[0]}: the benchmark has no such {unit}. `grade show {options.benchmark}` lists the "
                f"ids. For several {unit}s, repeat the option (--id A --id B)."
            )
        units = {name: None for name in units if name in named}
    selected_units = set(list(units)[: options.limit])
    return {qid: None for qid in tasks if of_unit[qid] in selected_units}


def _tasks_between_days(tasks: Mapping[str, Task], options: Options, unit: str, column: str | None) -> dict[str, Task]:
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
            raise InputError([f"{unit} {quoted(qid)}: {value} in column {column} is not a day: 2024-08-01"]) from None
    selected = {qid: task for qid, task in tasks.items() if since <= days[qid] <= until}
    if not selected:
        first, last = min(days.values()), max(days.values())
        raise UsageError(f"{_given_options(options)}: no {unit} is of these days; the data has {first} to {last}.")
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


_SUGGESTIONS = 5
"""Number of unknown qids that get a "did you mean"; each is compared with up to `_CANDIDATES` known ones."""
_CANDIDATES = 2000

_ROW_NUMBERS_HINT = (
    "The ids of the data are row numbers; if the records are in this order, number them, too: --fields id=#,reply=FIELD"
)
_DATA_HINT = "Are the benchmark (-b), the split (--split) and the data (--data) right?"


class QidCheck(msgspec.Struct, frozen=True, kw_only=True):
    """The unknown and the missing qids of a file."""

    unknown: list[str]
    """In file order."""
    missing: list[str]
    """In the benchmark's order."""


def compare_qids(file: PredictionFile, known: Collection[str]) -> QidCheck:
    """Compare the file's qids with the benchmark's; the caller decides whether missing ones are an error."""
    known_qids = set(known)
    file_qids = {record.qid for record in file.records}
    return QidCheck(
        unknown=[record.qid for record in file.records if record.qid not in known_qids],
        missing=[qid for qid in known if qid not in file_qids],
    )


def unknown_qid_messages(
    file: PredictionFile, check: QidCheck, known: Collection[str], *, unit: str = "task"
) -> list[str]:
    """Return one line for each unknown qid, with the most similar known one; a single line with a count for many.

    If most are unknown, the last line asks whether the benchmark, the split and the data are right.
    """
    if not check.unknown:
        return []
    where = {record.qid: record.place("qid") for record in file.records}
    first = where[check.unknown[0]]
    number = len(check.unknown)
    is_majority = 2 * number > len(file.records)
    if number == len(file.records):
        both = f"the file has {listing(check.unknown)}, the benchmark {listing(known)}"
        has_row_numbers = number == len(known) and set(known) == set(map(str, range(number)))
        hint = f" {_ROW_NUMBERS_HINT}" if has_row_numbers else ""
        return [f"{first}: no qid of the file is a {unit} of the benchmark: {both}. {_DATA_HINT}{hint}"]
    if number > _SUGGESTIONS:
        problem = f"{number:,} of {len(file.records):,} qids are no {unit} of the benchmark: {listing(check.unknown)}"
        return [f"{first}: {problem}.{f' {_DATA_HINT}' if is_majority else ''}"]
    lines = []
    for qid in check.unknown:
        near = _nearest(qid, known)
        hint = f"; did you mean {quoted(near)}?" if near else ""
        lines.append(f"{where[qid]}: the benchmark has no {unit} {quoted(qid)}{hint}")
    if is_majority:
        lines.append(f"{number:,} of {len(file.records):,} qids are unknown. {_DATA_HINT}")
    return lines


def _version_hint(unknown: Collection[str], versions: Mapping[str, Collection[str]], unit: str) -> list[str]:
    """Return which other version of the data has the unknown qids."""
    numbers = {name: len(set(ids).intersection(unknown)) for name, ids in versions.items()}
    return [
        f"{counted(number, unit)} of {name} {'is' if number == 1 else 'are'} not in this data: the file answers "
        f"{name}, so give its data with --data, or leave these records out."
        for name, number in numbers.items()
        if number
    ]


def missing_prediction_message(
    file: PredictionFile, check: QidCheck, known: Collection[str], *, unit: str = "task"
) -> str:
    """Return the line that says which tasks have no prediction and what can be done."""
    number = f"{len(check.missing):,} of {counted(len(known), unit)} without a prediction: {listing(check.missing)}"
    advice = (
        "--missing wrong counts them as wrong, --missing skip leaves them out, --join reads several files as one run"
    )
    return f"{file.path or file.name}: $: {number}; {advice}"


def _nearest(qid: str, known: Collection[str]) -> str | None:
    """Return a known qid that differs only by case, blanks or leading zeros, else one with a similar spelling."""
    import difflib

    plain = _plain_qid(qid)
    for candidate in known:
        if _plain_qid(candidate) == plain:
            return candidate
    if qid.isdigit():  # every number is similar to some other number
        return None
    # Comparing takes the square of the length, so only some are compared: those with the same beginning or end.
    similar = (k for k in known if abs(len(k) - len(qid)) <= 3 and (k[:3] == qid[:3] or k[-3:] == qid[-3:]))
    near = difflib.get_close_matches(qid[:200], list(islice(similar, _CANDIDATES)), 1, 0.8)
    return near[0] if near else None


def _plain_qid(qid: str) -> str:
    return qid.strip().casefold().lstrip("0")


def selected_part(chosen: Collection[str], known: Collection[str]) -> Part | None:
    """Return the chosen part of the known ids; None if all were chosen."""
    if len(chosen) >= len(known):
        return None
    return Part(n=len(chosen), of=len(known), ids_hash=ids_hash(chosen))
