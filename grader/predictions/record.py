"""One record of a prediction file: extract its valid parts, and find every error in it."""

from __future__ import annotations

import json
import math
from itertools import islice
from typing import TYPE_CHECKING

from grader.files.json_text import MAX_DEPTH, MOST, Flaw, kind, quoted
from grader.predictions.file import PredictionRecord

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

Row = dict[str, object]

RECORD = '{"qid": "...", "predictions": ["..."]}'
EXPECTED = f"expected a JSON array, or JSON Lines, of {RECORD}"
_EXECUTED_FIELDS = ("processed_predictions", "concatenated_predictions", "results")
_NAMES_SHOWN = 8


def is_own(row: Row) -> bool:
    """Whether a record is, or is meant to be, in grade's own format."""
    return "qid" in row or "predictions" in row


def is_executed(row: Row) -> bool:
    """Whether a record is from the official HumanEval-V `_executed.json`."""
    return "results" in row and "processed_predictions" in row and "concatenated_predictions" in row


def convert_own(row: Row) -> PredictionRecord | list[Flaw]:
    """Check a record of grade's own format, and consume it; the verdicts in an `_executed.json` are dropped."""
    qid, predictions = row.get("qid"), row.get("predictions")
    if not (type(qid) is str and qid and type(predictions) is list and set(map(type, predictions)) == {str}):
        flaws = [*_missing(row), *_qid_flaws(row), *islice(_prediction_flaws(row), MOST)]
        if flaws or not isinstance(predictions, list):
            return flaws
    for name in ("qid", "predictions", *(_EXECUTED_FIELDS if is_executed(row) else ())):
        del row[name]
    fields = row or {}  # an emptied dict keeps its allocated memory
    prompts = _prompts(fields, len(predictions))
    return PredictionRecord(qid=str(qid), predictions=predictions, fields=fields, prompts=prompts)


def _prompts(fields: Row, count: int) -> list[object] | None:
    """Return one prompt for each prediction, from either official layout: `prompt` (v1) or `prompts` (v2)."""
    if "prompt" in fields:
        return [fields["prompt"]] * count
    prompts = fields.get("prompts")
    return prompts if isinstance(prompts, list) and len(prompts) == count else None


def _missing(row: Row) -> Iterator[Flaw]:
    """Yield which of the two fields a record does not have."""
    missing = [quoted(name) for name in ("qid", "predictions") if name not in row]
    if missing:
        fields = f"field {missing[0]} is" if len(missing) == 1 else f"fields {' and '.join(missing)} are"
        yield Flaw(path=(), message=f"the {fields} missing; the record has {names(row)}; expected {RECORD}")


def _qid_flaws(row: Row) -> Iterator[Flaw]:
    qid = row.get("qid", "-")
    if isinstance(qid, bool) or not isinstance(qid, str | int):
        yield Flaw(path=("qid",), message=f"expected a string or an integer, found {kind(qid)}")
    elif qid == "":
        yield Flaw(path=("qid",), message="the qid is empty")


def _prediction_flaws(row: Row) -> Iterator[Flaw]:
    found, path = row.get("predictions", [""]), ("predictions",)
    if isinstance(found, str):
        yield Flaw(path=path, message='expected a list of strings, found a bare string; wrap it in a list: ["..."]')
    elif not isinstance(found, list):
        yield Flaw(path=path, message=f"expected a list of strings, found {kind(found)}")
    elif not found:
        yield Flaw(
            path=path, message="the list is empty; a record needs at least one prediction, so leave this record out"
        )
    else:
        yield from (_text_flaw(index, text) for index, text in enumerate(found) if not isinstance(text, str))


def _text_flaw(index: int, value: object) -> Flaw:
    hint = '; write "" if the model returned nothing' if value is None else ""
    return Flaw(path=("predictions", index), message=f"expected a string, found {kind(value)}{hint}")


def tidy_fields(fields: Row) -> list[Flaw]:
    """Prepare additional fields for writing: NaN becomes null; too deep nesting is reported."""
    flaws = []
    for name, value in fields.items():
        if isinstance(value, float | list | dict):
            try:
                fields[name] = _tidy(value, 1)
            except RecursionError:
                flaws.append(Flaw(path=(name,), message=f"nested deeper than {MAX_DEPTH} levels"))
    return flaws


def _tidy(value: object, depth: int) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if depth > MAX_DEPTH:
        raise RecursionError
    if isinstance(value, list):
        return [_tidy(part, depth + 1) for part in value]
    if isinstance(value, dict):
        return {name: _tidy(part, depth + 1) for name, part in value.items()}
    return value


def object_message(value: Row, label: str) -> str:
    """Say what a top-level object seems to be, and how to convert it to a prediction file."""
    if {"schema", "metrics", "samples"} <= value.keys():
        return 'this is a results file of grade, not predictions; rescore it with "grade PREDICTIONS --score-only"'
    if "qid" in value and "predictions" in value:
        return "a single record on several lines; put it in a list: [{...}]"
    program = _conversion(value)
    keys = f" with the keys {names(value)}" if value else ""
    place = "" if label == "<stdin>" else f" {label}"
    return f"found one object{keys}; {EXPECTED}" + (f"; this converts it: jq '{program}'{place}" if program else "")


def _conversion(value: Row) -> str | None:
    """Return the jq program that converts an object of a common shape to records; None for other shapes."""
    for name, part in value.items():
        if isinstance(part, list) and part and isinstance(part[0], dict) and is_own(part[0]):
            return f".[{json.dumps(name)}]"
    if value and all(isinstance(part, str) for part in value.values()):
        return "to_entries | map({qid: .key, predictions: [.value]})"
    if value and all(isinstance(part, list) and all(isinstance(p, str) for p in part) for part in value.values()):
        return "to_entries | map({qid: .key, predictions: .value})"
    return None


def names(things: Collection[str]) -> str:
    """List untrusted names, at most a few of them."""
    shown = ", ".join(quoted(name) for name, _ in zip(things, range(_NAMES_SHOWN), strict=False))
    return f"{shown} and {len(things) - _NAMES_SHOWN} more" if len(things) > _NAMES_SHOWN else shown


def all_of(number: int, noun: str) -> str:
    """Return `the only record`, `all 2 records`."""
    return f"the only {noun}" if number == 1 else f"all {number:,} {noun}s"


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return `1 record`, `2 records`; `plural` is that of a noun without a simple one."""
    return f"{number} {noun}" if number == 1 else f"{number:,} {plural or f'{noun}s'}"
