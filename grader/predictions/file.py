"""A prediction file after reading and validation: one record per qid."""

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
    """One entry per prediction (None if its record had no `prompt`); None if no record had one."""
    endings: list[Ending] | None = None
    """How each prediction ended; None if no record has this information."""
    where: str
    """Position of its first record, for example `preds.json:12`."""


class PredictionFile(msgspec.Struct, frozen=True, kw_only=True):
    """A prediction file after reading and validation."""

    name: str
    """The file's own name, or `<stdin>`."""
    path: Path | None
    """None for standard input."""
    format: Format
    records: list[PredictionRecord]
    """One per qid, in the order of the qids' first appearance."""
    merged: dict[str, int] = {}
    """qid -> number of file records merged into one, if more than one."""
    warnings: list[str] = []
    """Warnings about unusual content, one line each."""
    judge_replies: dict[str, str] = {}
    """Recorded judge replies by qid, from foreign files that contain them."""
    rows: object | None = None
    """The questions, from foreign files that contain them."""
