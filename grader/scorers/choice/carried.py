"""Questions that are part of the prediction file: a VLMEvalKit result table has them."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import msgspec

from grader.data.rows import Rows

if TYPE_CHECKING:
    from grader.predictions.file import PredictionFile
    from grader.scorers.choice.declaration import ChoiceBenchmark


def carried_rows(file: PredictionFile, benchmark: ChoiceBenchmark) -> Rows | None:
    """Return the questions that a VLMEvalKit result table has beside its predictions; None if it has none.

    pandas has lost options such as "None" in such a table, so local data is better.
    """
    columns = benchmark.columns
    needed = {*benchmark.letters[:2], columns.answer}
    if file.format != "vlmevalkit" or not all(needed <= record.fields.keys() for record in file.records):
        return None
    rows = [{columns.id: record.qid, **record.fields} for record in file.records]
    digest = hashlib.sha256(msgspec.json.encode(rows, enc_hook=str)).hexdigest()[:16]
    return Rows(rows=rows, origin=f"{file.name} (its own questions)", digest=digest, is_carried=True)
