"""What to buy: plans against simulation."""

import numpy as np
import pytest

from grader.decisions.plan import in_words, make
from grader.errors import UsageError
from grader.results import Report
from grader.scorers.means import values_by_round
from grader.scorers.registry import scorer_of
from grader.statistics import plan
from grader.statistics.paired import difference
from tests.made_runs import choice, circular, mr_ben, tasks


def test_the_variance_is_split_into_that_of_tasks_and_that_of_samples() -> None:
    rng = np.random.default_rng(0)
    chance = rng.beta(0.6, 0.6, 4000)
    found = plan.variances((rng.random((4000, 5)) < chance[:, None]).astype(float).tolist())
    assert found.is_split
    assert found.tasks == pytest.approx(chance.var(), rel=0.05)
    assert found.sample == pytest.approx((chance * (1 - chance)).mean(), rel=0.05)


@pytest.mark.parametrize("samples", [1, 20])
def test_a_plan_shows_the_change_in_four_of_five_runs(samples: int) -> None:
    """A drop of 5 points that falls on 5 of 100 tasks, which were always right."""
    rng, change = np.random.default_rng(samples), 0.05
    chance = rng.beta(0.6, 0.6, 20_000)
    variance = plan.of_few_tasks(change)
    number = plan.tasks_needed(change, samples, sample=(chance * (1 - chance)).mean(), differences=variance)
    shown = 0
    for _ in range(200):
        before = np.where(rng.random(number) < change, 1.0, rng.choice(chance, number))
        after = np.where((before == 1) & (rng.random(number) < 1), 0.0, before)
        runs = [(rng.binomial(samples, side) / samples).tolist() for side in (before, after)]
        shown += difference(*runs).p_value < 0.05
    assert 0.7 <= shown / 200 <= 0.92


def test_two_runs_of_one_sample_give_the_tasks_that_show_their_change() -> None:
    """They agree on most tasks, so far fewer are needed than if every answer were drawn again."""
    rng = np.random.default_rng(3)

    def runs(number: int) -> tuple[list[bool], list[bool]]:
        before = rng.random(number) < 0.6
        draw = rng.random(number)
        return before.tolist(), np.where(draw < 0.07, True, np.where(draw < 0.08, False, before)).tolist()

    first, second = map(choice, runs(4000))
    made = make(first, 2.2, other=second, metric="", reading="careful")
    ((samples, number),) = made.needed
    shown = sum(difference(*(list(map(float, side)) for side in runs(number))).p_value < 0.05 for _ in range(200))
    assert (samples, made.samples_needed) == (1, 1)
    assert 0.7 <= shown / 200 <= 0.92
    few = make(choice([True, False] * 50), 2, other=choice([True, False] * 50), metric="", reading="careful")
    assert few.needed == [(1, plan.tasks_needed(0.02, 1, sample=0, differences=plan.of_few_tasks(0.02)))]
    assert in_words(few)[1].endswith("So the plan is for one sample of each task.")
    assert in_words(few)[-2] == "With these 100 tasks, 1 sample of each is not enough."


def test_samples_and_tasks_are_two_sides_of_one_plan() -> None:
    given = {"sample": 0.1, "differences": 0.02}
    number = plan.tasks_needed(0.03, 10, **given)
    assert plan.samples_needed(0.03, number, **given) == 10
    assert plan.samples_needed(0.03, number // 3, **given) is None
    assert plan.tasks_needed(0.03, 10, **given, design=2) == pytest.approx(2 * number, abs=1)


def test_a_plan_is_explained_in_words() -> None:
    rng = np.random.default_rng(2)
    made = make(tasks(rng.binomial(10, rng.beta(0.6, 0.6, 164))), 2, other=None, metric="", reading="careful")
    said = in_words(made)
    assert said[0].startswith("pass@1 (careful) is ")
    assert said[0].endswith(": 164 tasks, 10 samples of each.")
    assert "% between tasks" in said[1]
    assert said[2] == "To detect a change of 2 points between two runs of the same tasks (80 % power, 5 % level):"
    assert said[3] == f"  {made.needed[0][1]:>7,} tasks with 1 sample of each"
    assert [samples for samples, _ in made.needed] == [1, 2, 5, 10, 20, 50]
    assert said[-2] == "With these 164 tasks, no number of samples is enough."
    assert said[-1].startswith("Assumed: few tasks change")
    one = make(choice([True, False] * 50), 5, other=None, metric="", reading="careful")
    assert in_words(one)[1].startswith("With one sample per task, it is not known")


def by_round(made: Report, name: str) -> dict[str, list[float]]:
    observe = scorer_of(made).observe(name)
    assert observe is not None
    return values_by_round(made, observe, "careful")


def test_the_passes_of_a_circular_question_are_no_samples() -> None:
    """All passes of a question make one value, also where all of them are right or all wrong."""
    made = circular([[True] * 4, [False] * 4, [True, False], [True] * 4])
    assert by_round(made, "circular_accuracy") == {"g0": [1], "g1": [0], "g2": [0], "g3": [1]}
    planned = make(made, 5, other=None, metric="", reading="careful")
    assert (planned.samples, planned.variances.is_split) == (1, False)


def test_a_task_of_several_samples_has_a_value_of_each_and_one_of_pass_at_3() -> None:
    made = tasks([2, 0], 3)
    assert by_round(made, "pass@1") == {"t0": [1, 1, 0], "t1": [0, 0, 0]}
    assert by_round(made, "pass@3") == {"t0": [1], "t1": [0]}


def test_a_metric_that_combines_samples_has_no_plan() -> None:
    """Its one value of a task is not that of one sample."""
    with pytest.raises(UsageError, match=r"pass@3: a plan needs a metric with a value of each sample"):
        make(tasks([2, 0], 3), 2, other=None, metric="pass@3", reading="careful")


def test_a_metric_that_is_no_mean_has_no_plan() -> None:
    with pytest.raises(UsageError, match="mr_score: a plan needs a metric that is a mean over items"):
        make(mr_ben([("s", "q", True, True, True, True)]), 2, other=None, metric="", reading="careful")
