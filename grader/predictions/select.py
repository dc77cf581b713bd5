"""Select the tasks to grade, and their predictions."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import msgspec

from grader.errors import InputError, UsageError
from grader.predictions.known import check_against, missing_problem, unknown_problems

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.options import Options
    from grader.predictions.file import PredictionFile
    from grader.task import Task


def select(
    tasks: Mapping[str, Task], file: PredictionFile, options: Options, unit: str, *, whole_units: bool
) -> tuple[dict[str, list[str]], list[str]]:
    """Return the predictions of the tasks to grade, by qid in the benchmark's order, and notes.

    A task without predictions is wrong or an error, depending on `--missing`. `unit` is the name of a task in
    messages. Raises InputError, UsageError.
    """
    known = list(tasks)
    wanted = chosen(tasks, options, unit, whole_units=whole_units)
    check = check_against(file, known)
    problems = unknown_problems(file, check, known, unit=unit)
    missing = [qid for qid in check.missing if qid in wanted]
    if missing and options.missing == "error" and not problems:
        problems.append(missing_problem(file, msgspec.structs.replace(check, missing=missing), list(wanted), unit=unit))
    if problems:
        raise InputError(problems)
    have = {record.qid: record.predictions for record in file.records}
    notes = []
    if len(wanted) < len(known):
        notes.append(f"Partial run: --limit or --id selects {len(wanted)} of {len(known)} qids.")
    if missing:
        notes.append(f"{len(missing)} of {len(wanted)} {unit}s have no prediction and count as wrong.")
    return {qid: have.get(qid, []) for qid in wanted}, notes


def chosen(tasks: Mapping[str, Task], options: Options, unit: str, *, whole_units: bool) -> dict[str, None]:
    """Return the ids that `--id` and `--limit` select; raises UsageError for an unknown id.

    `whole_units`: the tasks of one unit are selected together or not at all.
    """
    of_unit = {qid: task.observation if whole_units else qid for qid, task in tasks.items()}
    units = dict.fromkeys(of_unit.values())
    if options.ids:
        named = {of_unit.get(qid, qid): qid for qid in options.ids}
        strangers = [qid for name, qid in named.items() if name not in units]
        if strangers:
            raise UsageError(
                f"--id {strangers[0]}: the benchmark has no such {unit}. `grade show {options.benchmark}` lists the "
                f"ids. For several {unit}s, repeat the option (--id A --id B)."
            )
        units = {name: None for name in units if name in named}
    kept = set(list(units)[: options.limit])
    return {qid: None for qid in tasks if of_unit[qid] in kept}


def fingerprint(predictions: Mapping[str, list[str]]) -> str:
    """Return a hash of the predictions that were graded; tasks without predictions are ignored."""
    return _hash({qid: texts for qid, texts in predictions.items() if texts})


def is_fingerprint(digest: str, predictions: Mapping[str, list[str]]) -> bool:
    """Whether a report's hash belongs to these predictions; older reports included tasks without predictions."""
    return digest in {fingerprint(predictions), _hash(predictions)}


def _hash(predictions: Mapping[str, list[str]]) -> str:
    """Return a hash of the predictions as JSON.

    They are encoded task by task, because all of them can take hundreds of megabytes.
    """
    encode = msgspec.json.Encoder().encode
    digest, before = hashlib.sha256(b"{"), b""
    for qid, texts in predictions.items():
        digest.update(before + encode(qid) + b":" + encode(texts))
        before = b","
    digest.update(b"}")
    return digest.hexdigest()[:16]
