"""Merge the records of each qid into one, and report oddities of a file's samples."""

from __future__ import annotations

from collections import Counter
from itertools import chain, product
from typing import TYPE_CHECKING, TypeVar

import msgspec

from grader.files.json_text import quoted
from grader.files.workbook import CELL_LIMIT
from grader.predictions.file import NOTHING, PredictionRecord, endings
from grader.predictions.record import listing
from grader.predictions.recorded_task import options_of, plain, question_of
from grader.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

T = TypeVar("T")
LONG_TEXT = 100
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
        merger = Merger()
        for record in chain(self._first.values(), *self._more.values()):
            row = record.fields.get(field)
            if not isinstance(row, int | str):
                return None
            merger.put(msgspec.structs.replace(record, qid=str(row)))
        return merger

    def add(self, record: PredictionRecord, position: str) -> None:
        """Add one record."""
        record_endings = endings(record.fields, len(record.predictions))
        self.put(msgspec.structs.replace(record, endings=record_endings, position=position))

    def put(self, record: PredictionRecord) -> None:
        """Add a record that is complete."""
        if self._first.setdefault(record.qid, record) is not record:
            self._more.setdefault(record.qid, []).append(record)

    def records(self) -> list[PredictionRecord]:
        """Return one record per qid."""
        if not self._more:
            return list(self._first.values())
        return [_merge_records([first, *self._more.get(qid, ())]) for qid, first in self._first.items()]

    def conflicts(self) -> dict[str, str]:
        """Return the qids whose records answer different questions or have different options, and how they differ."""
        differences = {}
        for qid, more in self._more.items():
            first = self._first[qid]
            for text_of, record in product((question_of, options_of), more):
                first_text, text = text_of(first), text_of(record)
                if first_text and text and plain(first_text) != plain(text):
                    differences[qid] = f"{quoted(first_text)} ({first.position}) and {quoted(text)} ({record.position})"
                    break
        return differences

    def warnings(self, records: list[PredictionRecord]) -> Iterator[str]:
        """Yield warnings about the samples, one line each."""
        yield from self._models_warning()
        if any(len(set(record.filters or ())) > 1 for record in records):
            return  # of one output, two filters can leave the same text
        with_several_records = [qid for qid in self._first if qid in self._more]
        with_identical_records = [qid for qid in with_several_records if _repeats([self._first[qid], *self._more[qid]])]
        if with_identical_records:
            qids = counted(len(with_identical_records), "qid")
            identical = "a record that is identical to another one (was the file joined twice?)"
            yield f"{qids} with {identical}: {listing(with_identical_records)}."
        else:
            yield from _equal_samples_warning(records)
        # If every qid has several records, the file has one record a sample, which is nothing to warn about.
        has_record_per_sample = 1 < len(with_several_records) == len(self._first)
        duplicates = [qid for qid in with_several_records if qid not in with_identical_records]
        if duplicates and not has_record_per_sample:
            qids = counted(len(duplicates), "duplicate qid")
            yield f"{qids}: the predictions of all its records count as its samples: {listing(duplicates)}."
        yield from _numbers_warning(records)

    def _models_warning(self) -> Iterator[str]:
        """Yield one line if records of one qid name several models: their outputs look like samples of one."""
        by_qid = {qid: _models([self._first[qid], *more]) for qid, more in self._more.items()}
        mixed = {qid: models for qid, models in by_qid.items() if len(models) > 1}
        if mixed:
            models = dict.fromkeys(model for models in mixed.values() for model in models)
            yield (
                f"{counted(len(mixed), 'qid')} with outputs of several models ({listing(models)}), which count as "
                "samples of one: to grade each model, write a file for each."
            )


def _numbers_warning(records: list[PredictionRecord]) -> Iterator[str]:
    """Yield one line if tasks have different numbers of samples, with the most frequent number first."""
    counts = Counter(len(record.predictions) for record in records)
    if len(counts) > 1:
        usual = counts.most_common(1)[0][0]
        sizes = [usual, *(size for size in sorted(counts) if size != usual)]
        numbers = ", ".join(f"{counts[size]} {'has' if counts[size] == 1 else 'have'} {size}" for size in sizes)
        unusual = [record.qid for record in records if len(record.predictions) != usual]
        qids = "qid" if len(unusual) == 1 else "qids"
        yield f"Tasks have different numbers of samples: {numbers} ({qids} {listing(unusual)})."


def _models(records: list[PredictionRecord]) -> dict[str, None]:
    models = (record.fields.get("model") for record in records)
    return dict.fromkeys(model for model in models if isinstance(model, str) and model)


def _merge_records(records: list[PredictionRecord]) -> PredictionRecord:
    """Return the records of a qid as one. What only some of them have is filled up for the others."""
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


def _concatenate(lists: list[list[T] | None], defaults: Sequence[Sequence[T]]) -> list[T] | None:
    """Return the lists of all records as one, with the default of a record that has none; None if no record has one."""
    if not any(lists):
        return None
    return [item for items, default in zip(lists, defaults, strict=True) for item in (items or default)]


def _repeats(records: list[PredictionRecord]) -> bool:
    """Whether two records have exactly the same predictions."""
    return len({tuple(record.predictions) for record in records}) < len(records)


def _equal_samples_warning(records: list[PredictionRecord]) -> Iterator[str]:
    """Yield one line if long samples are equal to earlier ones of their qid."""
    equal: dict[str, int] = {}
    for record in records:
        if len(record.predictions) > 1:
            long = [text for text in record.predictions if len(text) >= LONG_TEXT]
            if len(set(long)) < len(long):
                equal[record.qid] = len(long) - len(set(long))
    if equal:
        total = sum(len(record.predictions) for record in records)
        samples = f"{sum(equal.values()):,} of {counted(total, 'sample')}"
        yield f"{samples} are identical to an earlier sample, in {counted(len(equal), 'qid')}: {listing(equal)}."


def warnings_about_full_cells(records: list[PredictionRecord]) -> Iterator[str]:
    """Yield a warning about predictions that fill a workbook's cell: Excel cuts longer texts off without a word."""
    qids = [record.qid for record in records for text in record.predictions if len(text) == CELL_LIMIT]
    if qids:
        cells = f"{counted(len(qids), 'prediction')} cut off at Excel's {CELL_LIMIT} characters a cell"
        yield f"{cells}: {listing(dict.fromkeys(qids))}."


def warnings_about_filters(records: list[PredictionRecord]) -> Iterator[str]:
    """Yield one line about a log with texts that a harness' filters made: which texts are graded."""
    filters = dict.fromkeys(name for record in records for name in record.filters or ())
    if len(filters) == 1:
        yield (
            f"The log has the text that its filter {listing(filters)} made of each reply: the official reading and "
            "programs are graded by this text."
        )
    elif filters:
        yield (
            f"The log has the texts that {len(filters)} filters made: each is graded as a sample of its own, in this "
            f"order: {listing(filters)}. The metrics of one filter are those of the group filter=NAME."
        )
