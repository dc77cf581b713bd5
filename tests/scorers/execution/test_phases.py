"""Tasks made from rows, and the ks that their samples allow."""

from __future__ import annotations

from typing import Any

import pytest

from grader.benchmark import Protocol, load
from grader.data.rows import Rows
from grader.errors import InputError, UsageError
from grader.scorers.execution.phases import tasks_from, wanted_k


@pytest.mark.parametrize(
    ("asked", "counts", "k", "wanted"),
    [
        ((), [1, 1], 3, (1,)),
        ((), [6, 6], 3, (1, 3)),
        ((), [6, 2], 3, (1,)),
        ((), [20], 10, (1, 10)),
        ((), [], 3, (1,)),
        ((5, 1, 5), [6], 3, (1, 5)),
    ],
)
def test_the_ks_are_those_asked_for_or_the_protocols_where_every_task_has_the_samples(
    asked: tuple[int, ...], counts: list[int], k: int, wanted: tuple[int, ...]
) -> None:
    assert wanted_k(asked, counts, Protocol(k=k)) == wanted


def test_a_k_that_some_task_has_too_few_samples_for_is_an_error_that_says_so() -> None:
    with pytest.raises(UsageError) as caught:
        wanted_k((1, 10), [20, 6], Protocol(k=10))
    assert str(caught.value) == (
        "pass@10 needs at least 10 samples of every task, and some task has only 6: "
        "there is no unbiased estimate. Give -k at most 6."
    )


# --- tasks ------------------------------------------------------------------------------------------------------

ROW: dict[str, Any] = {"qid": "q1", "function_signature": "def solution(a):", "test_script": "assert solution(1)"}


def rows(*items: dict[str, Any]) -> Rows:
    return Rows(rows=list(items), origin="tasks.jsonl", digest="")


def test_groups_are_the_task_type_and_the_aspects_that_a_task_has() -> None:
    aspects = {
        "Geometric Objects": ["Circle"],
        "Data Structures": [],
        "Common Sense": None,
        "Dynamic Patterns": ["Spiral"],
    }
    made = tasks_from(rows(ROW | {"task_type": "Aggregation", "capability_aspects": aspects}), load("humaneval-v"))
    assert made["q1"].groups == {
        "task_type": "Aggregation", "capability_aspects": ["Geometric Objects", "Dynamic Patterns"],
    }  # fmt: skip


@pytest.mark.parametrize("extra", [{}, {"task_type": None}, {"task_type": "", "capability_aspects": {}}])
def test_a_task_without_labels_is_in_no_group(extra: dict[str, Any]) -> None:
    assert tasks_from(rows(ROW | extra), load("humaneval-v"))["q1"].groups == {}


def test_every_row_that_lacks_something_is_named() -> None:
    with pytest.raises(InputError) as caught:
        tasks_from(rows(ROW, ROW, {"qid": "q2"}, ROW | {"qid": "q3", "test_script": 3}, {}), load("humaneval-v"))
    assert caught.value.problems == [
        "tasks.jsonl: row 2: task 'q1' stands twice",
        "tasks.jsonl: row 3: no text in function_signature, test_script",
        "tasks.jsonl: row 4: no text in test_script",
        "tasks.jsonl: row 5: no text in qid, function_signature, test_script",
    ]
