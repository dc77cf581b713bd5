"""From rows to items, and from replies to both readings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from grader import benchmark
from grader.data.rows import Rows
from grader.errors import UsageError
from grader.predictions.read import PredictionFile, PredictionRecord
from grader.scorers.choice.items import (
    absent,
    baselines,
    carried_rows,
    cell,
    items_from,
    official_reader,
    options_in,
    read_replies,
    sample_of,
)

if TYPE_CHECKING:
    from grader.benchmark import Benchmark

MMBENCH, VSTAR = benchmark.load("mmbench"), benchmark.load("vstar")


def items(*rows: dict[str, Any], of: Benchmark = MMBENCH, split: str | None = None) -> list[Any]:
    made = items_from(Rows(rows=list(rows), origin="rows", digest=""), of, of.split(split)[0])
    return list(made.values())


ROW = {"index": 1000007, "question": "Which?", "A": "None", "B": "nan", "C": "", "D": None, "answer": "B",
       "l2-category": "logic_reasoning", "category": "ocr"}  # fmt: skip


@pytest.mark.parametrize(
    ("value", "text"),
    [("None", "None"), ("NA", "NA"), ("nan", "nan"), (" ", " "), (3, "3"), (3.0, "3"), (2.5, "2.5"), (True, "True"),
     ("", None), (None, None), (float("nan"), None)],
)  # fmt: skip
def test_only_an_empty_cell_is_empty(value: object, text: str | None) -> None:
    assert cell(value) == text


def test_a_row_becomes_an_item_with_its_question_options_and_groups() -> None:
    (item,) = items(ROW)
    assert (item.qid, item.unit, item.options, item.answer) == ("1000007", "7", {"A": "None", "B": "nan"}, "B")
    assert item.groups == {"l2-category": "logic_reasoning", "category": "ocr", "l1-category": "reasoning"}


def test_the_options_of_vstar_stand_in_the_text_and_are_counted() -> None:
    text = f"Is (the A) it? (A) left (B) right side (C) top {VSTAR.prompt}"
    (item,) = items({"question_id": 3.0, "text": text, "label": "B", "category": "c"}, of=VSTAR)
    assert (item.qid, item.options) == ("3", {"A": "left", "B": "right side", "C": "top"})
    assert item.groups == {"category": "c", "options": "3"}


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("no options", {}),
        ("(A) one", {"A": "one"}),
        ("(B) one (C) two", {}),
        ("the item (A) or so? (A) one (B) two", {"A": "one", "B": "two"}),
        ("(A) (B) two", {"A": "", "B": "two"}),
        ("(A) one\n(B) two\n", {"A": "one", "B": "two"}),
    ],
)
def test_options_in_a_text_are_the_last_run_of_letters_from_a(text: str, options: dict[str, str]) -> None:
    assert options_in(text) == options


def test_baselines_are_given_for_all_and_by_group() -> None:
    rows = [
        {"question_id": "1", "text": "x (A) a (B) b", "label": "A", "category": "c"},
        {"question_id": "2", "text": "x (A) a (B) b (C) c (D) d", "label": "D", "category": "c"},
    ]
    assert baselines(items(*rows, of=VSTAR)) == {
        "all": {"chance": 37.5, "always_first_letter": 50.0},
        "category=c": {"chance": 37.5, "always_first_letter": 50.0},
        "options=2": {"chance": 50.0, "always_first_letter": 100.0},
        "options=4": {"chance": 25.0, "always_first_letter": 0.0},
    }


def test_every_protocol_has_a_reader_and_other_names_are_refused() -> None:
    for declared in (MMBENCH, VSTAR):
        for protocol in declared.protocols.values():
            assert official_reader(protocol.reader)("B", {"A": "x", "B": "y"}).letter == "B"
    with pytest.raises(UsageError, match="The protocol's reader '' is none that grade has"):
        official_reader("")


def test_a_reply_has_both_readings_and_says_which_is_right() -> None:
    made = items({"index": 1, "question": "Which?", "A": "cat", "B": "dog", "answer": "B"})
    replies = read_replies(made, {"1": ["The answer is a dog", "dog?", "cat or dog"]}, "vlmevalkit-2026-06")
    samples = [sample_of(reply) for reply in replies]
    got = [(s.sample, s.official.outcome, s.official.answer, s.careful.outcome, s.careful.answer) for s in samples]
    assert got == [
        (0, "wrong", "A", "correct", "B"),
        (1, "correct", "B", "correct", "B"),
        (2, "no_answer", None, "ambiguous", None),
    ]
    assert [s.extra for s in samples] == [{"gold": "B"}] * 3


def test_a_reply_that_is_not_there_is_no_answer_in_both_readings() -> None:
    (item,) = items(ROW)
    gone = absent(item, 2)
    assert (gone.qid, gone.sample, gone.cluster, gone.extra) == ("1000007", 2, "7", {"gold": "B"})
    assert gone.official == gone.careful
    assert (gone.official.outcome, gone.official.rule) == ("no_answer", "missing")


def table_file(*fields: dict[str, object], format: str = "vlmevalkit") -> PredictionFile:  # noqa: A002
    records = [
        PredictionRecord(qid=str(n), predictions=["A"], fields=more, prompts=None, where="f:1")
        for n, more in enumerate(fields)
    ]
    return PredictionFile(name="model.xlsx", path=None, format=format, records=records)  # type: ignore[arg-type]


def test_a_vlmevalkit_table_carries_its_questions() -> None:
    carried = carried_rows(table_file({"question": "Which?", "A": "x", "B": 3, "answer": "A"}), MMBENCH)
    assert carried is not None
    assert carried.rows == [{"index": "0", "question": "Which?", "A": "x", "B": 3, "answer": "A"}]
    assert carried.origin == "model.xlsx (its own questions)"
    assert [item.options for item in items(*carried.rows)] == [{"A": "x", "B": "3"}]


def test_other_files_and_tables_without_answers_carry_none() -> None:
    whole: dict[str, object] = {"A": "x", "B": "y", "answer": "A"}
    assert carried_rows(table_file(whole, format="grade"), MMBENCH) is None
    assert carried_rows(table_file(whole, {"A": "x", "B": "y"}), MMBENCH) is None
