"""A row of Mr-Ben as a task: a question, a worked solution, and the solution's first error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.scorers.mr_ben.reading import GoldRow
from grader.scorers.mr_ben.scored_file import row_qids
from grader.scorers.mr_ben.subjects import SUBJECT
from grader.task import Block, Task

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.data.rows import Row, Rows


class MrBenTask(Task, frozen=True, kw_only=True):
    """One solution under review."""

    gold_row: GoldRow


def tasks_from(rows: Rows) -> dict[str, MrBenTask]:
    """Turn rows into tasks by qid."""
    return {qid: _task(qid, row) for qid, row in zip(row_qids(rows.rows), rows.rows, strict=True)}


def _task(qid: str, row: Row) -> MrBenTask:
    gold = GoldRow(
        correct=row["Model_Solution_Correctness"] == "correct",
        step=str(row["Model_Solution_First_Error_Step"]),
        coding=row[SUBJECT] == "coding",
        solution=row["Model_Solution_Steps"],
    )
    wrong = f"incorrect; first error in step {row['Model_Solution_First_Error_Step'] or '-'}"
    return MrBenTask(
        id=qid,
        unit=str(row["Question_UUID"]),
        text=plain(row.get("Question")),
        gold="correct" if gold.correct else wrong,
        groups={SUBJECT: str(row[SUBJECT])},
        blocks=tuple(_blocks(row, gold)),
        row=row,
        gold_row=gold,
    )


def _blocks(row: Row, gold: GoldRow) -> Iterator[Block]:
    shown = [("Options", "Options", True), ("Solution under review", "Model_Solution_Steps", True)]
    if not gold.correct:
        shown.append(("Error, as annotated", "Model_Solution_Error_Reason", False))
        shown.append(("First wrong step, rectified", "Model_Solution_Rectified_First_Error_Step", False))
    for title, name, is_open in shown:
        text = plain(row.get(name))
        if text:
            yield Block(kind="text", title=title, content=text, is_open=is_open)


def plain(value: object) -> str:
    """Return a cell as text; a list becomes one line per item."""
    if isinstance(value, list):
        return "\n".join(map(str, value))
    return "" if value is None else str(value)
