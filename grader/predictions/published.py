"""Prediction files as benchmarks' own scripts write them, recognised by their content.

- MMLU-Pro: rows with `question_id` and `model_outputs` or `generated_text`.
- MMMU-Pro: rows with `id` and `response`.
- MathVista: one object, `{pid: {"response": ...}}`.
- BIG-Bench Hard: rows with `input`, `prediction` and `target`, also as `{"outputs": [...]}`; a row's number is its id.

The rows have the question, the options and the gold answer as well; see `grader.predictions.evidence`.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Literal

from grader.files.json_text import Flaw, kind
from grader.predictions.file import PredictionRecord

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.predictions.record import Row

PublishedFormat = Literal["mmlu-pro", "mmmu-pro", "mathvista", "bbh"]

_COLUMNS: dict[PublishedFormat, tuple[str, tuple[str, ...]]] = {
    "mmlu-pro": ("question_id", ("model_outputs", "generated_text")),
    "mmmu-pro": ("id", ("response",)),
    "mathvista": ("pid", ("response",)),
    "bbh": ("number", ("prediction",)),
}
"""Format -> the field of the id, and those of the model's text."""
_BBH = frozenset(("input", "prediction", "target"))
_OUTPUTS = "outputs"
_QUESTION, _ANSWER = "\n\nQ: ", "\nA:"


def recognise(row: Row) -> PublishedFormat | None:
    """Return whose script wrote a row; None if it is none of these."""
    if row.keys() >= _BBH:
        return "bbh"
    for name, (qid, texts) in _COLUMNS.items():
        if qid in row and any(text in row for text in texts):
            return name
    return None


def rows_of_object(value: Row) -> tuple[PublishedFormat, list[Row]] | None:
    """Return the rows of a file that is one object; None if it is none of these."""
    outputs = value.get(_OUTPUTS)
    if isinstance(outputs, list) and all(isinstance(row, dict) and row.keys() >= _BBH for row in outputs) and outputs:
        return "bbh", outputs
    rows = {pid: row for pid, row in value.items() if isinstance(row, dict) and "response" in row}
    if rows and all(isinstance(row, dict) for row in value.values()):
        # A question that was never asked has no response.
        return "mathvista", [{**row, "pid": pid} for pid, row in rows.items()]
    return None


def converter(name: PublishedFormat) -> Callable[[Row], PredictionRecord | list[Flaw]]:
    """Return what makes records of the rows of one file."""
    if name != "bbh":
        return lambda row: _convert(row, name)
    numbers = count()
    return lambda row: _convert(_numbered(row, next(numbers)), name)


def _numbered(row: Row, number: int) -> Row:
    """Return a row of BIG-Bench Hard with its number, and its last question without the demonstrations before it."""
    asked = row.get("input")
    question = (asked.rpartition(_QUESTION)[2].rpartition(_ANSWER)[0] or asked) if isinstance(asked, str) else ""
    return {**row, "number": number, "question": question}


def _convert(row: Row, name: PublishedFormat) -> PredictionRecord | list[Flaw]:
    """Return the record of one row; a text that is null is empty: the model's server gave none."""
    column, texts = _COLUMNS[name]
    source = next((text for text in texts if text in row), texts[0])
    missing = [field for field in (column, source) if field not in row]
    if missing:
        return [Flaw(path=(), message=f'no "{field}" in this row, but the first row has it') for field in missing]
    qid, text = row[column], row[source]
    flaws = []
    if isinstance(qid, bool) or not isinstance(qid, str | int) or qid == "":
        flaws.append(Flaw(path=(column,), message=f"expected an id, found {kind(qid)}"))
    if text is not None and not isinstance(text, str):
        flaws.append(Flaw(path=(source,), message=f"expected a string, found {kind(text)}"))
    if flaws:
        return flaws
    fields = {field: value for field, value in row.items() if field not in (column, source)}
    return PredictionRecord(qid=str(qid), predictions=[str(text or "")], fields=fields)
