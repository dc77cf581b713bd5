"""Compare the qids of a prediction file with those of its benchmark."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from grader.files.json_text import quoted
from grader.files.problems import MOST
from grader.predictions.record import counted, names

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from grader.predictions.file import PredictionFile

_SUGGESTIONS = 5
"""Number of unknown qids that get a "did you mean"; each is compared with up to `_CANDIDATES` known ones."""
_CANDIDATES = 2000

_RIGHT = "Are the benchmark (-b), the split (--split) and the data (--data) right?"


class QidCheck(msgspec.Struct, frozen=True, kw_only=True):
    """The unknown and the missing qids of a file."""

    unknown: list[str]
    """In file order."""
    missing: list[str]
    """In the benchmark's order."""


def check_against(file: PredictionFile, known: Collection[str]) -> QidCheck:
    """Compare the file's qids with the benchmark's; the caller decides whether missing ones are an error."""
    expected = set(known)
    have = {record.qid for record in file.records}
    return QidCheck(
        unknown=[record.qid for record in file.records if record.qid not in expected],
        missing=[qid for qid in known if qid not in have],
    )


def unknown_problems(file: PredictionFile, check: QidCheck, known: Collection[str], *, unit: str = "task") -> list[str]:
    """Return one line for each unknown qid, with the most similar known one; a single line if all are unknown.

    If most are unknown, the last line asks whether the benchmark, the split and the data are right.
    """
    where = {record.qid: record.where for record in file.records}
    if check.unknown and len(check.unknown) == len(file.records):
        both = f"the file has {names(check.unknown)}, the benchmark {names(known)}"
        return [f"{where[check.unknown[0]]}: $.qid: no qid of the file is a {unit} of the benchmark: {both}. {_RIGHT}"]
    lines = []
    for number, qid in enumerate(check.unknown[:MOST]):
        near = _nearest(qid, known) if number < _SUGGESTIONS else None
        hint = f"; did you mean {quoted(near)}?" if near else ""
        lines.append(f"{where[qid]}: $.qid: the benchmark has no {unit} {quoted(qid)}{hint}")
    hidden = len(check.unknown) - MOST
    lines += [f"... and {hidden:,} more unknown qids"] if hidden > 0 else []
    if 2 * len(check.unknown) > len(file.records):
        lines.append(f"{len(check.unknown):,} of {len(file.records):,} qids are unknown. {_RIGHT}")
    return lines


def missing_problem(file: PredictionFile, check: QidCheck, known: Collection[str], *, unit: str = "task") -> str:
    """Return the line that says which tasks have no prediction and what `--missing wrong` would do."""
    some = f"{len(check.missing)} of {counted(len(known), unit)} without a prediction: {names(check.missing)}"
    return f"{file.path or file.name}: $: {some}; --missing wrong counts them as wrong"


def _nearest(qid: str, known: Collection[str]) -> str | None:
    """Return a known qid that differs only by case, blanks or leading zeros, else one with a similar spelling."""
    import difflib

    plain = _plain(qid)
    for candidate in known:
        if _plain(candidate) == plain:
            return candidate
    if qid.isdigit():  # every number is similar to some other number
        return None
    near = difflib.get_close_matches(qid[:200], list(islice(_alike(qid, known), _CANDIDATES)), 1, 0.8)
    return near[0] if near else None


def _alike(qid: str, known: Collection[str]) -> Iterator[str]:
    """Yield known qids of similar length with a common start or end: cheap, and enough to find typing errors."""
    for candidate in known:
        same_end = candidate[:3] == qid[:3] or candidate[-3:] == qid[-3:]
        if same_end and abs(len(candidate) - len(qid)) <= 3:
            yield candidate


def _plain(qid: str) -> str:
    return qid.strip().casefold().lstrip("0")
