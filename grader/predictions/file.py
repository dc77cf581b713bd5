"""A prediction file after reading: one record per qid, with how each prediction ended, as the file reports it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import msgspec

from grader.benchmark import Fields
from grader.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


_FINISH = ("finish_reasons", "finish_reason", "stop_reasons", "stop_reason")
_ERROR = ("errors", "error", "error_message", "exception")
_ENDING_FIELDS = frozenset((*_FINISH, *_ERROR))
_CUT = frozenset(("length", "max_tokens", "max_output_tokens", "model_length", "token_limit"))
"""The finish reasons of truncated answers: of OpenAI and vLLM, Anthropic and Gemini, OpenAI's newer API, Mistral."""


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """How one prediction ended."""

    finish_reason: str = ""
    error: str = ""
    """The error of its request."""

    @property
    def is_cut(self) -> bool:
        """Whether the model ran out of tokens before its answer was complete."""
        return self.finish_reason.lower().rpartition(".")[2] in _CUT


NOTHING = Ending()


def endings(fields: Mapping[str, object], count: int) -> list[Ending] | None:
    """Return how each of a record's `count` predictions ended; None if the record does not say."""
    if _ENDING_FIELDS.isdisjoint(fields):
        return None
    reasons, errors = (_per_prediction(fields, names, count) for names in (_FINISH, _ERROR))
    if not any(reasons) and not any(errors):
        return None
    return [Ending(finish_reason=reason, error=error) for reason, error in zip(reasons, errors, strict=True)]


def _per_prediction(fields: Mapping[str, object], names: tuple[str, ...], count: int) -> list[str]:
    """Return the first of these fields that has a value, for each prediction; a single text applies to all."""
    for name in names:
        value = fields.get(name)
        if isinstance(value, list) and len(value) == count:
            return [_text(item) for item in value]
        if value not in (None, "", [], {}, False) and not isinstance(value, list):
            return [_text(value)] * count
    return [""] * count


def _text(value: object) -> str:
    """Return a finish reason or an error as text: for an object its message, for an absent value an empty text."""
    if isinstance(value, dict):
        message = value.get("message") or value.get("type") or value.get("code")
        return _text(message) if message else str(value)
    return "" if value is None or value is False else str(value)


def judge_key(qid: str, sample: int) -> str:
    """Return the key of the judge's reply to a sample, in recorded replies; samples of a qid are numbered from 0."""
    return f"{qid}@{sample}" if sample else qid


class PredictionRecord(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """All predictions for one qid."""

    qid: str
    predictions: list[str]
    """Raw model output, in file order."""
    fields: dict[str, object]
    """Every other field of the qid's first record."""
    prompts: list[object] | None = None
    """One entry per prediction (None if its record had no `prompt`); None if no record had one."""
    endings: list[Ending] | None = None
    """How each prediction ended; None if no record has this information."""
    filters: list[str] | None = None
    """The harness' filter that made each prediction; None if the record does not say."""
    continued: list[bool] | None = None
    """Whether each prediction is code that continues the task's prompt (EvalPlus' `completion`); None: none does."""
    outputs: list[str] | None = None
    """The model's whole output, from which each prediction was made; None if the predictions are whole."""
    position: str = ""
    """Position of its first record: `preds.jsonl:12`, in an array `preds.json:12: $[3]`."""

    def field_position(self, field: str) -> str:
        """Return the position of a field, for a message."""
        return f"{self.position}.{field}" if ": $" in self.position else f"{self.position}: $.{field}"


class PredictionFile(msgspec.Struct, frozen=True, kw_only=True):
    """A prediction file after reading and validation."""

    name: str
    """The file's own name, or `<stdin>`."""
    path: Path | None
    """None for standard input."""
    format: str
    """Its row in the table of formats."""
    records: list[PredictionRecord]
    """One per qid, in the order of the qids' first appearance."""
    is_numbered: bool = False
    """Whether the qids are numbers of rows that the tool counted, not ids."""
    is_positional: bool = False
    """Whether the qids are positions of the tasks in the data, from 0."""
    field_options: Fields | None = None
    """The fields that the user named, if no known tool wrote the file."""
    conflicts: dict[str, str] = {}
    """qid -> why nobody knows which task its records answer."""
    warnings: list[str] = []
    """Warnings about unusual content, one line each."""
    judge_replies: dict[str, str] = {}
    """Recorded judge replies by `judge_key`, from foreign files that contain them."""
    benchmark_rows: dict[str, list[dict[str, Any]]] | None = None
    """The benchmark's own rows by subject, from foreign files that contain them."""

    @classmethod
    def of(cls, texts: Mapping[str, list[str]], name: str) -> Self:
        """Return predictions that are in no file; errors call them by this name."""
        records = [
            PredictionRecord(qid=qid, predictions=predictions, fields={}, position=f"{name}[{qid!r}]")
            for qid, predictions in texts.items()
        ]
        return cls(name=name, path=None, format="grade", records=records)

    def with_task_ids(self, tasks: Collection[str]) -> PredictionFile:
        """Return the file with the qids of the tasks, if it has their positions; raises InputError."""
        if not self.is_positional or any(record.qid in tasks for record in self.records):
            return self
        if len(self.records) != len(tasks):
            raise InputError(
                [
                    f"{self.name}: the file names tasks by their positions, and has {len(self.records)} of them, but "
                    f"the data has {len(tasks)}; give the data of these tasks alone, in the same order (--data)"
                ]
            )
        qids = list(tasks)
        records = [msgspec.structs.replace(record, qid=qids[int(record.qid)]) for record in self.records]
        note = "The file's positions are those of the data's rows: the first one answers the first row."
        return msgspec.structs.replace(self, records=records, warnings=[*self.warnings, note])

    @property
    def predictions_by_qid(self) -> dict[str, list[str]]:
        """Task id -> its predictions, in the order of the records."""
        return {record.qid: record.predictions for record in self.records}

    @property
    def replies_by_qid(self) -> dict[str, list[str]]:
        """Task id -> the model's whole replies: also where a log's filter made the predictions of them."""
        return {record.qid: record.outputs or record.predictions for record in self.records}

    @property
    def model(self) -> str | None:
        """The model that the file names; None if it names no model or several."""
        models = {record.fields.get("model") for record in self.records}
        model = models.pop() if len(models) == 1 else None
        return model if isinstance(model, str) and model else None

    @property
    def sampling_settings(self) -> dict[str, Any]:
        """The sampling settings, if the file has the same for all predictions; else empty."""
        settings = self.records[0].fields.get("settings") if self.records else None
        same = all(record.fields.get("settings") == settings for record in self.records)
        return settings if isinstance(settings, dict) and same else {}
