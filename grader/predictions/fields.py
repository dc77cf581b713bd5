"""The fields of a file that no row of the table of formats knows: named by the user, proposed from what is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.benchmark import Fields
from grader.errors import UsageError
from grader.files.json_text import quoted
from grader.predictions.formats import Format
from grader.predictions.layouts import RECORD_KEY, WHOLE_RECORD, Row

if TYPE_CHECKING:
    from collections.abc import Mapping


def format_of_fields(fields: Fields) -> Format:
    """Return the format of a file whose fields the user named (`--fields`)."""
    text_path = fields.reply or fields.code or WHOLE_RECORD
    signature = ",".join(path for path in (fields.id, text_path) if path not in ("", RECORD_KEY))
    code = (text_path,) if fields.code else ()
    id_ = (fields.id or RECORD_KEY,)
    # What its other fields mean is not known, so they tell nothing about the task.
    return Format(name="fields", signatures=(signature,), id=id_, texts=(text_path,), code=code, has_task=False)


def parse_fields(text: str) -> Fields:
    """Return the fields of `id=task_id,reply=response`; raises UsageError."""
    named = {}
    for part in text.split(","):
        name, sign, path = part.strip().partition("=")
        if name not in Fields.__struct_fields__ or not sign or not path:
            raise UsageError(
                f"{quoted(part)}: write --fields as id=FIELD,reply=FIELD (or code=FIELD for programs; at=FIELD for "
                "where the records are)."
            )
        named[name] = path
    try:
        return Fields(**named)
    except ValueError as error:
        raise UsageError(f"--fields: {error}.") from None


_IDS = (
    "qid", "task_id", "question_id", "sample_id", "custom_id", "example_id", "problem_id", "id", "uid", "uuid", "index",
    "idx", "pid", "name", "key", "number",
)  # fmt: skip
_REPLIES = (
    "response", "responses", "reply", "output", "outputs", "generation", "generations", "generated_text", "prediction",
    "predictions", "model_output", "model_response", "completion", "completions", "messages", "text", "answer",
)  # fmt: skip
_RAW_WORDS = {"full", "raw", "origin", "original"}
"""First words in the names of a reply as the model wrote it."""
_TASK_WORDS = {
    "question", "input", "prompt", "gold", "target", "ref", "reference", "expected", "correct", "right", "true",
}  # fmt: skip
"""Words in the names of what a model was given or should have answered."""
_CODE = ("solution", "solutions", "program", "programs", "code", "generated_code")
"""Names that files give to these fields, the clearest first."""


def option_for(row: Mapping[str, object], at: str = "") -> str:
    """Return the `--fields` line that probably reads such records; empty if no field looks like a text.

    `row`: the first record, or the columns of a table, whose values are empty. `at`: the field that has the records.
    """
    by_lower = {name.lower(): name for name in reversed(list(row))}  # of names that differ by case, the first one wins
    qid = next((by_lower[name] for name in _IDS if name in by_lower), "")
    reply = _guess_reply_field({lower: name for lower, name in by_lower.items() if name != qid})
    text = reply or next((by_lower[name] for name in _CODE if name in by_lower), "")
    if not text:
        return ""
    kind = "reply" if reply or _is_prose(row[text]) else "code"
    parts = {"at": at, "id": qid, kind: text}
    return "--fields " + ",".join(f"{name}={path}" for name, path in parts.items() if path)


def _guess_reply_field(by_lower: Mapping[str, str]) -> str:
    """Return the field that probably has the whole reply; empty if none has. `by_lower`: lower-case name -> field.

    In this order: `full_response` beside `response`; a known name, such as `response`; a name that ends in one, such as
    `gpt4_response`; `answer`, which is the gold answer wherever another field can be the reply. Of 13 files of other
    people's scripts, each of the two rules about longer names decides one.
    """
    candidates = [name for name in by_lower if name != "answer"]
    usual_name = next((name for name in _REPLIES if name in candidates), "")
    if usual_name:
        # A tool that also stores the extracted answer gives the whole reply a longer name.
        longer_names = (name for name in candidates if _is_raw(name, usual_name))
        return by_lower[next(longer_names, usual_name)]
    names_of_replies = (name for name in candidates if _ends_in_reply(name))
    return by_lower.get(next(names_of_replies, "answer"), "")


def _is_raw(name: str, usual_name: str) -> bool:
    """Whether a field, as `full_responses`, has the whole reply of which the usual one, `response`, has a part."""
    words = name.split("_")
    return words[0] in _RAW_WORDS and words[-1].rstrip("s") == usual_name.rstrip("s")


def _ends_in_reply(name: str) -> bool:
    """Whether the last word of a name is that of a reply, and no word is one of the task: not `expected_output`."""
    words = name.split("_")
    return words[-1] in _REPLIES and _TASK_WORDS.isdisjoint(words)


def _is_prose(value: object) -> bool:
    """Whether a text has several words, and none that nearly every program has."""
    code = ("def ", "import ", "print(")
    return isinstance(value, str) and len(value.split()) > 3 and not any(word in value for word in code)


def option_for_object(value: Mapping[str, object]) -> str:
    """Return the `--fields` line for an object with records in one of its fields; empty if no field has any.

    A field has a list or an object of records, else an object of texts: `{"results": {"q1": "...", ...}}`.
    """
    as_lists = {name: list(part.values()) if isinstance(part, dict) else part for name, part in value.items()}
    first_in = {name: parts[0] for name, parts in as_lists.items() if isinstance(parts, list) and parts}
    with_records = [name for name, first in first_in.items() if isinstance(first, dict)]
    lines = [option_for(first_in[name], at=name) for name in with_records]
    has_list_of_records = any(isinstance(value[name], list) for name in with_records)
    # Beside a list of records, an object of texts has the settings of the run.
    if not has_list_of_records:
        first_in_objects = {name: first for name, first in first_in.items() if isinstance(value[name], dict)}
        with_texts = [name for name, first in first_in_objects.items() if _is_text_or_texts(first)]
        lines += [f"--fields at={name}" for name in with_texts]
    return next(filter(None, lines), "")


def _is_text_or_texts(value: object) -> bool:
    texts = value if isinstance(value, list) else [value]
    return bool(texts) and all(isinstance(text, str) for text in texts)


def is_one_record(value: Mapping[str, object]) -> bool:
    """Whether an object is one record, with an id and other fields, not an object of records."""
    return len(value) > 1 and not {"qid", "id", "task_id", "question_id"}.isdisjoint(value)


def records_of(value: object, *, with_keys: bool) -> list[Row] | None:
    """Return the records in a list or an object of records; None if it is neither.

    `with_keys`: a record of an object gets its name there as the field RECORD_KEY.
    """
    if isinstance(value, list):
        return [_record(part) for part in value]
    if isinstance(value, dict):
        return [{RECORD_KEY: name, **_record(part)} if with_keys else _record(part) for name, part in value.items()]
    return None


def _record(part: object) -> Row:
    if isinstance(part, dict):
        return part
    return {WHOLE_RECORD: part} if _is_text_or_texts(part) else {}
