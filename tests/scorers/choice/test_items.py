"""From rows to items, and from replies to both readings."""

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from grader.data.tables import Rows, cell
from grader.errors import GradeError, InputError
from grader.grading import grade
from grader.observer import Silent
from grader.options import Options
from grader.scorers import declarations
from grader.scorers.choice.declaration import ChoiceBenchmark, Shuffled
from grader.scorers.choice.facts import ChoiceFacts
from grader.scorers.choice.items import Item, items_from, options_in, with_options_in_drawn_order
from grader.scorers.choice.metrics import facts_of
from grader.scorers.choice.replies import LARGE, read_replies, sample_of
from tests.observers import Noting
from tests.own import own
from tests.tables import each

MMBENCH: ChoiceBenchmark = declarations.load("mmbench")  # type: ignore[assignment]
VSTAR: ChoiceBenchmark = declarations.load("vstar")  # type: ignore[assignment]


def items(*rows: dict[str, Any], of: ChoiceBenchmark = MMBENCH, split: str | None = None) -> list[Item]:
    made = items_from(Rows(rows=list(rows), origin="rows", digest=""), of, of.split(split)[0])
    return list(made.values())


ROW = {"index": 1000007, "question": "Which?", "A": "None", "B": "nan", "C": "", "D": None, "answer": "B",
       "l2-category": "logic_reasoning", "category": "ocr"}  # fmt: skip


@each(
    ("value", "text"),
    [("None", "None"), ("NA", "NA"), ("nan", "nan"), (" ", " "), (3, "3"), (3.0, "3"), (2.5, "2.5"), (True, "True"),
     ("", None), (None, None), (float("nan"), None)],
)  # fmt: skip
def test_only_an_empty_cell_is_empty(value: object, text: str | None) -> None:
    assert cell(value) == text


@each("text", ["A\uff0e0 m  B\uff0eDNA  C\uff0e3\n", "A. 0 m B. DNA\nC. 3", "A\uff0e0 m\n\nB\uff0e\n\nDNA\nC\uff0e3"])
def test_options_behind_full_stops_may_share_a_line(text: str) -> None:
    assert options_in(text) == {"A": "0 m", "B": "DNA", "C": "3"}


@each("mark", ["A. {}", "A) {}", "  A.  {}"])
def test_options_in_the_text_may_be_lines(mark: str) -> None:
    lines = [
        mark.replace("A", letter).format(text) for letter, text in zip("ABC", ("red", "blue", "grey"), strict=True)
    ]
    assert options_in("A. Smith asks: which?\n" + "\n".join(lines)) == {"A": "red", "B": "blue", "C": "grey"}


def with_options(**declared: Any) -> ChoiceBenchmark:
    columns = msgspec.structs.replace(
        MMBENCH.columns, id="id", question="q", answer="answer", options="o", groups=[], group_index=None
    )
    return msgspec.structs.replace(
        MMBENCH, columns=columns, scoring="multiple_choice", derived={}, letters="ABCD", **declared
    )


@each(
    ("options", "answer", "first", "gold"),
    [
        (["red", "blue"], 1, 0, "B"),
        (["red", "blue"], "1", 1, "A"),
        ({"text": ["red", "blue"], "label": ["A", "B"]}, "B", None, "B"),
        ({"text": ["red", "blue"], "label": ["1", "2"]}, "2", None, "B"),
        ('{"text": ["red", "blue"], "label": ["1", "2"]}', "2", None, "B"),
        ({"text": ["red", "blue"], "label": None}, "B", None, "B"),
        (["A) red", "B) blue"], "A", None, "A"),
        (["(A) red", "(B)  blue"], "A", None, "A"),
    ],
)
def test_options_and_answers_in_the_forms_of_published_data(
    options: object, answer: object, first: int | None, gold: str
) -> None:
    (item,) = items({"id": "1", "q": "Which?", "o": options, "answer": answer}, of=with_options(answer_from=first))
    assert (item.options, item.gold) == ({"A": "red", "B": "blue"}, gold)


def test_a_letter_that_only_one_option_begins_with_is_a_part_of_it() -> None:
    (item,) = items({"id": "1", "q": "Which?", "o": ["A. Smith", "Jones"], "answer": "A"}, of=with_options())
    assert item.options == {"A": "A. Smith", "B": "Jones"}


def test_the_options_of_vstar_stand_in_the_text_and_are_counted() -> None:
    text = f"Is (the A) it? (A) left (B) right side (C) top {VSTAR.prompt}"
    (item,) = items({"question_id": 3.0, "text": text, "label": "B", "category": "c"}, of=VSTAR)
    assert (item.id, item.options) == ("3", {"A": "left", "B": "right side", "C": "top"})
    assert item.groups == {"category": "c", "options": "3"}


@each(
    ("text", "options"),
    [
        ("no options", {}),
        ("(A) one", {"A": "one"}),
        ("(B) one (C) two", {}),
        ("the item (A) or so? (A) one (B) two", {"A": "one", "B": "two"}),
        ("(A) (B) two", {"A": "", "B": "two"}),
        ("(A) one\n(B) two\n", {"A": "one", "B": "two"}),
        ("Which? A. one B. two three C) four", {"A": "one", "B": "two three", "C": "four"}),
        ("\u54ea\u4e2a\uff1f\uff08\uff21\uff09\u7ea2 \uff08\uff22\uff09\u84dd", {"A": "\u7ea2", "B": "\u84dd"}),
        ("\u54ea\u4e2a\uff1f A\uff0e\u7ea2 B\uff0e\u84dd", {"A": "\u7ea2", "B": "\u84dd"}),
        ("\u54ea\u4e2a\uff1f\nA\u3001\u7ea2\nB\u3001\u84dd", {"A": "\u7ea2", "B": "\u84dd"}),
        ("Is it E. coli?", {}),
    ],
)
def test_options_in_a_text_are_the_last_run_of_letters_from_a(text: str, options: dict[str, str]) -> None:
    assert options_in(text) == options


def test_a_reply_has_both_readings_and_says_which_is_right() -> None:
    made = items({"index": 1, "question": "Which?", "A": "cat", "B": "dog", "answer": "B"})
    replies = read_replies(
        made, {"1": ["The answer is a dog", "dog?", "cat or dog"]}, "vlmevalkit-2026-06", Silent(), {}
    )
    samples = [sample_of(reply) for reply in replies]
    got = [(s.sample, s.official.outcome, s.official.answer, s.careful.outcome, s.careful.answer) for s in samples]
    assert got == [
        (0, "wrong", "A", "correct", "B"),
        (1, "correct", "B", "correct", "B"),
        (2, "no_answer", None, "no_answer", None),
    ]
    assert [facts_of(s) for s in samples] == [ChoiceFacts(gold="B")] * 3


def test_the_progress_of_large_replies_is_shown_and_the_largest_are_announced() -> None:
    made = items({"index": 1, "question": "Which?", "A": "cat", "B": "dog", "answer": "B"})
    told = Noting()
    read_replies(made, {"1": ["B", " " * LARGE, " " * (LARGE // 2)]}, "vlmevalkit-2026-06", told, {})
    assert (told.phases, told.steps) == ([("reading answers (MB)", 6)], [0, 4, 2])
    assert told.messages == ["Reading an answer of 4 MB (question 1): this takes up to a second per MB."]
    small = Noting()
    read_replies(made, {"1": ["B"]}, "vlmevalkit-2026-06", small, {})
    assert (small.phases, small.steps, small.messages) == ([], [], [])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"options": []}, "rows.jsonl:1: 1: no options"),
        ({"options": {"A": ""}}, "rows.jsonl:1: 1: no options"),
        ({"options": "a|b"}, 'rows.jsonl:1: 1: no options: options is "a|b", not a list or an object'),
        ({"options": None}, "rows.jsonl: no column options"),
        ({"answer": "C"}, "rows.jsonl:1: 1: the answer 'C' is not one of its options"),
        ({"reader": "nonsense"}, "reader 'nonsense' is unknown; known: "),
    ],
)
def test_a_bad_row_or_reader_is_one_clear_error(change: dict[str, object], message: str, tmp_path: Path) -> None:
    reader = change.pop("reader", "mmlu-pro")
    declared = (
        'scoring = "multiple_choice"\n'
        'columns = {id = "id", question = "question", answer = "answer", options = "options"}\n'
        f'protocols.p.reader = "{reader}"\n'
    )
    row = {"id": "1", "question": "Which?", "options": ["a", "b"], "answer": "A"} | change
    answers = own(tmp_path, declared, [row], {"1": ["A"]})
    with pytest.raises(GradeError, match=re.escape(message)):
        grade(answers, Options(benchmark=str(tmp_path)), Silent())


def test_shuffled_options_have_the_order_that_a_seed_gives() -> None:
    declared = msgspec.structs.replace(MMBENCH, shuffled=Shuffled(columns=["right", "x", "y", "z"], seed=0))
    rows = [{"index": n, "question": "?", "right": "r", "x": "1", "y": "2", "z": "3"} for n in range(3)]
    # random.Random(0): three times `sample(range(4), 4)`, as simple-evals does for GPQA.
    assert [(item.gold, "".join(item.options.values())) for item in items(*rows, of=declared)] == [
        ("C", "31r2"),
        ("D", "312r"),
        ("C", "23r1"),
    ]
    single = Rows(rows=rows[2:], origin="task", digest="", is_single=True)
    with pytest.raises(InputError, match="the order of its options depends on the rows before it"):
        with_options_in_drawn_order(single, declared)


@each("gold", ["AC", "CA", "A, C", "(A) and (C)", ["A", "C"]])
@each(
    ("reply", "credit"),
    [("The answer is AC.", 1), ("A, C", 1), ("C and A", 1), (r"\boxed{A, C}", 1), ("So both (A) and (C) are right.", 1),
     ("A. red\nC. green", 1), ("It is none of B and D.\n\nAC", 1), ("The answer is A.", 0), ("ABC", 0), ("ABCD", 0)],
)  # fmt: skip
def test_several_gold_letters_are_compared_as_a_set(gold: object, reply: str, credit: int) -> None:
    (item,) = items(ROW | {"A": "red", "B": "blue", "C": "green", "D": "yellow", "answer": gold})
    assert (item.gold, item.broken) == ("AC", "")
    (read,) = read_replies([item], {item.id: [reply]}, "vlmevalkit-2026-06", Silent(), {})
    assert sample_of(read).careful.credit == credit
