"""Questions that came with the predictions."""

from typing import Any

from grader.predictions.file import PredictionFile, PredictionRecord
from grader.scorers import declarations
from grader.scorers.choice.items import items_from
from grader.scorers.choice.tables import carried_rows

MMBENCH: Any = declarations.load("mmbench")


def table_file(*fields: dict[str, object], format: str = "vlmevalkit") -> PredictionFile:  # noqa: A002
    records = [
        PredictionRecord(qid=str(n), predictions=["A"], fields=more, prompts=None, where="f:1")
        for n, more in enumerate(fields)
    ]
    return PredictionFile(name="model.xlsx", path=None, format=format, records=records)  # type: ignore[arg-type]


def test_a_vlmevalkit_table_carries_its_questions() -> None:
    carried = carried_rows(table_file({"question": "Which?", "A": "x", "B": 3, "answer": "A"}), MMBENCH)
    assert carried.rows == [{"index": "0", "question": "Which?", "A": "x", "B": 3, "answer": "A"}]
    assert carried.is_carried
    assert carried.origin == "model.xlsx (its own questions)"
    assert [item.options for item in items_from(carried, MMBENCH, "dev-en").values()] == [{"A": "x", "B": "3"}]


def test_other_files_and_tables_without_answers_carry_none() -> None:
    whole: dict[str, object] = {"A": "x", "B": "y", "answer": "A"}
    assert carried_rows(table_file(whole, format="grade"), MMBENCH) is None
    assert carried_rows(table_file(whole, {"A": "x", "B": "y"}), MMBENCH) is None
