"""The samples of a call: what a client sends for them, and the results that it collects."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from grader.errors import UsageError
from grader.files.compact_json import without_surrogates
from grader.pool.connection import CLOSED
from grader.pool.messages import NO_TASK, REQUEST_BYTES, Batch, ResultLine, unscored_result
from grader.pool.rewards import rewarded
from grader.scorers.sample_scorer import ScoreRequest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.pool.settings import RewardName
    from grader.results import SampleResult

    Sample = tuple[str, str] | tuple[Mapping[str, Any], str] | Mapping[str, Any]
    """(task id, raw output), (row with a task, raw output), or a mapping with the fields of `ScoreRequest`."""


def _parse_sample(sample: Any) -> tuple[dict[str, Any], Mapping[str, Any] | None]:
    """Return a sample's fields, which always have `qid`, and apart from them its row, or None; raises ValueError."""
    if isinstance(sample, Mapping):
        fields = dict(sample)
    elif isinstance(sample, tuple | list) and len(sample) == 2 and isinstance(sample[1], str):
        qid_or_row, text = sample
        fields = {"row" if isinstance(qid_or_row, Mapping) else "qid": qid_or_row, "text": text}
    else:
        raise ValueError(f"expected (qid, raw output), (row, raw output) or a mapping, not {sample!r:.80}")
    row = fields.pop("row", None)
    if row is not None and not isinstance(row, Mapping):
        raise ValueError(f"its row is {row!r:.80}, not a mapping of columns")
    qid = "" if fields.get("qid") is None else str(fields["qid"])
    fields["qid"] = qid or ("" if row is None else id_of(row))
    # Half a surrogate pair is not a character: it could not be sent or written.
    texts = {name: without_surrogates(value) for name, value in fields.items() if isinstance(value, str)}
    return fields | texts, row


def encode_row(row: Mapping[str, Any]) -> bytes:
    """Return a row as JSON; raises ValueError for a value that JSON does not have. Arrays become lists."""
    try:
        return json.dumps(_json_value(row), ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except (ValueError, RecursionError) as error:
        raise ValueError(f"its row cannot be written as JSON: {error}") from None


def _json_value(value: Any) -> Any:
    """Return a value with mappings, sequences and arrays as dictionaries and lists."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        if others := [key for key in value if not isinstance(key, str)]:
            raise ValueError(f"the key {others[0]!r:.80} is not a text")
        return {key: _json_value(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json_value(item) for item in value]
    if hasattr(value, "tolist"):
        return _json_value(value.tolist())
    raise ValueError(f"it has a value of type {type(value).__name__}")


IDS = ("qid", "task_id", "question_id", "problem_id", "id")
"""The columns that can have the id of a task, the first one first."""


def name_of(data: bytes) -> str:
    """Return the name of a row: a hash of its JSON."""
    return hashlib.sha256(data).hexdigest()[:20]


def id_of(row: Mapping[str, Any]) -> str:
    """Return the id of a sample that has a row and no id of its own."""
    qid = id_in(row)
    return "row" if qid is None else qid


def id_in(row: Mapping[str, Any], columns: Iterable[str] = IDS) -> str | None:
    """Return the id of a row's task, from the first of the columns that has one; None if none has."""
    return next((str(row[name]) for name in columns if row.get(name) is not None), None)


class Exchange:
    """The samples of a call, and their results; lost ones can be requested again."""

    def __init__(
        self,
        samples: Iterable[Sample],
        *,
        task_rows: Mapping[str, bytes],
        reward: RewardName = "passed",
        **common_fields: bool,
    ) -> None:
        """`task_rows`: of the tasks that were added, by id. `common_fields`: fields that every sample gets.

        Raises UsageError with the sample's number.
        """
        self._reward = reward
        self._samples: list[ScoreRequest] = []
        self.rows: dict[str, msgspec.Raw] = {}
        """Name -> row, of the rows that samples share."""
        self._row_names: dict[int, str] = {}
        """Index of a sample with a row -> the row's name."""
        self.refused: dict[int, str] = {}
        """Index of a sample that cannot be sent -> why."""
        for number, sample in enumerate(samples):
            try:
                fields, row = _parse_sample(sample)
                self._samples.append(msgspec.convert(fields | common_fields, ScoreRequest))
            except (ValueError, TypeError) as error:
                raise UsageError(f"samples[{number}]: {error}") from None
            self._share_row(number, row, task_rows)
        self._results: list[SampleResult | None] = [None] * len(self._samples)
        self._sent_indexes: list[int] = []
        """The samples of the last request, to whose positions in it the answer refers."""
        counters = defaultdict[str, Iterator[int]](itertools.count)
        self._sample_numbers = [next(counters[sample.qid]) for sample in self._samples]
        """The number of each sample among those of its task, from 0: the `sample` of its result."""

    def _share_row(self, index: int, row: Mapping[str, Any] | None, task_rows: Mapping[str, bytes]) -> None:
        """Store the row of a sample's task once for all its samples; the sample gets the row's name in its place."""
        sample = self._samples[index]
        try:
            data = task_rows.get(sample.qid) if row is None else encode_row(row)
        except ValueError as error:
            self.refused[index] = str(error)
            return
        if data is not None:
            name = name_of(data)
            self.rows[name] = msgspec.Raw(data)
            self._row_names[index] = name
            self._samples[index] = msgspec.structs.replace(sample, row=msgspec.Raw(f'"{name}"'.encode()))
        elif not sample.qid:
            self.refused[index] = NO_TASK

    @property
    def is_complete(self) -> bool:
        """Whether every sample has a result."""
        return None not in self._results

    def refused_results(self) -> Iterator[tuple[int, SampleResult]]:
        """Yield a result for each sample that cannot be sent: it is unscored."""
        for index, why in self.refused.items():
            yield self._store(index, unscored_result(self._samples[index], why, "task"))

    def request_body(self, seconds: float) -> bytes:
        """Return the body of a request for all samples without a result; raises UsageError if it is too long."""
        self._sent_indexes = [index for index, result in enumerate(self._results) if result is None]
        samples = [self._samples[index] for index in self._sent_indexes]
        used_names = {self._row_names.get(index) for index in self._sent_indexes}
        rows = {name: row for name, row in self.rows.items() if name in used_names}
        body = msgspec.json.encode(Batch(samples=samples, rows=rows, wait=seconds, stream=True))
        if len(body) > REQUEST_BYTES:
            # The process would close the connection while it is still being written to, so its refusal could be lost.
            raise UsageError(f"the samples have more than {REQUEST_BYTES} bytes together; send fewer at a time")
        return body

    def receive_line(self, line: bytes) -> tuple[int, SampleResult]:
        """Return the index of a sample and its result, from a line of the answer; raises ConnectionError."""
        if not line.endswith(b"\n"):
            raise ConnectionError(CLOSED)  # in the middle of the line
        try:
            answer = _LINE.decode(line)
            return self._store(self._sent_indexes[answer.place], answer.result)
        except (msgspec.MsgspecError, IndexError) as error:
            raise ConnectionError(f"the answer does not match the request: {error}") from error

    def _store(self, index: int, result: SampleResult) -> tuple[int, SampleResult]:
        """Store a result with its number and reward; return it and its index, as callers yield them."""
        numbered = rewarded(msgspec.structs.replace(result, sample=self._sample_numbers[index]), self._reward)
        self._results[index] = numbered
        return index, numbered

    def give_up(self, why: str) -> Iterator[tuple[int, SampleResult]]:
        """Yield a result for each sample without one: it is unscored, with `why` as the detail."""
        for index, (sample, result) in enumerate(zip(self._samples, self._results, strict=True)):
            if result is None:
                yield self._store(index, unscored_result(sample, why))


_LINE = msgspec.json.Decoder(ResultLine)
