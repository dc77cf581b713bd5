"""Figures of an execution benchmark: by group, in both readings, with bounds where samples are unscored."""

from __future__ import annotations

import itertools
import math
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.benchmark import Protocol, load
from grader.data import Rows
from grader.errors import InputError, UsageError
from grader.results import Metric, Outcome, Reading, SampleResult
from grader.scoring.execution import metrics, tasks_from, wanted_k

P, F, L, S, U = Outcome.PASSED, Outcome.FAILED, Outcome.LINT_FAILED, Outcome.SUSPECT, Outcome.UNSCORED


def reading(outcome: Outcome) -> Reading:
    return Reading(outcome=outcome, credit=int(outcome is P))


def task(qid: str, official: str, careful: str | None = None, **groups: str | list[str]) -> list[SampleResult]:
    """Samples of one task; P passed, F failed, L lint failed, S suspect, U unscored."""
    letters = {"P": P, "F": F, "L": L, "S": S, "U": U}
    return [
        SampleResult(
            qid=qid,
            sample=number,
            official=reading(letters[a]),
            careful=reading(letters[b]),
            groups=groups or msgspec.UNSET,
        )
        for number, (a, b) in enumerate(zip(official, careful or official, strict=True))
    ]


def figure(rows: list[Metric], name: str, which: str = "official", group: str | None = None) -> Metric:
    (row,) = [r for r in rows if (r.name, r.reading, r.group) == (name, which, group)]
    return row


def test_pass_at_k_is_the_mean_over_tasks_of_the_unbiased_estimate() -> None:
    rows = metrics(task("a", "PPFF") + task("b", "FFFF") + task("c", "PPPP"), (1, 3))
    assert figure(rows, "pass@1").value == pytest.approx(100 * (0.5 + 0 + 1) / 3)
    assert figure(rows, "pass@3").value == pytest.approx(100 * (1 + 0 + 1) / 3)
    assert figure(rows, "pass@1").n == 3


def test_every_figure_is_there_in_both_readings_overall_and_by_group() -> None:
    samples = task("a", "PP", "PS", type="x", aspect=["m", "n"]) + task("b", "PF", type="y", aspect=["n"])
    rows = metrics(samples, (1, 2))
    groups = [None, "aspect=m", "aspect=n", "type=x", "type=y"]
    names = ["pass@1", "pass@2", "parse_success_rate"]
    assert [(r.group, r.reading, r.name) for r in rows] == list(
        itertools.product(groups, ["official", "careful"], names)
    )
    assert {g: figure(rows, "pass@1", "official", g).value for g in groups} == {
        None: 75, "aspect=m": 100, "aspect=n": 75, "type=x": 100, "type=y": 50,
    }  # fmt: skip
    assert {g: figure(rows, "pass@1", "careful", g).value for g in groups} == {
        None: 50, "aspect=m": 50, "aspect=n": 50, "type=x": 50, "type=y": 50,
    }  # fmt: skip


def test_one_sample_a_task_has_the_interval_of_a_proportion() -> None:
    samples = [sample for n in range(253) for sample in task(f"q{n}", "P" if n < 93 else "F")]
    row = figure(metrics(samples, (1,)), "pass@1")
    assert row == Metric(
        name="pass@1",
        reading="official",
        value=pytest.approx(9300 / 253),
        stderr=pytest.approx(100 * math.sqrt(93 / 253 * 160 / 253 / 252)),
        ci95=pytest.approx((31.06, 42.86), abs=0.01),
        n=253,
    )


def test_the_official_parse_rate_divides_by_the_last_records_samples_times_the_records() -> None:
    samples = task("a", "LPPP") + task("b", "PL")
    rows = metrics(samples, (1,))
    assert figure(rows, "parse_success_rate").value == pytest.approx(100 * (1 - 2 / (2 * 2)))
    assert figure(rows, "parse_success_rate", "careful").value == pytest.approx(100 * (1 - 2 / 6))


def test_the_parse_rate_of_equal_tasks_is_the_share_of_samples_that_parse() -> None:
    rows = metrics(task("a", "LPFP") + task("b", "PLLP"), (1,))
    row = figure(rows, "parse_success_rate")
    assert (row.value, row.n) == (pytest.approx(62.5), 2)


def test_unscored_samples_are_left_out_and_the_bounds_say_what_they_could_do() -> None:
    rows = metrics(task("a", "PFUU") + task("b", "PPFF"), (1, 3))
    one, three = figure(rows, "pass@1"), figure(rows, "pass@3")
    assert (one.value, one.n) == (pytest.approx(50), 2)
    assert one.bounds == pytest.approx((37.5, 62.5))
    # Two scored samples are too few for pass@3: the task counts in the bounds alone.
    assert (three.value, three.n) == (pytest.approx(100), 1)
    assert three.bounds == pytest.approx(((75 + 100) / 2, 100))


def test_without_unscored_samples_there_are_no_bounds() -> None:
    assert all(row.bounds is msgspec.UNSET for row in metrics(task("a", "PF"), (1,)))


def test_where_everything_is_unscored_there_is_no_figure() -> None:
    assert metrics(task("a", "UU"), (1,)) == []


def test_unscored_samples_are_no_parse_successes_and_leave_bounds() -> None:
    rows = [row for row in metrics(task("a", "UL"), (1,)) if row.name == "parse_success_rate"]
    assert [(row.value, row.bounds) for row in rows] == [(0, (0, 50)), (0, (0, 50))]


@given(st.lists(st.text("PFLSU", min_size=3, max_size=6), min_size=1, max_size=6), st.sampled_from([1, 2, 3]))
def test_the_bounds_hold_every_way_the_unscored_samples_could_have_gone(tasks: list[str], k: int) -> None:
    def value(letters: list[str]) -> float:
        samples = [sample for n, text in enumerate(letters) for sample in task(f"q{n}", text)]
        return figure(metrics(samples, (k,)), f"pass@{k}").value

    samples = [sample for n, text in enumerate(tasks) for sample in task(f"q{n}", text)]
    found = [row for row in metrics(samples, (k,)) if (row.name, row.reading) == (f"pass@{k}", "official")]
    for row in found:
        assert 0 <= row.value <= 100
        if row.bounds is not msgspec.UNSET:
            assert row.bounds == pytest.approx(
                (value([t.replace("U", "F") for t in tasks]), value([t.replace("U", "P") for t in tasks]))
            )
        else:
            assert not any("U" in text for text in tasks)


# --- which k ----------------------------------------------------------------------------------------------------


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
        "tasks.jsonl: row 3 has no text in function_signature, test_script",
        "tasks.jsonl: row 4 has no text in test_script",
        "tasks.jsonl: row 5 has no text in qid, function_signature, test_script",
    ]
