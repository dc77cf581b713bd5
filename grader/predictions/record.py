"""One record of a prediction file, by the row of the table of formats that it belongs to; and every error in it."""

from __future__ import annotations

import math
import re
from itertools import islice
from typing import TYPE_CHECKING

from grader.files.json_text import MAX_DEPTH, MAX_PROBLEMS, Flaw, cell_text, describe_value, quoted
from grader.predictions.file import PredictionRecord
from grader.predictions.layouts import ABSENT, RECORD_KEY, WHOLE_RECORD, Row, first_of, texts_of, value_at

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from grader.predictions.formats import Format

RECORD = '{"qid": "...", "predictions": ["..."]}'
EXPECTED = f"expected a JSON array, or JSON Lines, of {RECORD}"
_NAMES_SHOWN = 8
_INTEGRAL_FLOAT = re.compile(r"([0-9]+)\.0+")


def record_of(file_format: Format, row: Row, position: int) -> PredictionRecord | list[Flaw]:
    """Return the record, and consume the row. `position`: its number in the file, from 0."""
    return _record_of_grade(file_format, row) if file_format.is_strict else _record_of_tool(file_format, row, position)


# --- other tools' records ---------------------------------------------------------------------------------------


def _record_of_tool(file_format: Format, row: Row, position: int) -> PredictionRecord | list[Flaw]:
    """Return a record in the format of another tool, or what is wrong with it."""
    qid, texts = _record_id(file_format, row, position), _predictions_or_flaw(file_format, row)
    if isinstance(qid, Flaw) or isinstance(texts, Flaw):
        return [flaw for flaw in (qid, texts) if isinstance(flaw, Flaw)]
    path, predictions = texts
    filters = outputs = None
    has_filtered_texts = bool(file_format.raw_texts) and path != file_format.raw_texts
    if has_filtered_texts:
        outputs = texts_of(value_at(row, file_format.raw_texts))
        filter_name = row.get(file_format.filter)
        if outputs and len(outputs) != len(predictions):
            # The filter keeps the first of several outputs, or votes: all outputs are graded in place of its text.
            predictions, outputs = outputs, None
        elif isinstance(filter_name, str):
            filters = [filter_name] * len(predictions)
    if path in file_format.code:
        predictions = [fenced(code) for code in predictions]
    return PredictionRecord(
        qid=qid,
        predictions=predictions,
        fields=_other_fields(file_format, row),
        filters=filters,
        outputs=outputs if outputs != predictions else None,
        continued=[True] * len(predictions) if path in file_format.continuations else None,
    )


def _record_id(file_format: Format, row: Row, position: int) -> str | Flaw:
    """Return a record's id: its id field; else the tool's row number, or its position if the format has RECORD_KEY."""
    path = file_format.id[-1]
    value = first_of(row, file_format.id)
    if value is ABSENT:
        path = file_format.row_number or path
        value = position if path == RECORD_KEY else value_at(row, path)
    if value is ABSENT:
        return _missing_field_flaw(path)
    return _id_text(value) or Flaw(path=_flaw_path(path), message=f"expected an id, found {describe_value(value)}")


def _id_text(cell: object) -> str:
    """Return an id as a text: 241, 241.0 and "241.0" become "241" (pandas turns integer columns into floats)."""
    if not isinstance(cell, str | int | float) or isinstance(cell, bool):
        return ""
    if isinstance(cell, float) and not cell.is_integer():
        return ""
    text = cell_text(cell).strip()
    match = _INTEGRAL_FLOAT.fullmatch(text)
    return match[1] if match else text


def _predictions_or_flaw(file_format: Format, row: Row) -> tuple[str, list[str]] | Flaw:
    """Return the path of the first field with texts, and the texts; or why there are none.

    A null, or a record with an error in place of a text, is an empty prediction; an empty list is a flaw.
    """
    values = {path: value for path in file_format.texts if (value := value_at(row, path)) is not ABSENT}
    for path, value in values.items():
        if value not in (None, []):
            texts = texts_of(value)
            return (path, texts) if texts else _text_type_flaw(file_format, path, value)
    if None in values.values() or first_of(row, file_format.error) is not ABSENT:
        return file_format.texts[0], [""]  # the server gave no output
    if not values:
        return _missing_field_flaw(file_format.texts[0])
    return _text_type_flaw(file_format, next(iter(values)), [])


def _text_type_flaw(file_format: Format, path: str, value: object) -> Flaw:
    # Only harnesses log row numbers; the lists in their logs can be (log-likelihood, is it greedy).
    if isinstance(value, list) and file_format.row_number:
        message = (
            "expected generated text; found log-likelihoods or nothing, from which no answer can be read: run a task "
            "that generates text (output_type: generate_until)"
        )
        return Flaw(path=_flaw_path(path), message=message)
    return Flaw(path=_flaw_path(path), message=f"expected a text or a list of texts, found {describe_value(value)}")


def _missing_field_flaw(path: str) -> Flaw:
    return Flaw(path=(), message=f"no {quoted(path)} in this record, but the first record has it")


def _flaw_path(path: str) -> tuple[str, ...]:
    return () if path in (RECORD_KEY, WHOLE_RECORD) else (path,)


def _other_fields(file_format: Format, row: Row) -> Row:
    """Return a record's fields besides id and outputs; model, finish reasons, error and task under grade's names.

    Only whole fields are left out: an id inside of an object stays there. The tool's row number stays, too: it becomes
    the id if ids repeat (`Merger.by_row_number`).
    """
    places = {
        "model": (file_format.model,),
        "finish_reasons": (file_format.finish,),
        "error": file_format.error,
        "doc": (file_format.task,),
    }
    # A format that has no such place has "" for it.
    renamed = {
        name: value for name, paths in places.items() if paths[0] and (value := first_of(row, paths)) is not ABSENT
    }
    parts = {"question": file_format.question, "options": file_format.options, "answer": file_format.gold}
    if task := {name: value for name, path in parts.items() if path and (value := value_at(row, path)) is not ABSENT}:
        renamed["doc"] = task
    text_fields = {path.partition(".")[0] for path in file_format.texts}
    omitted = {RECORD_KEY, WHOLE_RECORD, *file_format.ignored_fields, *file_format.id, *text_fields}
    return {**{name: value for name, value in row.items() if name not in omitted}, **renamed}


def fenced(code: str) -> str:
    """Return code in a code block, where every reading looks for it. Its fence is longer than any in the code."""
    fence = "`" * (1 + max(map(len, re.findall("`{3,}+", code)), default=2))
    return f"{fence}python\n{code}\n{fence}"


# --- grade's own records ----------------------------------------------------------------------------------------


def _record_of_grade(file_format: Format, row: Row) -> PredictionRecord | list[Flaw]:
    """Return a record of grade's own format. It takes the row over: what remains in it are the record's fields."""
    qid, predictions = row.get("qid"), row.get("predictions")
    if not (type(qid) is str and qid and type(predictions) is list and set(map(type, predictions)) == {str}):
        flaws = [*_missing_fields(row), *_qid_flaws(row), *islice(_prediction_flaws(row), MAX_PROBLEMS)]
        if flaws or not isinstance(predictions, list):  # the second condition is for mypy only
            return flaws
        # Without a flaw, the qid is an integer; it becomes text below.
    for name in ("qid", "predictions", *file_format.ignored_fields):
        del row[name]
    fields = row or {}  # an emptied dict keeps its allocated memory
    prompts = _prompts(fields, len(predictions))
    return PredictionRecord(qid=str(qid), predictions=predictions, fields=fields, prompts=prompts)


def _prompts(fields: Row, count: int) -> list[object] | None:
    """Return a prompt for each prediction, from `prompt` (v1) or `prompts` (v2) of the official layouts, or None."""
    if "prompt" in fields:
        return [fields["prompt"]] * count
    prompts = fields.get("prompts")
    return prompts if isinstance(prompts, list) and len(prompts) == count else None


def _missing_fields(row: Row) -> Iterator[Flaw]:
    """Yield which of the two fields a record does not have."""
    missing = [quoted(name) for name in ("qid", "predictions") if name not in row]
    if missing:
        fields = f"field {missing[0]} is" if len(missing) == 1 else f"fields {' and '.join(missing)} are"
        yield Flaw(path=(), message=f"the {fields} missing; the record has {listing(row)}; expected {RECORD}")


def _qid_flaws(row: Row) -> Iterator[Flaw]:
    """Yield what is wrong with the qid of a record in grade's own format; `_missing_fields` reports an absent one."""
    qid = row.get("qid", "-")
    if isinstance(qid, float):
        yield Flaw(
            path=("qid",), message="expected a string or an integer, found a number with a point (write 3, not 3.0)"
        )
    elif isinstance(qid, bool) or not isinstance(qid, str | int):
        yield Flaw(path=("qid",), message=f"expected a string or an integer, found {describe_value(qid)}")
    elif qid == "":
        yield Flaw(path=("qid",), message="the qid is empty")


def _prediction_flaws(row: Row) -> Iterator[Flaw]:
    """Yield what is wrong with the predictions of a record in grade's own format, if it has the field."""
    predictions = row.get("predictions", [""])
    path = ("predictions",)
    if isinstance(predictions, str):
        yield Flaw(path=path, message='expected a list of strings, found a bare string; wrap it in a list: ["..."]')
    elif not isinstance(predictions, list):
        yield Flaw(path=path, message=f"expected a list of strings, found {describe_value(predictions)}")
    elif not predictions:
        yield Flaw(
            path=path, message="the list is empty; a record needs at least one prediction, so leave this record out"
        )
    else:
        for index, text in enumerate(predictions):
            if not isinstance(text, str):
                yield _prediction_text_flaw(index, text)


def _prediction_text_flaw(index: int, value: object) -> Flaw:
    is_empty = value is None or value != value  # noqa: PLR0124 - NaN, as pandas writes an empty cell
    hint = '; write "" if the model returned nothing' if is_empty else ""
    return Flaw(path=("predictions", index), message=f"expected a string, found {describe_value(value)}{hint}")


# --- any record -------------------------------------------------------------------------------------------------


def tidy_fields(fields: Row) -> list[Flaw]:
    """Prepare additional fields for writing: NaN becomes null; too deep nesting is reported."""
    flaws = []
    for name, value in fields.items():
        if isinstance(value, float | list | dict):
            try:
                fields[name] = _json_safe(value, 1)
            except RecursionError:
                flaws.append(Flaw(path=(name,), message=f"nested deeper than {MAX_DEPTH} levels"))
    return flaws


def _json_safe(value: object, depth: int) -> object:
    """Return a value that JSON can hold: without NaN. Raises RecursionError if it is nested too deep."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if depth > MAX_DEPTH:
        raise RecursionError
    if isinstance(value, list):
        return [_json_safe(part, depth + 1) for part in value]
    if isinstance(value, dict):
        return {name: _json_safe(part, depth + 1) for name, part in value.items()}
    return value


def listing(names: Collection[str]) -> str:
    """Return untrusted names as text for a message, at most a few of them."""
    listed = ", ".join(quoted(name) for name in islice(names, _NAMES_SHOWN))
    return f"{listed} and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else listed
