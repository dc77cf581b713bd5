"""Checkpoints of one training run: their order, the gate's line, and what changed from each to the next."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from grader.decisions.comparison import RunName
from grader.decisions.history import History, history, in_order, step_of
from grader.errors import UsageError
from grader.reports.runs.history import sentences as lines_of
from grader.results import READINGS, Report
from grader.scorers.execution import metrics as execution_metrics
from grader.scorers.means import each_task, metric_rows
from tests.decisions.test_leaderboard import questions
from tests.made_runs import report, sample, tasks


def said_of(found: History) -> str:
    return " ".join(lines_of(found))


def made(*right: int, **given: object) -> History:
    runs = [(1000 * n, RunName(name=f"step {n}"), questions(number)) for n, number in enumerate(right, 1)]
    return history(runs, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("qwen2.5-7b-step1500_results.json", 1500),
        ("checkpoint-20/predictions_results.json", 20),
        ("run7/0030_results.json", 30),
        ("run/results_results.json", None),
    ],
)
def test_the_step_is_a_number_in_the_name(name: str, step: int | None) -> None:
    assert step_of(Path(name)) == step


def test_checkpoints_are_in_the_order_of_their_numbers() -> None:
    paths = [Path(f"step_{n}_results.json") for n in (1000, 200, 30)]
    assert [step for step, _ in in_order(paths)] == [30, 200, 1000]
    with pytest.raises(UsageError, match="have the same step 5"):
        in_order([Path("step_5_results.json"), Path("a/step_5_results.json")])
    with pytest.raises(UsageError, match="the name has no step"):
        in_order([Path("a/b_results.json")])


def test_each_change_is_tested_and_corrected_for_all_of_them() -> None:
    found = made(100, 110, 111, 60)
    changes = [point.change for point in found.checkpoints]
    assert changes[0] is None
    assert [change.value for change in changes if change] == pytest.approx([5, 0.5, -25.5])
    assert [len(change.risen) for change in changes if change] == [10, 1, 0]
    assert [len(change.fallen) for change in changes if change] == [0, 0, 51]
    first = changes[1]
    assert first.p_value == pytest.approx(2 * 0.5**10)
    assert first.corrected == pytest.approx(2 * first.p_value)  # the second smallest of three


def test_the_line_marks_what_is_below_it_and_the_best_is_the_first_of_equals() -> None:
    found = made(100, 160, 160, 120, line=75.0)
    assert [point.is_below for point in found.checkpoints] == [True, False, False, True]
    assert found.best == 1
    assert all(point.is_below is None for point in made(100, 120).checkpoints)


def test_the_lead_of_the_best_of_equal_checkpoints_is_that_of_chance() -> None:
    """20 equal checkpoints, 164 tasks, one sample of each: 4 points on average."""
    rng, leads, said = np.random.default_rng(1), [], []
    for _ in range(12):
        chance = rng.beta(0.5, 0.5, 164)
        runs = [(n, RunName(), tasks(rng.binomial(1, chance), samples=1)) for n in range(20)]
        found = history(runs)
        assert found.best is not None
        assert found.lead is not None
        leads.append(found.value(found.best) - 100 * chance.mean())
        said.append(found.lead)
    assert np.mean(said) == pytest.approx(np.mean(leads), rel=0.25)
    assert 3 < np.mean(said) < 6
    assert f"The best of 20 equal checkpoints would be {found.lead:.1f} points above their true value" in said_of(found)


def test_checkpoints_between_which_no_item_changes_have_no_lead_and_a_single_one_has_none() -> None:
    assert made(100).lead is None
    assert made(100, 100, 100).lead is None


def test_a_category_has_a_history_of_its_own() -> None:
    found = made(100, 150, metric="accuracy", group="category=x")
    assert [found.value(0), found.value(1)] == [50, 75]
    change = found.checkpoints[1].change
    assert (change.n, len(change.risen), len(change.fallen)) == (100, 25, 0)
    with pytest.raises(UsageError, match="No run has the metric 'pass@1'; the runs have accuracy"):
        made(100, metric="pass@1")


def test_the_items_that_changed_are_those_of_the_metric() -> None:
    """pass@1 of the first task changes, pass@3 only that of the second one."""
    runs = []
    for step, passed in enumerate([(5, 0), (3, 1)]):
        made = tasks(passed, samples=5)
        metrics = execution_metrics.metrics(made.samples, (1, 3), has_linter=False)
        runs.append((step, RunName(), msgspec.structs.replace(made, metrics=metrics)))
    changes = [history(runs, metric=name).checkpoints[1].change for name in ("pass@1", "pass@3")]
    items = [[[flip.item for flip in side] for side in (change.risen, change.fallen)] for change in changes if change]
    assert items == [[["t1"], ["t0"]], [["t1"], []]]


def test_unscored_samples_are_named_with_the_value_that_they_are_excluded_from() -> None:
    samples = [sample("a", "unscored", official="wrong", group="c=x"), sample("b", "correct", group="c=y")]
    runs = [(1, RunName(), report(samples, metric_rows(samples, "accuracy", each_task)))]
    note = "Step 1: 1 sample unscored, excluded from the careful value."
    assert [history(runs, reading=reading).notes for reading in READINGS] == [[note], [note]]
    assert [history(runs, group=group).notes for group in ("c=x", "c=y")] == [[note], []]


def with_strengths(passing: dict[str, bool]) -> Report:
    """A run of 40 questions whose tests are strong and 40 whose tests are weak."""
    samples = [
        sample(f"{level}{number}", "passed" if number < 10 + 10 * passing[level] else "failed",
               group=f"test_strength={level}")
        for level in ("strong", "weak")
        for number in range(40)
    ]  # fmt: skip
    return report(samples, metric_rows(samples, "accuracy", each_task), scorer="multiple_choice")


@pytest.mark.parametrize(
    ("gains", "notes"),
    [
        (
            {"strong": False, "weak": True},
            [
                "Step 2: the gain of 12.5 points is not on tasks with strong tests (accuracy there: 25.0, then "
                "25.0; 40 tasks). The tests of the other tasks let mutants (changed reference solutions) pass."
            ],
        ),
        ({"strong": True, "weak": False}, []),
        ({"strong": False, "weak": False}, []),
    ],
)
def test_a_gain_only_on_tasks_with_weak_tests_is_named(gains: dict[str, bool], notes: list[str]) -> None:
    first, then = with_strengths({"strong": False, "weak": False}), with_strengths(gains)
    assert history([(1, RunName(), first), (2, RunName(), then)]).notes == notes
