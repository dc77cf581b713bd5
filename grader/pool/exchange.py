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
from grader.pool.connection import CLOSED
from grader.pool.messages import NO_TASK, REQUEST_BYTES, Batch, ResultLine, unscored
from grader.pool.rewards import rewarded
from grader.scorers.sample_scorer import ScoreRequest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.pool.settings import RewardName
    from grader.results import SampleResult

    Sample = tuple[str, str] | tuple[Mapping[str, Any], str] | Mapping[str, Any]
    """(task id, raw output), (row with a task, raw output), or a mapping with the fields of `ScoreRequest`."""


def _parts(sample: Any) -> tuple[dict[str, Any], Mapping[str, Any] | None]:
    """Return a sample's fields without its row, and its row; raises ValueError."""
    if isinstance(sample, Mapping):
        fields = dict(sample)
    elif isinstance(sample, tuple | list) and len(sample) == 2 and isinstance(sample[1], str):
        fields = {"row" if isinstance(sample[0], Mapping) else "qid": sample[0], "text": sample[1]}
    else:
        raise ValueError(f"expected (qid, raw output), (row, raw output) or a mapping, not {sample!r:.80}")
    row = fields.pop("row", None)
    if row is not None and not isinstance(row, Mapping):
        raise ValueError(f"its row is {row!r:.80}, not a mapping of columns")
    qid = str(fields.get("qid", ""))
    fields["qid"] = id_of(row) if row is not None and not qid else qid
    if isinstance(fields.get("text"), str):
        # Half a surrogate pair is not a character: it could not be sent or written.
        fields["text"] = fields["text"].encode("utf-8", "replace").decode()
    return fields, row


def row_of(row: Mapping[str, Any]) -> bytes:
    """Return a row as JSON; raises ValueError for a value that JSON does not have. Arrays become lists."""
    try:
        return json.dumps(_plain(row), ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except (ValueError, RecursionError) as error:
        raise ValueError(f"its row cannot be written as JSON: {error}") from None


def _plain(value: Any) -> Any:
    """Return a value with mappings, sequences and arrays as dictionaries and lists."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        if others := [key for key in value if not isinstance(key, str)]:
            raise ValueError(f"the key {others[0]!r:.80} is not a text")
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    raise ValueError(f"it has a value of type {type(value).__name__}")


IDS = ("qid", "task_id", "question_id", "problem_id", "id")
"""The columns that can have the id of a task, the first one first."""


def name_of(data: bytes) -> str:
    """Return the name of a row: a hash of its JSON."""
    return hashlib.sha256(data).hexdigest()[:20]


def id_of(row: Mapping[str, Any]) -> str:
    """Return the id of a sample that has a row and no id of its own."""
    return str(next((row[name] for name in IDS if name in row), "row"))


class Exchange:
    """The samples of a call, and their results; lost ones can be requested again."""

    def __init__(
        self, samples: Iterable[Sample], *, added: Mapping[str, bytes], reward: RewardName = "passed", **every: bool
    ) -> None:
        """`added`: task id -> its row. `reward`: what a result is worth. `every`: fields of every sample.

        Raises UsageError with the sample's number.
        """
        self._reward = reward
        self._asked: list[ScoreRequest] = []
        self.rows: dict[str, msgspec.Raw] = {}
        """The rows that samples share."""
        self.refused: dict[int, str] = {}
        """Place of a sample that cannot be asked -> why."""
        for number, sample in enumerate(samples):
            try:
                fields, row = _parts(sample)
                self._asked.append(msgspec.convert(fields | every, ScoreRequest))
            except (ValueError, TypeError) as error:
                raise UsageError(f"samples[{number}]: {error}") from None
            self._find_task(number, row, added)
        self._results: list[SampleResult | None] = [None] * len(self._asked)
        self._sent: list[int] = []
        numbers = defaultdict[str, Iterator[int]](itertools.count)
        self._numbers = [next(numbers[one.qid]) for one in self._asked]

    def _find_task(self, place: int, row: Mapping[str, Any] | None, added: Mapping[str, bytes]) -> None:
        asked = self._asked[place]
        try:
            data = added.get(asked.qid) if row is None else row_of(row)
        except ValueError as error:
            self.refused[place] = str(error)
            return
        if data is not None:
            name = name_of(data)
            self.rows[name] = msgspec.Raw(data)
            self._asked[place] = msgspec.structs.replace(asked, row=msgspec.Raw(f'"{name}"'.encode()))
        elif not asked.qid:
            self.refused[place] = NO_TASK

    @property
    def is_complete(self) -> bool:
        """Whether every sample has a result."""
        return None not in self._results

    def refuse(self) -> Iterator[tuple[int, SampleResult]]:
        """Yield a result for each sample that cannot be asked: it is unscored."""
        for place, why in self.refused.items():
            yield self._keep(place, unscored(self._asked[place], why, "task"))

    def request(self, seconds: float) -> bytes:
        """Return the body of a request for all samples without a result; raises UsageError if it is too long."""
        self._sent = [place for place, result in enumerate(self._results) if result is None]
        samples = [self._asked[place] for place in self._sent]
        used = {bytes(sample.row)[1:-1].decode() for sample in samples if bytes(sample.row)}
        rows = {name: row for name, row in self.rows.items() if name in used}
        body = msgspec.json.encode(Batch(samples=samples, rows=rows, wait=seconds, stream=True))
        if len(body) > REQUEST_BYTES:
            # The process would close the connection while it is still being written to, so its refusal could be lost.
            raise UsageError(f"the samples have more than {REQUEST_BYTES} bytes together; send fewer at a time")
        return body

    def take(self, line: bytes) -> tuple[int, SampleResult]:
        """Process a line of the answer and return a result with its place; raises ConnectionError."""
        if not line.endswith(b"\n"):
            raise ConnectionError(CLOSED)  # in the middle of the line
        try:
            found = _LINE.decode(line)
            return self._keep(self._sent[found.place], found.result)
        except (msgspec.MsgspecError, IndexError) as error:
            raise ConnectionError(f"the answer does not match the request: {error}") from error

    def _keep(self, place: int, result: SampleResult) -> tuple[int, SampleResult]:
        made = rewarded(msgspec.structs.replace(result, sample=self._numbers[place]), self._reward)
        self._results[place] = made
        return place, made

    def give_up(self, why: str) -> Iterator[tuple[int, SampleResult]]:
        """Yield a result for each sample without one: it is unscored, with `why` as the detail."""
        for place, (sample, result) in enumerate(zip(self._asked, self._results, strict=True)):
            if result is None:
                yield self._keep(place, unscored(sample, why))


_LINE = msgspec.json.Decoder(ResultLine)
