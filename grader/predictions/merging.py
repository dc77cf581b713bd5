"""Merge the records of each qid into one, and report oddities of a file's samples."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

import msgspec

from grader.files.json_text import quoted
from grader.files.workbook import CELL_LIMIT
from grader.predictions.evidence import options_of, plain, question_of
from grader.predictions.file import NOTHING, PredictionRecord, endings
from grader.predictions.record import names
from grader.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

T = TypeVar("T")
_LONG_TEXT = 100
"""Minimum length, in characters, at which equal samples are suspicious (two samples "B" are not)."""


class Merger:
    """Collects records by qid, in the order in which the qids first appear."""

    def __init__(self) -> None:
        self._first: dict[str, PredictionRecord] = {}
        self._more: dict[str, list[PredictionRecord]] = {}
        """Further records of a qid; most qids have none."""

    def __len__(self) -> int:
        return len(self._first)

    def by_row_number(self, field: str) -> Merger | None:
        """Return the same records with the row number in this field as their qid; None if one has none."""
        other = Merger()
        for record in chain(self._first.values(), *self._more.values()):
            row = record.fields.get(field)
            if not isinstance(row, int | str):
                return None
            other.put(msgspec.structs.replace(record, qid=str(row)))
        return other

    def add(self, record: PredictionRecord, where: str) -> None:
        """Add one record."""
        ended = endings(record.fields, len(record.predictions))
        self.put(msgspec.structs.replace(record, endings=ended, where=where))

    def put(self, record: PredictionRecord) -> None:
        """Add a record that is complete."""
        if self._first.setdefault(record.qid, record) is not record:
            self._more.setdefault(record.qid, []).append(record)

    def merged(self) -> dict[str, int]:
        """Return qid -> number of records, for qids with more than one."""
        return {qid: 1 + len(self._more[qid]) for qid in self._first if qid in self._more} if self._more else {}

    def records(self) -> list[PredictionRecord]:
        """Return one record per qid."""
        if not self._more:
            return list(self._first.values())
        return [_merge_records([first, *self._more.get(qid, ())]) for qid, first in self._first.items()]

    def conflicts(self) -> dict[str, str]:
        """Return the qids whose records answer different questions or have different options, and how they differ."""
        found = {}
        for qid, more in self._more.items():
            first = self._first[qid]
            for part in (question_of, options_of):
                ours = part(first)
                pairs = ((part(record), record.where) for record in more)
                other = next((pair for pair in pairs if pair[0] and ours and plain(pair[0]) != plain(ours)), None)
                if other is not None:
                    found[qid] = f"{quoted(ours)} ({first.where}) and {quoted(other[0])} ({other[1]})"
                    break
        return found

    def warnings(self, records: list[PredictionRecord]) -> Iterator[str]:
        """Yield warnings about the samples, one line each."""
        merged = self.merged()
        yield from self._models_warning()
        if any(len(set(record.filters or ())) > 1 for record in records):
            return  # of one output, two filters can leave the same text
        joined = [qid for qid in merged if _repeats([self._first[qid], *self._more[qid]])]
        if joined:
            some = counted(len(joined), "qid")
            yield f"{some} with a record that is identical to another one (was the file joined twice?): {names(joined)}"
        else:
            yield from _equal_samples_warning(records)
        is_by_sample = 1 < len(merged) == len(self._first)  # each of several qids has several records
        several = [] if is_by_sample else [qid for qid in merged if qid not in joined]
        if several:
            some = counted(len(several), "duplicate qid")
            yield f"{some}: the predictions of all its records count as its samples: {names(several)}"
        counts = Counter(len(record.predictions) for record in records)
        if len(counts) > 1:
            usual = counts.most_common(1)[0][0]
            rare = [size for size in sorted(counts) if size != usual]
            sizes = [(size, counts[size]) for size in [usual, *rare]]
            listed = ", ".join(f"{count} {'has' if count == 1 else 'have'} {size}" for size, count in sizes)
            odd = [record.qid for record in records if len(record.predictions) != usual]
            qids = "qid" if len(odd) == 1 else "qids"
            yield f"Tasks have different numbers of samples: {listed} ({qids} {names(odd)})"

    def _models_warning(self) -> Iterator[str]:
        """Yield one line if records of one qid name several models: their outputs look like samples of one."""
        by_qid = {qid: _models([self._first[qid], *more]) for qid, more in self._more.items()}
        mixed = {qid: models for qid, models in by_qid.items() if len(models) > 1}
        if mixed:
            models = dict.fromkeys(model for models in mixed.values() for model in models)
            yield (
                f"{counted(len(mixed), 'qid')} with outputs of several models ({names(models)}), which count as "
                "samples of one: to grade each model, write a file for each"
            )


def _models(records: list[PredictionRecord]) -> dict[str, None]:
    found = (record.fields.get("model") for record in records)
    return dict.fromkeys(model for model in found if isinstance(model, str) and model)


def _merge_records(records: list[PredictionRecord]) -> PredictionRecord:
    first = records[0]
    if len(records) == 1:
        return first
    return msgspec.structs.replace(
        first,
        predictions=[text for record in records for text in record.predictions],
        prompts=_concatenate([r.prompts for r in records], [[None] * len(r.predictions) for r in records]),
        endings=_concatenate([r.endings for r in records], [[NOTHING] * len(r.predictions) for r in records]),
        continued=_concatenate([r.continued for r in records], [[False] * len(r.predictions) for r in records]),
        outputs=_concatenate([r.outputs for r in records], [r.predictions for r in records]),
        filters=None
        if any(record.filters is None for record in records)
        else list(chain.from_iterable(record.filters or () for record in records)),
    )


def _concatenate(lists: list[list[T] | None], instead: Sequence[Sequence[T]]) -> list[T] | None:
    """Return the lists as one, with others in place of those that are missing; None if all are."""
    if not any(lists):
        return None
    return [item for found, other in zip(lists, instead, strict=True) for item in (found or other)]


def _repeats(records: list[PredictionRecord]) -> bool:
    """Whether two records have exactly the same predictions."""
    return len({tuple(record.predictions) for record in records}) < len(records)


def _equal_samples_warning(records: list[PredictionRecord]) -> Iterator[str]:
    """Yield one line if long samples are equal to earlier ones of their qid."""
    equal: dict[str, int] = {}
    for record in records:
        if len(record.predictions) > 1:
            long = [text for text in record.predictions if len(text) >= _LONG_TEXT]
            if len(set(long)) < len(long):
                equal[record.qid] = len(long) - len(set(long))
    if equal:
        total = sum(len(record.predictions) for record in records)
        samples = f"{sum(equal.values()):,} of {counted(total, 'sample')}"
        yield f"{samples} are identical to an earlier sample, in {counted(len(equal), 'qid')}: {names(equal)}"


def cut_cells(records: list[PredictionRecord]) -> Iterator[str]:
    """Yield a warning about the predictions of a workbook that are as long as a cell can be."""
    cut = [record.qid for record in records if any(len(text) == CELL_LIMIT for text in record.predictions)]
    if cut:
        yield f"{counted(len(cut), 'prediction')} cut off at Excel's {CELL_LIMIT} characters a cell: {names(cut)}"


def filter_warnings(records: list[PredictionRecord]) -> Iterator[str]:
    """Yield what was graded of a log with the texts that filters made."""
    found = dict.fromkeys(name for record in records for name in record.filters or ())
    if len(found) == 1:
        yield (
            f"The log has the text that its filter {names(found)} made of each reply: the official reading and "
            "programs are graded by this text"
        )
    elif found:
        yield (
            f"The log has the texts that {len(found)} filters made: each is graded as a sample of its own, in this "
            f"order: {names(found)}. The metrics of one filter are those of the group filter=NAME"
        )
