"""Read official Mr-Ben result files: a published run can be scored again without its model and its judge.

Layout, from script/evaluate.py and script/utils.py of dvlab-research/Mr-Ben: `{subject: [row, ...]}`. Each row is the
benchmark's own row plus `Evaluation_Result` (the response and its parse) and, if the judge was asked,
`Error_Reason_Correctness_Analysis` (its reply). The unscored file has the same layout without the latter.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

Row = dict[str, Any]

_RESPONSE = "Evaluation_Result"
_JUDGEMENT = "Error_Reason_Correctness_Analysis"
_ADDED = frozenset((_RESPONSE, _JUDGEMENT, "Need_Error_Reason_Review", "Query_Prompt"))
_NEEDED = frozenset(("Question_UUID", "Sampled_Model", "Model_Solution_Correctness"))


class ScoredFile(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a published run."""

    rows: dict[str, list[Row]]
    """Subject -> the benchmark's rows, without the fields that the run added."""
    predictions: dict[str, str]
    """qid -> raw response (empty if the request failed); without rows that were never asked."""
    judge_replies: dict[str, str]
    """qid -> the judge's raw reply, if it gave one."""
    models: list[str]
    """The evaluated models named in the rows, sorted."""
    judges: list[str]
    """The scoring models named in the rows, sorted."""


def row_qids(rows: Iterable[Row]) -> list[str]:
    """Return `<Question_UUID>/<Sampled_Model>` for each row; a second row with the same key gets `#2`."""
    seen: Counter[str] = Counter()
    qids: list[str] = []
    for row in rows:
        key = f"{row['Question_UUID']}/{row['Sampled_Model']}"
        seen[key] += 1
        qids.append(key if seen[key] == 1 else f"{key}#{seen[key]}")
    return qids


def from_scored_file(data: object) -> ScoredFile | None:
    """Split an official result file into its parts; None if the decoded JSON is something else."""
    subjects = _subjects(data)
    if subjects is None:
        return None
    rows = [row for subject in subjects.values() for row in subject]
    keyed = list(zip(row_qids(rows), rows, strict=True))
    responses = {qid: _text(row, _RESPONSE, "evaluation_raw_response") for qid, row in keyed}
    replies = {qid: text for qid, row in keyed if (text := _text(row, _JUDGEMENT, "scoring_raw_response"))}
    return ScoredFile(
        rows={name: [_without_added(row) for row in subject] for name, subject in subjects.items()},
        predictions={qid: text for qid, text in responses.items() if text is not None},
        judge_replies=replies,
        models=_named(rows, _RESPONSE, "evaluated_model"),
        judges=_named(rows, _JUDGEMENT, "scoring_model"),
    )


def _subjects(data: object) -> dict[str, list[Row]] | None:
    """Return the subjects if every row is a Mr-Ben row and at least one was answered."""
    if not isinstance(data, dict) or not all(isinstance(rows, list) for rows in data.values()):
        return None
    rows = [row for subject in data.values() for row in subject]
    if not all(isinstance(row, dict) and row.keys() >= _NEEDED for row in rows):
        return None
    answered = any(_text(row, _RESPONSE, "evaluation_raw_response") is not None for row in rows)
    return {str(name): subject for name, subject in data.items()} if answered else None


def _text(row: Row, part: str, name: str) -> str | None:
    """Return a string field of one of the parts that a run adds, or None."""
    inner = row.get(part)
    value = inner.get(name) if isinstance(inner, dict) else None
    return value if isinstance(value, str) else None


def _without_added(row: Row) -> Row:
    return {name: value for name, value in row.items() if name not in _ADDED}


def _named(rows: list[Row], part: str, name: str) -> list[str]:
    return sorted({text for row in rows if (text := _text(row, part, name))})
