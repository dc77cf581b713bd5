"""Prediction files of other tools, recognised by their content.

- VLMEvalKit result tables (`.xlsx`, `.tsv`, or a JSON list of row objects): columns `index` and `prediction`.
- lmms-eval sample logs (`*_samples_*.jsonl`): `doc_id` with `resps` or `filtered_resps`.
- lm-evaluation-harness sample logs (`samples_*.jsonl`): the same, and the filter that made `filtered_resps`.
- EvalPlus samples (JSON Lines with `task_id` and `completion` or `solution`): one program per line.
- Tables of text with `qid` and `prediction`.
- Mr-Ben's own scored results, and MR-GSM8K's, which have questions, answers and judgements together.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING, Literal

import msgspec

from grader.files.json_text import Flaw, kind, quoted
from grader.predictions.file import PredictionRecord
from grader.predictions.published import fenced
from grader.predictions.record import Row
from grader.predictions.tables import ID_COLUMNS, TEXT_COLUMN

if TYPE_CHECKING:
    from collections.abc import Iterable

ForeignFormat = Literal["vlmevalkit", "lmms-eval", "lm-evaluation-harness", "evalplus"]

_QID_FIELDS = ("question_id", "index", "qid", "task_id")
_WHOLE_FLOAT = re.compile(r"([0-9]+)\.0+")
_OF_LM_EVAL = frozenset(("filter", "prompt_hash", "target_hash"))
_NESTED_TEXTS = 2
"""`resps` is [[text]] or [text] or text; deeper lists are log-likelihood pairs."""


def recognise(row: Row) -> ForeignFormat | None:
    """Return the tool that wrote a record, or None if the record is in grade's format or unknown."""
    if "doc_id" in row and ("resps" in row or "filtered_resps" in row):
        return "lm-evaluation-harness" if _is_lm_eval(row) else "lmms-eval"
    if "index" in row and "prediction" in row:
        return "vlmevalkit"
    if "task_id" in row and any(name in row for name in _CODE_FIELDS):
        return "evalplus"
    return None


def _is_lm_eval(row: Row) -> bool:
    """Whether lm-evaluation-harness wrote a sample: it names the filter; lmms-eval logs the arguments in one list."""
    arguments = row.get("arguments")
    is_nested = isinstance(arguments, dict) or (isinstance(arguments, list) and isinstance((arguments or [0])[0], list))
    return is_nested or not _OF_LM_EVAL.isdisjoint(row)


# VLMEvalKit


def convert_table_row(row: Row) -> PredictionRecord | list[Flaw]:
    """Return the record of one row of a table."""
    column = next((name for name in ID_COLUMNS if name in row), ID_COLUMNS[0])
    missing = [name for name in (column, TEXT_COLUMN) if name not in row]
    if missing:
        return [Flaw(path=(), message=f'no "{name}" in this row, but the first row has it') for name in missing]
    qid, text = _cell_qid(row[column]), cell_text(row[TEXT_COLUMN])
    flaws = []
    if qid is None:
        flaws.append(Flaw(path=(column,), message=f"{_shown(row[column])} is not a valid {column}"))
    if text is None:
        flaws.append(Flaw(path=(TEXT_COLUMN,), message="expected a text, found a list or an object"))
    if flaws or qid is None or text is None:
        return flaws
    return PredictionRecord(qid=qid, predictions=[text], fields=_without(row, column, TEXT_COLUMN, "image"))


def cell_text(cell: object) -> str | None:
    """Return the text of a cell: empty for an empty cell, digits for a number, None for a list or an object."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    if isinstance(cell, list | dict):
        return None
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)


def _cell_qid(cell: object) -> str | None:
    """Return an index as a qid: 241, 241.0 and "241.0" become "241" (pandas turns integer columns into floats)."""
    if cell is None or isinstance(cell, bool | list | dict):
        return None
    if isinstance(cell, float) and not cell.is_integer():
        return None
    text = (cell_text(cell) or "").strip()
    whole = _WHOLE_FLOAT.fullmatch(text)
    return (whole[1] if whole else text) or None


def _shown(value: object) -> str:
    return quoted(value) if isinstance(value, str) else quoted(str(value))[1:-1]


def _without(row: Row, *names: str) -> Row:
    return {name: value for name, value in row.items() if name not in names}


# lmms-eval


def convert_lmms_eval(row: Row) -> PredictionRecord | list[Flaw]:
    """Return the record of one logged sample.

    `resps` is the model's output; it is omitted if the filters changed nothing. Since 0.4 the list around a single
    request is omitted, too, and so is `doc` (`lmms_eval/loggers/evaluation_tracker.py`).
    """
    return _convert_logged(row, "resps" if "resps" in row else "filtered_resps")


def convert_lm_eval(row: Row) -> PredictionRecord | list[Flaw]:
    """Return the record of one sample of lm-evaluation-harness: the text that it judged, which a filter has made."""
    judged = _texts(row.get("filtered_resps"), _NESTED_TEXTS)
    record = _convert_logged(row, "filtered_resps" if judged or "resps" not in row else "resps")
    name = row.get("filter")
    if isinstance(record, list) or not isinstance(name, str) or not judged:
        return record
    return msgspec.structs.replace(record, filters=[name] * len(record.predictions))


def _convert_logged(row: Row, source: str) -> PredictionRecord | list[Flaw]:
    if source not in row or "doc_id" not in row:
        return [Flaw(path=(), message='expected a sample of lmms-eval with "doc_id" and "resps" or "filtered_resps"')]
    texts = _texts(row[source], _NESTED_TEXTS)
    if not texts:
        message = (
            "expected generated text; found log-likelihoods or nothing, from which no answer can be read: run a task "
            "that generates text (output_type: generate_until)"
        )
        return [Flaw(path=(source,), message=message)]
    qid = _lmms_qid(row)
    if qid is None:
        return [Flaw(path=("doc_id",), message=f"{_shown(row['doc_id'])} is not an id")]
    return PredictionRecord(qid=qid, predictions=texts, fields=_without(row, "resps", "filtered_resps"))


def _texts(value: object, depth: int) -> list[str] | None:
    """Return the texts of nested lists (one per repeat); None if they contain anything else."""
    if isinstance(value, str):
        return [value]
    if _are_likelihoods(value):
        return None
    if not isinstance(value, list) or depth == 0:
        return None
    found: list[str] = []
    for part in value:
        inner = _texts(part, depth - 1)
        if inner is None:
            return None
        found += inner
    return found


def _are_likelihoods(value: object) -> bool:
    """Whether a list has what the harness measured of options: log-likelihood and whether it is greedy, as texts."""
    return (
        isinstance(value, list)
        and len(value) > 1
        and all(
            isinstance(pair, list) and len(pair) == len(("-1.5", "False")) and str(pair[1]) in ("True", "False")
            for pair in value
        )
    )


def _lmms_qid(row: Row) -> str | None:
    """Return the question's own id, from `doc` or from the task's logged fields, else the row's number."""
    for place in (row.get("doc"), *row.values()):
        if isinstance(place, dict):
            for name in _QID_FIELDS:
                qid = _cell_qid(place.get(name))
                if qid is not None:
                    return qid
    return _cell_qid(row["doc_id"])


def has_own_id(row: Row) -> bool:
    """Whether a logged sample names the question that it answers, not only the row of the data set."""
    return _lmms_qid({**row, "doc_id": None}) is not None


def row_number(record: PredictionRecord) -> str | None:
    """Return the number of the row that a logged sample answers; None if the record is from no log."""
    return _cell_qid(record.fields.get("doc_id"))


# EvalPlus

_CODE_FIELDS = ("solution", "completion")


def convert_evalplus(row: Row) -> PredictionRecord | list[Flaw]:
    """Return the record of one sample: `solution` is a whole program, `completion` the code after the task's prompt.

    EvalPlus runs both as they are (0.3.1, `evaluate.py` 220 to 227). The program is put into a code block here; only
    the scorer knows the prompt of a completion.
    """
    name = next((name for name in _CODE_FIELDS if name in row), None)
    if name is None or "task_id" not in row:
        message = 'expected a sample of EvalPlus with "task_id" and "completion" or "solution"'
        return [Flaw(path=(), message=message)]
    qid, code = _cell_qid(row["task_id"]), row[name]
    flaws = []
    if qid is None:
        flaws.append(Flaw(path=("task_id",), message=f"{_shown(row['task_id'])} is not an id"))
    if not isinstance(code, str):
        flaws.append(Flaw(path=(name,), message=f"expected a string, found {kind(code)}"))
    if flaws or qid is None or not isinstance(code, str):
        return flaws
    fields = _without(row, "task_id", *_CODE_FIELDS)
    if name == "completion":
        return PredictionRecord(qid=qid, predictions=[code], continued=[True], fields=fields)
    return PredictionRecord(qid=qid, predictions=[fenced(code)], fields=fields)


# Mr-Ben

_RESPONSE = "Evaluation_Result"
_JUDGEMENT = "Error_Reason_Correctness_Analysis"
_ADDED = ("Evaluation_Result", "Error_Reason_Correctness_Analysis", "Need_Error_Reason_Review", "Query_Prompt")
_OF_A_ROW = frozenset(("Question_UUID", "Sampled_Model", "Model_Solution_Correctness"))


class ScoredFile(msgspec.Struct, frozen=True, kw_only=True):
    """The content of an official Mr-Ben result file: a published run is scored again without its model and judge."""

    predictions: dict[str, list[str]] = {}
    """qid -> the raw response (empty if the request failed); without rows that were never asked."""
    judge_replies: dict[str, str] = {}
    """qid -> the judge's raw reply; empty if it was asked without success, which officially earns no credit."""
    rows: dict[str, list[Row]] | None = None
    """Subject -> the benchmark's rows, without the fields that the run added."""


def row_qids(rows: Iterable[Row]) -> list[str]:
    """Return `<Question_UUID>/<Sampled_Model>` for each row; a second row with the same key gets `#2`."""
    numbers = Counter[str]()
    qids: list[str] = []
    for row in rows:
        key = f"{row['Question_UUID']}/{row['Sampled_Model']}"
        numbers[key] += 1
        qids.append(key if numbers[key] == 1 else f"{key}#{numbers[key]}")
    return qids


def read_scored(data: object) -> ScoredFile | None:
    """Return the content of Mr-Ben's result file, {subject: [row, ...]}; None if the decoded JSON is something else.

    Layout (script/evaluate.py, script/utils.py of dvlab-research/Mr-Ben): each row is the benchmark's own, plus the
    response and, if the judge was asked, its reply.
    """
    if not isinstance(data, dict) or not all(isinstance(rows, list) for rows in data.values()):
        return None
    rows = [row for subject in data.values() for row in subject]
    if not all(isinstance(row, dict) and row.keys() >= _OF_A_ROW for row in rows):
        return None
    keyed = list(zip(row_qids(rows), rows, strict=True))
    responses = {qid: _raw(row, _RESPONSE, "evaluation_raw_response") for qid, row in keyed}
    answered = {qid: [text] for qid, text in responses.items() if text is not None}
    if not answered:
        return None
    return ScoredFile(
        predictions=answered,
        judge_replies={
            qid: _raw(row, _JUDGEMENT, "scoring_raw_response") or ""
            for qid, row in keyed
            if isinstance(row.get(_JUDGEMENT), dict)
        },
        rows={str(name): [_without(row, *_ADDED) for row in subject] for name, subject in data.items()},
    )


_GSM8K = {
    "Question_UUID": "uuid", "Sampled_Model": "question_type", "Question": "question",
    "Model_Solution_Steps": "model_output_steps", "Model_Solution_First_Error_Step":
    "model_output_solution_first_error_step", "Model_Solution_Error_Reason": "model_output_solution_first_error_reason",
}  # fmt: skip
"""Mr-Ben's field -> that of MR-GSM8K."""
_GSM8K_VERDICT, _GSM8K_OUTPUT = "model_output_solution_correctness", "_eval_output"
_GSM8K_JUDGEMENT = "gpt4_error_reason_correctness_analysis"


def is_mr_gsm8k(row: Row) -> bool:
    """Whether a row is of MR-GSM8K's results: a solution, the response about it, and perhaps GPT-4's judgement."""
    return row.keys() >= {*_GSM8K.values(), _GSM8K_VERDICT} and any(name.endswith(_GSM8K_OUTPUT) for name in row)


def as_mr_ben(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return the rows of MR-GSM8K's results in the layout of Mr-Ben's result file."""
    verdicts = {"wrong": "incorrect"}
    return {
        "mr-gsm8k": [
            {
                **{name: row.get(source) for name, source in _GSM8K.items()},
                "Model_Solution_Correctness": verdicts.get(str(row[_GSM8K_VERDICT]), row[_GSM8K_VERDICT]),
                _RESPONSE: {"evaluation_raw_response": _response(row, _GSM8K_OUTPUT)},
                **(
                    {_JUDGEMENT: {"scoring_raw_response": judged}}
                    if (judged := _response(row, _GSM8K_JUDGEMENT))
                    else {}
                ),
            }
            for row in rows
        ]
    }


def _response(row: Row, ending: str) -> object:
    """Return the response in the part of a row whose name ends so."""
    part = next((value for name, value in row.items() if name.endswith(ending)), None)
    return part.get("response") if isinstance(part, dict) else None


def _raw(row: Row, part: str, name: str) -> str | None:
    """Return a text of one of the parts that a run adds to a row, or None."""
    inner = row.get(part)
    value = inner.get(name) if isinstance(inner, dict) else None
    return value if isinstance(value, str) else None
