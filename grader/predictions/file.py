"""A prediction file as everybody else sees it: read, found valid, one record a qid."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from grader.predictions.endings import Ending

Format = Literal["grade", "jsonl", "executed", "vlmevalkit", "lmms-eval", "mr-ben", "evalplus", "csv", "inspect_ai"]


class PredictionRecord(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """All predictions for one qid."""

    qid: str
    predictions: list[str]
    """Raw model output, in file order."""
    fields: dict[str, object]
    """Every other field of the qid's first record."""
    prompts: list[object] | None = None
    """One entry a prediction (None where its record had no `prompt`); None if no record had one."""
    endings: list[Ending] | None = None
    """How each prediction ended; None if no record says so."""
    where: str
    """Its first record, as in `preds.json:12`."""


class PredictionFile(msgspec.Struct, frozen=True, kw_only=True):
    """A prediction file, read and found valid."""

    name: str
    """The file's own name, or `<stdin>`."""
    path: Path | None
    """None for standard input."""
    format: Format
    records: list[PredictionRecord]
    """One a qid, in the order in which the qids first appear."""
    merged: dict[str, int] = {}
    """qid -> number of file records it was merged from, where that is more than one."""
    warnings: list[str] = []
    """What is allowed but worth knowing, one line each."""
    judge_replies: dict[str, str] = {}
    """Recorded judge replies by qid, from foreign files that carry them."""
    rows: object | None = None
    """The questions, from foreign files that carry their own."""
