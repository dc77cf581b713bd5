"""Prediction files as benchmarks' own scripts write them, recognised by their content.

- MMLU-Pro: rows with `question_id` and `model_outputs` or `generated_text`.
- MMMU-Pro: rows with `id` and `response`.
- MathVista: one object, `{pid: {"response": ...}}`.
- LiveCodeBench: rows with `question_id` and `output_list` (replies), or only `code_list` (programs).
- bigcode-evaluation-harness: a list of lists of programs (`generations.json`), in the order of the tasks.
- OpenCompass: one object, `{"0": {"prediction": ...}}`, with the numbers of the tasks.
- BIG-Bench Hard: rows with `input`, `prediction` and `target`, also as `{"outputs": [...]}`; a row's number is its id.

The rows have the question, the options and the gold answer as well; see `grader.predictions.evidence`.
"""

from __future__ import annotations

import re
from itertools import count
from typing import TYPE_CHECKING, Literal

from grader.files.json_text import Flaw, kind
from grader.predictions.file import PredictionRecord

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.predictions.record import Row

PublishedFormat = Literal["mmlu-pro", "mmmu-pro", "mathvista", "bbh", "livecodebench", "bigcode", "opencompass"]
POSITIONAL = frozenset(("bigcode", "opencompass"))
"""Formats whose ids are the positions of the tasks in the data."""

_COLUMNS: dict[PublishedFormat, tuple[str, tuple[str, ...]]] = {
    "mmlu-pro": ("question_id", ("model_outputs", "generated_text")),
    "mmmu-pro": ("id", ("response",)),
    "mathvista": ("pid", ("response",)),
    "bbh": ("number", ("prediction",)),
    "livecodebench": ("question_id", ("output_list", "code_list")),
    "bigcode": ("number", ("programs",)),
    "opencompass": ("number", ("prediction",)),
}
"""Format -> the field of the id, and those of the model's text."""
_CODE = frozenset(("code_list", "programs"))
"""Fields with programs, and not replies about them."""
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
        # Its scored files have a "prediction" besides: what was made of the response.
        return "mathvista", [{**row, "pid": pid} for pid, row in rows.items()]
    if value and all(number.isdecimal() and isinstance(r, dict) and "prediction" in r for number, r in value.items()):
        return "opencompass", [{**row, "number": number} for number, row in value.items() if isinstance(row, dict)]
    return None


def converter(name: PublishedFormat) -> Callable[[Row], PredictionRecord | list[Flaw]]:
    """Return what makes records of the rows of one file."""
    if name in POSITIONAL or name == "livecodebench":
        return lambda row: _convert_several(row, name)
    if name != "bbh":
        return lambda row: _convert(row, name)
    numbers = count()
    return lambda row: _convert(_numbered(row, next(numbers)), name)


def _numbered(row: Row, number: int) -> Row:
    """Return a row of BIG-Bench Hard with its number, and its last question without the demonstrations before it."""
    asked = row.get("input")
    question = (asked.rpartition(_QUESTION)[2].rpartition(_ANSWER)[0] or asked) if isinstance(asked, str) else ""
    return {**row, "number": number, "question": question}


def of_programs(programs: object, number: int) -> Row:
    """Return the row of a task in a `generations.json`."""
    return {"number": str(number), "programs": programs}


def _convert_several(row: Row, name: PublishedFormat) -> PredictionRecord | list[Flaw]:
    """Return the record of a row with one text or several; programs are put into code blocks."""
    column, texts = _COLUMNS[name]
    source = next((text for text in texts if text in row), texts[0])
    found = row.get(source)
    found = [found] if isinstance(found, str) else found
    if not isinstance(found, list) or not found or not all(isinstance(text, str) for text in found):
        return [Flaw(path=(source,), message=f"expected a list of strings, found {kind(found)}")]
    if not isinstance(row.get(column), str | int) or row[column] == "":
        return [Flaw(path=(column,), message=f"expected an id, found {kind(row.get(column))}")]
    fields = {field: value for field, value in row.items() if field not in (column, *texts)}
    predictions = [fenced(text) if source in _CODE else text for text in found]
    return PredictionRecord(qid=str(row[column]), predictions=predictions, fields=fields)


def fenced(code: str) -> str:
    """Return code in a code block, where every reading looks for it. Its fence is longer than any in the code."""
    fence = "`" * (1 + max(map(len, re.findall("`{3,}+", code)), default=2))
    return f"{fence}python\n{code}\n{fence}"


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
