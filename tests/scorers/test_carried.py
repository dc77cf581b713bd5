"""Questions that came with the predictions."""

from typing import Any

from grader.predictions.file import PredictionFile, PredictionRecord
from grader.scorers import declarations
from grader.scorers.carried import digest_of
from grader.scorers.choice.items import items_from
from grader.scorers.registry import scorer
from tests.tables import each

MMBENCH: Any = declarations.load("mmbench")


def carried(name: str, *fields: dict[str, object], format: str = "vlmevalkit") -> Any:  # noqa: A002
    records = [
        PredictionRecord(qid=str(n), predictions=["A"], fields=more, prompts=None, position="f:1")
        for n, more in enumerate(fields)
    ]
    declared: Any = declarations.load(name)
    file = PredictionFile(name="model.xlsx", path=None, format=format, records=records)  # type: ignore[arg-type]
    return scorer(declared.scoring).load_scorer_rows(declared, "", file)


def test_a_vlmevalkit_table_carries_its_questions() -> None:
    found = carried("mmbench", {"question": "Which?", "A": "x", "B": 3, "answer": "A"})
    assert found.rows == [{"index": "0", "question": "Which?", "A": "x", "B": 3, "answer": "A"}]
    assert found.is_carried
    assert found.origin == "model.xlsx (its own questions)"
    assert [item.options for item in items_from(found, MMBENCH, "dev-en").values()] == [{"A": "x", "B": "3"}]


def test_the_order_of_the_questions_does_not_make_them_other_data() -> None:
    rows = [{"index": str(n), "question": f"{n}?", "A": "x", "B": 3, "answer": "A"} for n in range(3)]
    assert digest_of(rows) == digest_of(rows[::-1]) != digest_of([*rows[:2], {**rows[2], "answer": "B"}])


def test_a_table_of_yes_and_no_carries_its_questions_too() -> None:
    found = carried("pope", {"question": "Is it?", "answer": "Yes", "category": "popular,random"})
    assert found.rows == [{"index": "0", "question": "Is it?", "answer": "Yes", "category": "popular,random"}]


@each(
    ("name", "tool", "fields", "row"),
    [
        ("gsm8k", "lm-evaluation-harness", {"doc": {"question": "2+2?", "answer": "#### 4"}},
         {"index": "0", "question": "2+2?", "answer": "#### 4"}),
        ("gsm8k", "inspect_ai", {"doc": {"question": "2+2?", "options": None, "answer": "4"}},
         {"index": "0", "question": "2+2?", "options": None, "answer": "4"}),
        ("mmlu-pro", "lm-evaluation-harness", {"doc": {"query": "Which?", "choices": ["x", "y"]}, "target": 1},
         {"question_id": "0", "query": "Which?", "choices": ["x", "y"], "question": "Which?", "options": ["x", "y"],
          "answer": "B"}),
        ("vstar", "vlmevalkit", {"question": "Which?", "A": "x", "B": "y", "answer": "B"},
         {"question_id": "0", "question": "Which?", "A": "x", "B": "y", "answer": "B", "text": "Which? (A) x (B) y",
          "label": "B"}),
        ("mmstar", "vlmevalkit", {"question": "Which?", "options": "['a', 'b', 'c', 'd', 'e']", "answer": "B"},
         {"index": "0", "question": "Which?", "options": "['a', 'b', 'c', 'd', 'e']", "answer": "B", "A": "a", "B": "b",
          "C": "c", "D": "d", "E": "e"}),
        ("mmstar", "inspect_ai", {"doc": {"question": "Which?", "options": ["x", "y"], "answer": "B"}},
         {"index": "0", "question": "Which?", "options": ["x", "y"], "answer": "B", "A": "x", "B": "y"}),
    ],
)  # fmt: skip
def test_logs_carry_their_tasks_under_names_of_their_own(
    name: str, tool: str, fields: dict[str, object], row: dict[str, object]
) -> None:
    assert carried(name, fields, format=tool).rows == [row]


def test_other_files_and_tables_without_answers_carry_none() -> None:
    whole: dict[str, object] = {"A": "x", "B": "y", "answer": "A"}
    assert carried("mmbench", whole, format="grade") is None
    assert carried("mmbench", whole, {"A": "x", "B": "y"}) is None
    assert carried("mmbench", {"question": "Which?", "answer": "A"}) is None
    assert carried("gsm8k", {"input": "2+2?"}, format="lmms-eval") is None
