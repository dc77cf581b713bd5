"""Questions with short answers: tasks built from rows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from grader.data.tables import cell
from grader.errors import InputError
from grader.files.json_text import parse_collection, quoted
from grader.scorers.answer.amounts import is_number
from grader.scorers.answer.declaration import KINDS, AnswerBenchmark, AnswerKind, AnswerTask
from grader.scorers.choice.items import gold_problem, options_by_letter
from grader.scorers.numbers import as_number
from grader.scorers.rows import groups_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grader.data.tables import Row, Rows


def read_tasks(rows: Rows, declared: AnswerBenchmark) -> dict[str, AnswerTask]:
    """Turn rows into tasks; raises InputError for rows without an id, and for too many broken rows."""
    column = declared.columns.question
    if column and all(cell(row.get(column)) is None for row in rows.rows):
        place = rows.place or rows.origin
        raise InputError([f"{place}: no row has a value in column {column}, which should contain the questions"])
    return rows.tasks(partial(_task, declared=declared, is_table=rows.is_table))


def _task(row: Row, declared: AnswerBenchmark, *, is_table: bool) -> AnswerTask:
    """Return a row's task; raises ValueError without an id. The task says what else is wrong with it (`broken`).

    `is_table`: a list of accepted answers can only be written as a text.
    """
    columns = declared.columns
    qid = cell(row.get(columns.id))
    if qid is None:
        raise ValueError(f"no id in column {columns.id}")
    broken, options, accepted, kind = "", dict[str, str](), list[str](), declared.kind
    try:
        options, kind = _options(row, declared), _kind(row, declared)
        if options:
            accepted = [_gold_letter(row, options, declared)]
            broken = gold_problem(accepted[0], options)
        else:
            accepted = _accepted(row, kind, declared, is_table=is_table)
    except ValueError as error:
        broken = str(error)
    return AnswerTask(
        id=qid,
        text=str(row.get(columns.question or "") or ""),
        options=options,
        gold=accepted[0] if accepted else None,
        accepted=tuple(accepted),
        kind=_kind_of_answers(kind, accepted),
        groups=_groups(row, declared),
        row=row,
        broken=broken,
        # Where its samples are scored and counted, the declaration is not known.
        counted_in=declared.counted_in,
        tolerance=declared.tolerance,
    )


def _kind_of_answers(kind: AnswerKind, accepted: Sequence[str]) -> AnswerKind:
    """Return a row's kind: "number" if all texts are numbers, "expression" if none of the numbers is one."""
    if kind == "text" and accepted and all(map(is_number, accepted)):
        return "number"
    if kind == "number" and accepted and not any(map(as_number, accepted)):
        return "expression"
    return kind


def _groups(row: Row, declared: AnswerBenchmark) -> dict[str, str | list[str]]:
    """Return the groups of a row; in the column `counted_in`, a text is a list with commas."""
    groups = groups_of(row, declared.columns.groups)
    labels = groups.get(declared.counted_in)
    if isinstance(labels, str):
        groups[declared.counted_in] = list(dict.fromkeys(label.strip() for label in labels.split(",")))
    return groups


def _options(row: Row, declared: AnswerBenchmark) -> dict[str, str]:
    listed = parse_collection(row.get(declared.columns.options)) if declared.columns.options else None
    options = options_by_letter(listed, declared.letters)
    return options if len(options) > 1 else {}


def _gold_letter(row: Row, options: Mapping[str, str], declared: AnswerBenchmark) -> str:
    """Return the gold letter: the cell for it, else the answer, a letter or the text of an option.

    Raises ValueError if it is neither.
    """
    letter_column, column = declared.columns.letter, declared.columns.answer
    if letter_column is not None and cell(row.get(letter_column)) is not None:
        column = letter_column
    answer = (cell(row.get(column)) or "").strip()
    if answer in options:
        return answer
    for letter, text in options.items():
        if text.strip() == answer:
            return letter
    letters = ", ".join(options)
    raise ValueError(f"the answer {quoted(answer)} in column {column} is neither one of {letters} nor an option's text")


def _kind(row: Row, declared: AnswerBenchmark) -> AnswerKind:
    word = cell(row.get(declared.columns.kind or ""))
    if word is None:
        return declared.kind
    kinds: dict[str, AnswerKind] = {kind: kind for kind in KINDS} | declared.kinds
    if word not in kinds:
        raise ValueError(f"the kind {quoted(word)} in column {declared.columns.kind} is not one of {', '.join(kinds)}")
    return kinds[word]


def _accepted(row: Row, kind: AnswerKind, declared: AnswerBenchmark, *, is_table: bool) -> list[str]:
    """Return the accepted answers of a row; raises ValueError if it has none, or none of its kind."""
    column = declared.columns.answer
    answers = row.get(column)
    if isinstance(answers, dict):
        raise ValueError(f"the answer in column {column} is an object, not a text or a list of accepted texts")  # noqa: TRY004 - a problem of the row
    if isinstance(answers, str) and is_table:  # it can be the text of a list
        listed = parse_collection(answers)
        if isinstance(listed, list) and all(isinstance(answer, str) for answer in listed):
            answers = listed  # "['a', 'b']"; "[1, 2]" is an answer with two numbers
    cells = map(cell, answers if isinstance(answers, list) else [answers])
    texts = [text for text in cells if text is not None]
    if declared.gold_after:
        texts = [text.rpartition(declared.gold_after)[2] for text in texts]
    accepted = [text.strip() for text in texts if text.strip()]
    if not accepted:
        raise ValueError(f"no answer in column {column}")
    if kind == "yes_no":
        accepted = [{"true": "yes", "false": "no"}.get(text.lower(), text.lower()) for text in accepted]
        if set(accepted) - {"yes", "no"}:
            raise ValueError(f"the answer {quoted(accepted[0])} is neither yes nor no")
    return accepted
