"""What a file carries of its tasks is compared with the data: contradictions are found, honest differences are none."""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

import grader
from grader.errors import InputError
from grader.predictions.data_match import check_file_matches_data, compare
from grader.predictions.file import PredictionFile, PredictionRecord
from grader.predictions.recorded_task import RecordedTask, recorded_task_of
from grader.results import Report
from grader.scorers import declarations
from grader.task import Task
from tests.tables import each

MMSTAR: Any = declarations.load("mmstar")
ASKED = "Which colour has the third ball from the left?"
TASK = Task(id="1", text=ASKED, options={"A": "red", "B": "blue", "C": "dark green", "D": "None"}, gold="B")
NUMBER = Task(id="2", text="Tom has 5 apples and gets 7 more. How many?", gold="12")


def differs(task: Task, recorded: RecordedTask) -> list[str]:
    return [comparison.part for comparison in compare(task, recorded) if not comparison.is_same]


@each(
    "recorded",
    [
        RecordedTask(
            question=f"<image 1>\nHint: look.\nQuestion: {ASKED.upper()}\nOptions:\nA. red\nAnswer with a letter."
        ),
        RecordedTask(question="Which colour has the third ball from the l..."),
        RecordedTask(question="Which colour has ... the left?"),
        RecordedTask(question=f"Look.\\nQuestion:\\n{ASKED}"),
        RecordedTask(options={"A": "a) red", "B": "b) blue", "C": "c) dark green", "D": "d) None"}),
        RecordedTask(options={"A": "A - red", "B": "B - blue", "C": "C - dark green", "D": "D - None"}),
        RecordedTask(options={"A": "red", "B": "blue", "C": "dark&nbsp;green", "D": "None"}),
        RecordedTask(question="Which  colour has\u00a0the third ball\nfrom the left ?"),
        RecordedTask(prompt="Q: Other one? A: x\nQ: Which colour has the third ball (from the left)?\nA:"),
        RecordedTask(options={"A": "A. red", "B": "B. Blue.", "C": "C. dark\u00a0green", "D": "D. None"}),
        RecordedTask(options={"A": "A. red", "B": "B. blue", "C": "C. dark green"}, golds=("B",)),
        RecordedTask(options={"A": "red", "B": "blue", "C": "dark green"}),
        RecordedTask(golds=("(B)",)),
        RecordedTask(golds=("blue",)),
        RecordedTask(golds=("1",)),
        RecordedTask(golds=("2",)),
        RecordedTask(golds=("check(f)",)),
        RecordedTask(options={"A": "red", "B": "blue", "C": "dark green"}, labels=("1", "2", "3"), golds=("2",)),
        RecordedTask(),
    ],
)
def test_honest_differences_contradict_nothing(recorded: RecordedTask) -> None:
    assert differs(TASK, recorded) == []


@each(
    ("recorded", "parts"),
    [
        (RecordedTask(question="Which colour has the first ball from the left?"), ["the question"]),
        (RecordedTask(question="Which colour has ... the right?"), ["the question"]),
        (RecordedTask(prompt="Q: How many wheels does a tandem bicycle need? A:"), ["the question"]),
        (RecordedTask(options={"A": "blue", "B": "red", "C": "dark green", "D": "None"}), ["the options"]),
        (RecordedTask(options={"A": "red", "B": "blue", "C": "dark green", "D": "grey"}), ["the options"]),
        (
            RecordedTask(options={"A": "red", "B": "blue", "C": "dark green", "D": "None", "E": "white"}),
            ["the options"],
        ),
        (RecordedTask(golds=("C",)), ["the gold answer"]),
        (RecordedTask(golds=("dark green",)), ["the gold answer"]),
        (RecordedTask(options={"A": "blue", "B": "red"}, golds=("B",)), ["the options", "the gold answer"]),
    ],
)
def test_contradictions_are_found(recorded: RecordedTask, parts: list[str]) -> None:
    assert differs(TASK, recorded) == parts


@each(
    ("golds", "is_same"),
    [
        (("5+7=12\n#### 12",), True),
        (("12.0",), True),
        (("11", "12"), True),
        (("twelve",), True),
        (("13",), False),
        (("112",), False),
        (("So it is 12 apples",), True),
    ],
)
def test_answers_are_compared_by_what_they_mean(golds: tuple[str, ...], *, is_same: bool) -> None:
    assert (differs(NUMBER, RecordedTask(golds=golds)) == []) is is_same


@each(("turned", "is_error"), [(3, False), (4, True)])
def test_a_file_that_differs_in_a_third_of_the_tasks_is_an_error(turned: int, *, is_error: bool) -> None:
    tasks = {str(n): Task(id=str(n), options={"A": "red", "B": "blue"}, gold="A") for n in range(10)}
    records = [
        PredictionRecord(
            qid=str(n),
            predictions=[""],
            fields={"A": "blue" if n < turned else "red", "B": "red" if n < turned else "blue"},
        )
        for n in range(10)
    ]
    file = PredictionFile(name="f", path=None, format="vlmevalkit", records=records)
    with pytest.raises(InputError) if is_error else nullcontext():
        assert "3 of 10" in check_file_matches_data(tasks, file, MMSTAR, "q")[0]


def test_a_question_of_many_equal_parts_is_compared_at_once() -> None:
    grid = Task(id="1", text="01" * 2_000)
    ends_in_other_digits = RecordedTask(question="...".join(["01" * 12] * 8 + ["2" * 30]))
    assert differs(grid, ends_in_other_digits) == ["the question"]


def test_a_long_option_may_be_cut_off_but_another_long_option_differs() -> None:
    task = Task(
        id="1", text=ASKED, options={"A": "the ball of the older sister", "B": "the ball of the uncle"}, gold="A"
    )
    assert not differs(task, RecordedTask(options={"A": "the ball of the older", "B": "the ball of the uncle"}))
    other = {"A": "the ball of the grandmother", "B": "the ball of the uncle"}
    assert differs(task, RecordedTask(options=other)) == ["the options"]


def test_a_spelling_that_was_mended_is_no_other_question_but_another_number_is_one() -> None:
    text = (
        "A farm has 3 barns. In each barn live 30 hens, and each lays one egg a day. How many eggs do they lay a day?"
    )
    task = Task(id="1", text=text)
    assert not differs(task, RecordedTask(question=text.replace("barns", "barnes")))
    assert differs(task, RecordedTask(question=text.replace("30", "40"))) == ["the question"]


@each(
    ("tool", "fields", "recorded"),
    [
        ("lmms-eval", {"doc": {"text": "Which?"}, "target": "A"}, RecordedTask(question="Which?", golds=("A",))),
        ("lmms-eval", {"input": "<image>Which?", "target": "A"},
         RecordedTask(question="<image>Which?", prompt="<image>Which?", golds=("A",))),
        ("lm-evaluation-harness", {"arguments": {"gen_args_0": {"arg_0": "Which?"}}, "target": 0},
         RecordedTask(prompt="Which?", golds=("0",))),
        ("lm-evaluation-harness",
         {"doc": {"question": "Which?", "choices": {"text": ["x", "y"], "label": ["1", "2"]}, "answerKey": "2"}},
         RecordedTask(question="Which?", options={"A": "x", "B": "y"}, labels=("1", "2"), golds=("2",))),
        ("lmms-eval", {"doc": {"question": "Which?", "choices": {"text": ["x", "y"], "label": None}}},
         RecordedTask(question="Which?", options={"A": "x", "B": "y"})),
        ("lmms-eval", {"doc": {"question": "Which?", "choices": {"text": ["x"], "label": ["1", "2"]}, "answer": "2"}},
         RecordedTask(question="Which?", options={"A": "x"}, labels=("1",), golds=("2",))),
        ("lmms-eval", {"doc": {"question": "Which?", "choices": {"A": "x", "AB": "y"}}},
         RecordedTask(question="Which?")),
        ("vlmevalkit", {"question": "Which?", "A": "x", "B": 2.0, "C": None, "answer": "B"},
         RecordedTask(question="Which?", options={"A": "x", "B": "2"}, golds=("B",))),
        ("mmmu-pro", {"question": "Which?", "options": "['x', 'y']", "answer": "A"},
         RecordedTask(question="Which?", options={"A": "x", "B": "y"}, golds=("A",))),
        ("grade", {"question": "Which?", "prompt": "...", "answer": "what it said"}, RecordedTask(question="Which?")),
    ],
)  # fmt: skip
def test_every_tool_names_the_parts_in_its_own_way(
    tool: Any, fields: dict[str, object], recorded: RecordedTask
) -> None:
    record = PredictionRecord(qid="1", predictions=["A"], fields=fields)
    assert (
        recorded_task_of(record, PredictionFile(name="f", path=None, format=tool, records=[record]), MMSTAR) == recorded
    )


def log(folder: Path, changed: int, *, subjects: int = 1) -> Report:
    """Grade a log of lm-evaluation-harness with ten questions, some of which are not those of the data."""
    rows = [{"question": f"How much is {n} times 3?", "answer": f"#### {3 * n}"} for n in range(10)]
    (folder / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    docs = [
        row if n >= changed else {"question": f"Who is number {n}?", "answer": f"#### {n}"}
        for n, row in enumerate(rows)
    ]
    docs += [{"question": f"Subject {s} asks {n}?", "answer": "#### 1"} for s in range(1, subjects) for n in range(10)]
    lines = [{"doc_id": n % 10, "doc": doc, "target": doc["answer"], "filtered_resps": [doc["answer"][5:]],
              "resps": [[doc["answer"]]], "filter": "none"} for n, doc in enumerate(docs)]  # fmt: skip
    (folder / "samples.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return grader.grade(folder / "samples.jsonl", benchmark="gsm8k", data=folder / "q.jsonl")


def test_a_file_of_other_tasks_is_refused_with_an_example_and_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        log(tmp_path, changed=5)
    (problem, *_) = caught.value.problems
    assert "samples.jsonl:1: 5 of 10 tasks that samples.jsonl describes differ from the data (q.jsonl)" in problem
    assert 'Task "0", the question: the file has "Who is number 0?", the data has "How much is 0 times 3?".' in problem
    assert "begin at 0 in every subject" in problem
    assert f"--data {tmp_path / 'samples.jsonl'}" in problem


def test_numbers_with_more_digits_than_python_reads_are_compared(tmp_path: Path) -> None:
    """`int` raises ValueError for them."""
    digits = "9" * 5000
    assert differs(TASK, RecordedTask(golds=(digits,))) == []
    assert RecordedTask(golds=(digits,), options=TASK.options).gold == digits
    rows = [{"question": f"How much is {n} times 3?", "answer": f"#### {3 * n}"} for n in range(4)]
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    lines = [
        {"doc_id": n, "doc": {"question": "Who are you?"}, "resps": [["3"]], "filter": "none"}
        for n in (digits, 1, 2, 3)
    ]
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(InputError, match="3 of 3 tasks"):
        grader.grade(tmp_path / "s.jsonl", benchmark="gsm8k", data=tmp_path / "q.jsonl")


def test_a_file_is_its_own_data_if_it_is_named_as_data(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        log(tmp_path, changed=10)
    file = tmp_path / "samples.jsonl"
    report = grader.grade(file, benchmark="gsm8k", data=file)
    assert report.metric("accuracy").value == 100  # type: ignore[union-attr]
    assert any("Nothing checks that they are those of GSM8K" in note.text for note in report.notes)


def test_a_log_without_its_options_is_not_its_own_data_and_not_offered_as_such(tmp_path: Path) -> None:
    file, data = tmp_path / "s.jsonl", tmp_path / "q.jsonl"
    asked = [f"Which letter is number {n}? A. a B. b" for n in range(10)]
    file.write_text(
        "".join(
            json.dumps({"doc_id": n, "input": q, "target": "A", "resps": [["A"]]}) + "\n" for n, q in enumerate(asked)
        )
    )
    row = {"question": "How many wheels?", "A": "one", "B": "two", "answer": "B"}
    data.write_text("".join(json.dumps({"index": n, **row}) + "\n" for n in range(10)))
    with pytest.raises(InputError) as caught:
        grader.grade(file, benchmark="mmstar", data=data)
    assert "its own data" not in caught.value.problems[0]
    with pytest.raises(InputError, match="cannot be its own data"):
        grader.grade(file, benchmark="mmstar", data=file)


def test_a_few_rows_that_differ_are_named(tmp_path: Path) -> None:
    (note,) = [note.text for note in log(tmp_path, changed=2).notes if "differ" in note.text]
    assert note == (
        '2 of 10 tasks that samples.jsonl describes differ from the data: "0" (the question), "1" (the question). '
        "They are graded by the data."
    )


def test_row_numbers_that_begin_again_in_every_subject_are_no_ids(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="10 of 10 ids stand for different tasks"):
        log(tmp_path, changed=0, subjects=2)
    with pytest.raises(InputError, match="10 of 10 ids stand for different tasks"):
        grader.grade(tmp_path / "samples.jsonl", benchmark="gsm8k", data=tmp_path / "samples.jsonl")
