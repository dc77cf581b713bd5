"""Figures of an execution benchmark: by group, in both readings, with bounds where samples are unscored."""

import functools
import itertools

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.results import Calls, Metric, Outcome, Reading, SampleResult
from grader.scorers.execution import metrics as execution
from grader.scorers.interface import missing_reading

metrics = functools.partial(execution.metrics, has_linter=True)
P, F, L, S, U = Outcome.PASSED, Outcome.FAILED, Outcome.LINT_FAILED, Outcome.SUSPECT, Outcome.UNSCORED
N = Outcome.NOT_JUDGED


def reading(outcome: Outcome) -> Reading:
    return Reading(outcome=outcome, credit=None if outcome is N else int(outcome is P))


def task(qid: str, official: str, careful: str | None = None, **groups: str | list[str]) -> list[SampleResult]:
    """Samples of one task; P passed, F failed, L lint failed, S suspect, U unscored, N not judged."""
    letters = {"P": P, "F": F, "L": L, "S": S, "U": U, "N": N}
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


def test_the_official_parse_rate_divides_by_the_last_records_samples_times_the_records() -> None:
    samples = task("a", "LPPP") + task("b", "PL")
    rows = metrics(samples, (1,))
    assert figure(rows, "parse_success_rate").value == pytest.approx(100 * (1 - 2 / (2 * 2)))
    assert figure(rows, "parse_success_rate", "careful").value == pytest.approx(100 * (1 - 2 / 6))


def test_unscored_samples_are_left_out_and_the_bounds_say_what_they_could_do() -> None:
    rows = metrics(task("a", "PFUU") + task("b", "PPFF"), (1, 3))
    one, three = figure(rows, "pass@1"), figure(rows, "pass@3")
    assert (one.value, one.n) == (pytest.approx(50), 2)
    assert one.bounds == pytest.approx((37.5, 62.5))
    # Two scored samples are too few for pass@3: the task counts in the bounds alone.
    assert (three.value, three.n) == (pytest.approx(100), 1)
    assert three.bounds == pytest.approx(((75 + 100) / 2, 100))


def test_the_share_of_right_calls_has_bounds_too() -> None:
    calls = Calls(n=4, same=1)
    first, second = task("a", "FU"), task("b", "U")
    samples = [msgspec.structs.replace(first[0], calls=calls), first[1], *second]
    row = figure(metrics(samples, (1,)), "calls_right", "careful")
    assert (row.value, row.n, row.bounds, row.dropped) == (25, 1, (6.25, 81.25), 1)
    assert [m for m in metrics(second, (1,)) if m.name == "calls_right"] == []


def test_unscored_samples_are_no_parse_successes_and_leave_bounds() -> None:
    rows = [row for row in metrics(task("a", "UL"), (1,)) if row.name == "parse_success_rate"]
    assert [(row.value, row.bounds) for row in rows] == [(0, (0, 50)), (0, (0, 50))]
    rows = [row for row in metrics([*task("a", "UU"), *task("b", "PP")], (1,)) if row.bounds is not msgspec.UNSET]
    assert {(row.name, row.n, row.dropped) for row in rows} == {("pass@1", 1, 1), ("parse_success_rate", 1, 1)}


def test_a_task_without_predictions_is_wrong_in_every_metric() -> None:
    missing = missing_reading(F)
    known = Calls(n=4, same=2)
    samples = [
        SampleResult(qid="a", sample=0, official=reading(F), careful=reading(F), calls=known, groups={"type": "x"}),
        SampleResult(qid="b", sample=0, official=missing, careful=missing, groups={"type": "y"}),
    ]
    rows = metrics(samples, (1,))
    assert {(r.name, r.group, r.value, r.n) for r in rows if r.reading == "careful" and r.name != "pass@1"} == {
        *(("parse_success_rate", None, 50, 2), ("calls_right", None, 25, 2)),
        *(("parse_success_rate", "type=x", 100, 1), ("calls_right", "type=x", 50, 1)),
        *(("parse_success_rate", "type=y", 0, 1), ("calls_right", "type=y", 0, 1)),
    }
    parsed, called = (execution.observation_function(name) for name in ("parse_success_rate", "calls_right"))
    assert (parsed(samples[1:], "official"), called(samples[1:], "careful")) == (0, 0)
    assert "calls_right" not in {row.name for row in metrics(samples[1:], (1,))}


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
            assert value([t.replace("U", "F") for t in tasks]) == value([t.replace("U", "P") for t in tasks])


def test_a_value_is_within_its_bounds_and_known_where_they_coincide() -> None:
    """A task whose only pass is known has pass@4 = 100, whatever the lost sample would have been."""
    (found,) = [r for r in metrics(task("a", "FFFF") + task("b", "PFFU"), (4,)) if r.name == "pass@4"][:1]
    assert (found.value, found.bounds, found.dropped) == (50, (50, 50), msgspec.UNSET)
    samples = task("a", "PPPP") + [s for n in range(3) for s in task(f"b{n}", "FFFU")]
    found = figure(metrics(samples, (4,)), "pass@4")
    assert (found.value, found.bounds, found.n, found.dropped) == (100, (25, 100), 1, 3)
    lost = task("a", "PPPP") + task("b", "FFFU") + task("c", "FFFF") + task("d", "FFFF")
    assert figure(metrics(lost, (4,)), "pass@4").value == pytest.approx(100 / 3)


def test_a_task_that_is_not_judged_is_in_no_careful_figure_and_in_no_bound() -> None:
    samples = task("a", "PF", type="x") + task("b", "PP", "NN", type="x") + task("c", "PP", "NN", type="y")
    rows = metrics(samples, (1, 2))
    assert (figure(rows, "pass@1").value, figure(rows, "pass@1").n) == (pytest.approx(250 / 3), 3)
    careful = figure(rows, "pass@1", "careful")
    assert (careful.value, careful.n, careful.bounds, careful.dropped) == (50, 1, msgspec.UNSET, msgspec.UNSET)
    assert figure(rows, "parse_success_rate", "careful").n == 1
    for name in ("pass@1", "pass@2", "parse_success_rate"):
        nothing = figure(rows, name, "careful", "type=y")
        assert (nothing.value, nothing.n, nothing.bounds) == (None, 0, msgspec.UNSET)
    assert not any(sample.differs for sample in samples)
    assert execution.observation_function("pass@1")(samples[2:4], "careful") is None  # type: ignore[misc]
