"""How to find a value in a record by its path, and how to read the model's texts in it.

The path `response.body.choices` leads through objects. In a list, a number is a position, and `*` means every part (the
result is a list). In an object, `*` means the first part that has the rest of the path.

A path is not enough for the files of some tools (inspect_ai, EvalPlus, BIG-Bench Hard, Mr-Ben): a function for each
turns such a file into records.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from grader.files.json_text import cell_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Row = dict[str, object]

RECORD_KEY = "#"
"""The place of a record's name in an object of records."""
WHOLE_RECORD = "="
"""The place of a record that is no object: a text, or a list of texts."""
_MOST_LISTS = 2
"""Lists around a text: of requests, and of their repeats. More are log-likelihoods."""
_MOST_WRAPPED = 3
"""Objects around a text: a choice, its message, its content."""


class Absent:
    """What `value_at` returns for a place that a record does not have."""


ABSENT: Final = Absent()


class Contents(NamedTuple):
    """The records of a file, and what else it has."""

    rows: list[Row]
    warnings: list[str] = []
    judge_replies: dict[str, str] = {}
    """Recorded judge replies by qid."""
    benchmark_rows: dict[str, list[Row]] | None = None
    """The benchmark's own rows, by subject."""


def value_at(value: object, path: str) -> object:  # noqa: PLR0911 - one return a kind of step
    """Return the value at a path (this module's docstring explains `*`); ABSENT if there is none."""
    if not path:
        return value
    if isinstance(value, dict) and path in value:  # a name may have a dot
        return value[path]
    name, _, rest = path.partition(".")
    if isinstance(value, list):
        if name == "*":
            values = [inner for part in value if (inner := value_at(part, rest)) is not ABSENT]
            return values or ABSENT
        return value_at(value[int(name)], rest) if name.isdecimal() and int(name) < len(value) else ABSENT
    if not isinstance(value, dict):
        return ABSENT
    if name == "*":
        parts = (value_at(part, rest) for part in value.values() if isinstance(part, dict))
        return next((inner for inner in parts if inner not in (ABSENT, None)), ABSENT)
    return value_at(value[name], rest) if name in value else ABSENT


def first_of(row: Row, paths: Iterable[str]) -> object:
    """Return the first value at these places that is not null; ABSENT if there is none."""
    values = (value_at(row, path) for path in paths)
    return next((value for value in values if value is not ABSENT and value is not None), ABSENT)


# --- texts ------------------------------------------------------------------------------------------------------


def texts_of(value: object) -> list[str] | None:
    """Return the model's outputs: a text, messages of a chat, choices of an API, or a list of these.

    None if anything is no text: an object of another kind, or the log-likelihoods of options.
    """
    return _texts_of(value, 0)


def _texts_of(value: object, depth: int) -> list[str] | None:
    """Return the texts as `texts_of` does. `depth`: how many lists the value is in.

    What a list has is decided in this order: messages with roles (the last reply), parts with types (one text),
    log-likelihoods (no text), and else outputs of any shape.
    """
    for _ in range(_MOST_WRAPPED):  # {"message": {"content": "..."}} -> "..."
        value = _message_of_part(value) if isinstance(value, dict) else value
    if value is ABSENT or isinstance(value, dict):
        return None
    if not isinstance(value, list):
        return [cell_text(value)]
    parts = [part for part in value if isinstance(part, dict)]
    if any("role" in part for part in parts):
        replies = [message for message in parts if message.get("role") in ("assistant", "model")]
        return _texts_of(replies[-1].get("content"), depth + 1) if replies and depth < _MOST_LISTS else None
    if any("type" in part for part in parts):
        return [_text_of_parts(parts)]
    if depth == _MOST_LISTS or _are_likelihoods(value):
        return None
    lists = [_texts_of(part, depth + 1) for part in value]
    return None if None in lists else [text for texts in lists for text in texts or ()]


def _message_of_part(value: Row) -> object:
    """Return the message of a choice, the content of a message, the text of a completion."""
    return next((value[name] for name in ("message", "content", "text", "completion") if name in value), ABSENT)


def _text_of_parts(parts: list[Row]) -> str:
    """Return the text of a message in parts, without its reasoning."""
    texts = [part.get("text") for part in parts if part.get("type") in ("text", "output_text")]
    return "\n".join(text for text in texts if isinstance(text, str))


def _are_likelihoods(value: list[object]) -> bool:
    """Whether a list has what a harness measured of options: log-likelihood and whether it is greedy, as texts."""
    return len(value) > 1 and all(
        isinstance(pair, list) and len(pair) == 2 and str(pair[1]) in ("True", "False") for pair in value
    )


# --- inspect_ai -------------------------------------------------------------------------------------------------

_ATTACHMENT = "attachment://"


def inspect_log(log: object) -> Contents | None:
    """Return the samples of an inspect_ai log; raises ValueError with the reason if it has none.

    A sample's text is the model's final output, and the epochs of a sample are its outputs, in order. Epochs with
    options in other orders answer different tasks.
    """
    if not isinstance(log, dict) or not log.keys() >= {"eval", "status", "version"}:
        return None
    samples = log.get("samples")
    if not isinstance(samples, list) or not samples:
        raise ValueError("is an inspect_ai log without samples; it was written with --no-log-samples, or nothing ran")
    if not all(isinstance(sample, dict) for sample in samples):
        raise ValueError("is not a readable inspect_ai log ($.samples: expected a list of objects)")
    status = log["status"]
    model = value_at(log, "eval.model")
    unfinished = f"the inspect_ai log is from a run that did not finish (status {status or 'started'})"
    samples_by_task: dict[str, list[Row]] = {}
    for sample in samples:
        # An id alone is not enough: with shuffled options, each epoch has another task.
        task = f"{sample.get('id')} {json.dumps(_inspect_task(sample))}"
        samples_by_task.setdefault(task, []).append(sample)
    rows = [_inspect_row(epochs, model) for epochs in samples_by_task.values()]
    return Contents(rows, [] if status == "success" else [unfinished])


def _inspect_row(epochs: list[Row], model: object) -> Row:
    """Return one row for a sample of inspect_ai and all its epochs."""
    # A retried epoch stands in a log twice: the last one counts.
    last_by_epoch = {cast("int", sample.get("epoch") or 1): sample for sample in epochs}
    ordered = [last_by_epoch[epoch] for epoch in sorted(last_by_epoch)]
    errors = [first_of(sample, ("output.error", "error.message")) for sample in ordered]
    return {
        "id": ordered[0].get("id"),
        "inspect_completions": [_inspect_text(sample) for sample in ordered],
        "model": model if isinstance(model, str) else "",
        "doc": _inspect_task(ordered[0]),
        "finish_reasons": [_or_empty(value_at(sample, "output.choices.0.stop_reason")) for sample in ordered],
        **({"errors": [*map(_or_empty, errors)]} if any(error is not ABSENT for error in errors) else {}),
    }


def _or_empty(value: object) -> object:
    return "" if value is ABSENT or value is None else value


def _inspect_text(sample: Row) -> object:
    texts = texts_of(first_of(sample, ("output.completion", "output.choices.0.message")))
    return _resolve_attachment(texts[0], sample) if texts else ""


def _inspect_task(sample: Row) -> Row:
    """Return the task that a sample answers."""
    prompt, target = sample.get("input"), sample.get("target", "")
    messages = prompt if isinstance(prompt, list) else [prompt]
    texts = [_resolve_attachment(text, sample) for message in messages for text in texts_of(message) or ()]
    is_single = isinstance(target, list) and len(target) == 1
    return {
        "question": "\n".join(map(str, texts)),
        "options": sample.get("choices"),
        "answer": cast("list[object]", target)[0] if is_single else target,
    }


def _resolve_attachment(text: object, sample: Row) -> object:
    """Return a sample's text; for `attachment://ID`, the text that the sample stores under this id."""
    attachments = sample.get("attachments")
    if isinstance(text, str) and text.startswith(_ATTACHMENT) and isinstance(attachments, dict):
        return attachments.get(text.removeprefix(_ATTACHMENT), text)
    return text


# --- EvalPlus ---------------------------------------------------------------------------------------------------


def evalplus_results(results: object) -> Contents | None:
    """Return the samples of EvalPlus' results (`_eval_results.json`, 0.3), which repeat the programs that were run."""
    tasks = results.get("eval") if isinstance(results, dict) else None
    if not isinstance(tasks, dict) or not all(isinstance(samples, list) for samples in tasks.values()):
        return None
    rows = [sample for samples in tasks.values() for sample in samples]
    if not rows or not all(isinstance(row, dict) and row.keys() >= {"task_id", "solution"} for row in rows):
        return None
    return Contents(rows)


# --- BIG-Bench Hard ---------------------------------------------------------------------------------------------


def bbh(contents: object) -> Contents | None:
    """Return the rows of a file of BIG-Bench Hard, with their last question without the demonstrations before it."""
    rows = contents.get("outputs") if isinstance(contents, dict) else contents
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        return None
    if not rows[0].keys() >= {"input", "prediction", "target"}:
        return None
    return Contents([{**row, "question": _last_question(row.get("input"))} for row in rows])


def _last_question(prompt: object) -> str:
    return (prompt.rpartition("\n\nQ: ")[2].rpartition("\nA:")[0] or prompt) if isinstance(prompt, str) else ""


# --- Mr-Ben -----------------------------------------------------------------------------------------------------

_RESPONSE = "Evaluation_Result"
_JUDGEMENT = "Error_Reason_Correctness_Analysis"
_ADDED_FIELDS = (_RESPONSE, _JUDGEMENT, "Need_Error_Reason_Review", "Query_Prompt")
_ROW_FIELDS = frozenset(("Question_UUID", "Sampled_Model", "Model_Solution_Correctness"))


def row_qids(rows: Iterable[Row]) -> list[str]:
    """Return `<Question_UUID>/<Sampled_Model>` for each row; a second row with the same key gets `#2`."""
    numbers = Counter[str]()
    qids: list[str] = []
    for row in rows:
        key = f"{row['Question_UUID']}/{row['Sampled_Model']}"
        numbers[key] += 1
        qids.append(key if numbers[key] == 1 else f"{key}#{numbers[key]}")
    return qids


def mr_ben(contents: object) -> Contents | None:
    """Return the content of Mr-Ben's scored results, {subject: [row, ...]}, or of the list that MR-GSM8K writes.

    Each row is the benchmark's own, with the response and, if the judge was asked, its reply: a published run is scored
    again without its model and judge (script/evaluate.py, script/utils.py of dvlab-research/Mr-Ben). A row that was
    never asked has no response; a judge that was asked without success has an empty reply, which earns no credit.
    """
    subjects = {"mr-gsm8k": _mr_ben_rows(contents)} if isinstance(contents, list) else contents
    if not isinstance(subjects, dict) or not all(isinstance(rows, list) for rows in subjects.values()):
        return None
    rows = [row for subject in subjects.values() for row in subject]
    if not all(isinstance(row, dict) and row.keys() >= _ROW_FIELDS for row in rows):
        return None
    keyed = [*zip(row_qids(rows), rows, strict=True)]
    responses = {qid: value_at(row, f"{_RESPONSE}.evaluation_raw_response") for qid, row in keyed}
    answered: list[Row] = [
        {"qid": qid, "mr_ben_response": text} for qid, text in responses.items() if isinstance(text, str)
    ]
    if not answered:
        return None
    judge_replies = {
        qid: value_at(row, f"{_JUDGEMENT}.scoring_raw_response")
        for qid, row in keyed
        if isinstance(row.get(_JUDGEMENT), dict)
    }
    return Contents(
        answered,
        judge_replies={qid: text if isinstance(text, str) else "" for qid, text in judge_replies.items()},
        benchmark_rows={
            str(name): [_without(row, _ADDED_FIELDS) for row in subject] for name, subject in subjects.items()
        },
    )


def join_subjects(tables: Iterable[Mapping[str, list[Row]]]) -> dict[str, list[Row]]:
    """Return the rows of several files, {subject: [row, ...]}, with each qid once.

    Raises ValueError with the first qid that has different rows in two files.
    """
    joined: dict[str, list[Row]] = {}
    first_rows: dict[str, Row] = {}
    for subjects in tables:
        rows = [(name, row) for name, table in subjects.items() for row in table]
        for qid, (name, row) in zip(row_qids(row for _, row in rows), rows, strict=True):
            table = joined.setdefault(name, [])
            if qid not in first_rows:
                first_rows[qid] = row
                table.append(row)
            elif first_rows[qid] != row:
                raise ValueError(qid)
    return joined


def _without(row: Mapping[str, object], names: Iterable[str]) -> Row:
    return {name: value for name, value in row.items() if name not in names}


_GSM8K = {
    "Question_UUID": "uuid", "Sampled_Model": "question_type", "Question": "question",
    "Model_Solution_Steps": "model_output_steps", "Model_Solution_First_Error_Step":
    "model_output_solution_first_error_step", "Model_Solution_Error_Reason": "model_output_solution_first_error_reason",
}  # fmt: skip
"""Mr-Ben's field -> that of MR-GSM8K."""
_GSM8K_VERDICT, _GSM8K_JUDGEMENT = "model_output_solution_correctness", "gpt4_error_reason_correctness_analysis"


def _mr_ben_rows(rows: list[object]) -> list[Row]:
    """Return the rows of MR-GSM8K's results in the layout of Mr-Ben's result file."""
    converted_rows = []
    for row in rows:
        if isinstance(row, dict) and row.keys() >= {*_GSM8K.values(), _GSM8K_VERDICT}:
            verdict = row[_GSM8K_VERDICT]
            output = next((value for name, value in row.items() if name.endswith("_eval_output")), None)
            converted: Row = {name: row[source] for name, source in _GSM8K.items()}
            converted["Model_Solution_Correctness"] = "incorrect" if verdict == "wrong" else verdict
            converted[_RESPONSE] = {"evaluation_raw_response": value_at(output, "response")}
            if judge_reply := _or_empty(value_at(row, f"{_GSM8K_JUDGEMENT}.response")):
                converted[_JUDGEMENT] = {"scoring_raw_response": judge_reply}
            converted_rows.append(converted)
    return converted_rows
