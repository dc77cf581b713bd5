"""What one observation earned: the figures of real reports are the means of it."""

import math
from collections.abc import Sequence
from typing import ClassVar

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.benchmark import Benchmark, Inference
from grader.data.tables import Rows
from grader.errors import UsageError
from grader.models.prompt import PromptOptions
from grader.results import Metric, ReadingName, Report, SampleResult
from grader.results.groups import in_group
from grader.scorers import declarations
from grader.scorers.choice import metrics as choice_metrics
from grader.scorers.execution import metrics as execution_metrics
from grader.scorers.execution.metrics import k_of
from grader.scorers.interface import AnyRun, Scorer, ScorerOutput
from grader.scorers.means import credit, each_observation, metric_rows
from grader.scorers.pairing import Side
from grader.scorers.registry import names, scorer, scorer_of
from grader.task import Task
from tests.conftest import cases
from tests.made_runs import of_sample, report, sample
from tests.tables import each

WORDS = {"P": "passed", "F": "failed", "L": "lint_failed", "U": "unscored", "C": "correct", "W": "wrong"}


def tasks(*outcomes: str, groups: Sequence[str] = (), ks: Sequence[int] = (1,)) -> Report:
    """HumanEval-V tasks, a letter a sample, and their figures as the scorer makes them."""
    labels = list(groups) or [""] * len(outcomes)
    samples = [
        sample(f"t{i}", WORDS[letter], number=number, group=label)
        for i, (letters, label) in enumerate(zip(outcomes, labels, strict=True))
        for number, letter in enumerate(letters)
    ]
    metrics = execution_metrics.metrics(samples, ks, has_linter=True)
    return report(samples, metrics, benchmark="humaneval-v", scorer="execution")


def observations(made: Report, name: str, reading: ReadingName, group: str | None = None) -> dict[str, float | None]:
    return scorer_of(made).observations(made, name, reading, group)


def is_mean(made: Report, name: str) -> bool:
    return scorer_of(made).observe(name) is not None


def assert_it_is_their_mean_within_its_bounds(made: Report, metric: Metric) -> None:
    """Observations that too few scored samples leave are in the bounds alone."""
    low, high = (0, 100) if metric.bounds is msgspec.UNSET else metric.bounds
    assert metric.value is not None
    assert low - 1e-9 <= metric.value <= high + 1e-9
    if high - low > 1e-9:
        value, n = mean_of(observations(made, metric.name, metric.reading, metric.group))
        assert (min(max(value, low), high), n) == (pytest.approx(metric.value), metric.n)


def mean_of(values: dict[str, float | None]) -> tuple[float, int]:
    """Mean in percent and number of those that are scored."""
    scored = [value for value in values.values() if value is not None]
    return 100 * math.fsum(scored) / len(scored), len(scored)


def assert_every_mean_is_reproduced(made: Report) -> None:
    means = [metric for metric in made.metrics if is_mean(made, metric.name)]
    assert means
    for metric in means:
        value, n = mean_of(observations(made, metric.name, metric.reading, metric.group))
        assert (value, n) == (pytest.approx(metric.value), metric.n), metric


@each("benchmark", ["vstar", "mmbench"])
def test_the_figures_of_the_bundled_samples_are_means_of_observations(benchmark: str) -> None:
    made = of_sample(benchmark)
    assert all(is_mean(made, metric.name) for metric in made.metrics)
    assert {metric.group is None for metric in made.metrics} == {True, False}
    assert_every_mean_is_reproduced(made)


@given(st.lists(st.text("PFLU", min_size=4, max_size=4), min_size=1, max_size=6))
@settings(max_examples=cases(50))
def test_pass_at_k_is_a_mean_of_observations_whatever_is_unscored(outcomes: list[str]) -> None:
    made = tasks(*outcomes, ks=(1, 3))
    for metric in made.metrics:
        if metric.name != "parse_success_rate":
            assert_it_is_their_mean_within_its_bounds(made, metric)


@given(st.lists(st.lists(st.text("CWU", min_size=1, max_size=3), min_size=1, max_size=4), min_size=1, max_size=5))
def test_circular_figures_are_means_of_observations_whatever_is_unscored(passes: list[list[str]]) -> None:
    """Groups of passes of samples."""
    samples = [
        sample(f"{i}.{turn}" if turn else f"{i}", WORDS[letter], number=number, unit=str(i), group=f"c={i % 2}")
        for i, group in enumerate(passes)
        for turn, letters in enumerate(group)
        for number, letter in enumerate(letters)
    ]
    metrics: list[Metric] = []
    for name, observe in (
        ("circular_accuracy", choice_metrics.circular_observations),
        ("vanilla_accuracy", choice_metrics.vanilla_observations),
        ("vanilla_accuracy_all_passes", choice_metrics.pass_observations),
    ):
        metrics += metric_rows(samples, name, observe)
    made = report(samples, metrics, scorer="circular")
    for metric in metrics:
        assert_it_is_their_mean_within_its_bounds(made, metric)


def test_tasks_stand_in_the_reports_order_with_their_own_pass_at_k() -> None:
    made = tasks("PF", "U", "FF", "UP", ks=(1, 2))
    assert observations(made, "pass@1", "careful") == {"t0": 0.5, "t1": None, "t2": 0, "t3": 1}
    assert observations(made, "pass@2", "careful") == {"t0": 1, "t1": None, "t2": 0, "t3": None}
    assert observations(made, "parse_success_rate", "careful") == {"t0": 1, "t1": None, "t2": 1, "t3": 1}


def test_a_group_holds_what_is_labelled_so() -> None:
    several = SampleResult(
        qid="q", sample=0, official=sample("q", "correct").official, careful=sample("q", "correct").careful,
        groups={"topic": ["a", "b"], "kind": "c=d"},
    )  # fmt: skip
    made = report([several, sample("r", "wrong", group="topic=a"), sample("s", "wrong")])
    assert set(several.group_names()) == {"topic=a", "topic=b", "kind=c=d"}
    assert list(in_group(made, "topic=a")) == ["q", "r"]
    assert list(in_group(made, "kind=c=d")) == ["q"]
    assert list(in_group(made, None)) == ["q", "r", "s"]
    assert in_group(made, "topic=z") == {}


@each("name", ["pass@0", "pass@", "pass@x", "pass@-1", "score", ""])
def test_a_name_that_is_no_metric_is_no_mean(name: str) -> None:
    assert k_of(name) is None
    for one in (scorer(known) for known in names()):
        assert one.observe(name) is None
        assert one.observations(report([]), name, "careful") is None


class Bare(Scorer[Benchmark, Task]):
    """A scorer with nothing but what it must have."""

    declaration = Benchmark

    def tasks(self, declared: Benchmark, split: str, rows: Rows) -> dict[str, Task]:
        return {}

    def score(self, run: AnyRun) -> ScorerOutput:
        return ScorerOutput(samples=[])


def test_of_a_scorer_that_does_not_say_how_it_compares_only_the_accuracy_is_compared() -> None:
    samples = [sample("a", "correct"), sample("b", "wrong")]
    made = report(samples, metric_rows(samples, "accuracy", each_observation))
    side = Side(made, "careful")
    compared = Bare().compare(side, side, "accuracy")
    assert compared is not None
    assert compared.after == 50
    assert Bare().compare(side, side, "score") is None


def test_tasks_that_are_judged_together_are_one_observation_of_its_metrics_and_comparisons() -> None:
    members = [("a", "correct", "u"), ("b", "correct", "u"), ("c", "wrong", "v")]
    made = report([sample(qid, outcome, unit=unit) for qid, outcome, unit in members])
    (metric,) = (row for row in Bare().metrics(made) if row.reading == "careful")
    compared = Bare().compare(Side(made, "careful"), Side(made, "careful"), "accuracy")
    assert compared is not None
    assert (metric.value, metric.n) == (compared.after, compared.difference.n) == (50, 2)


def test_all_that_a_scorer_need_not_say_has_a_default() -> None:
    circular, plain = scorer("circular"), scorer("multiple_choice")
    assert (circular.has_units, plain.has_units) == (True, False)
    assert Bare().complete(None, None, {"a": 1}, ["a"]) == ({"a": 1}, [])  # type: ignore[arg-type, dict-item]
    assert Scorer.__abstractmethods__ == {"tasks", "score"}
    samples = [sample("a", "correct"), sample("b", "wrong")]
    assert Bare().metrics(report(samples)) == metric_rows(samples, "accuracy", each_observation)


def test_a_scorer_without_a_prompt_of_its_own_asks_the_question_with_its_options() -> None:
    declared = declarations.load("gsm8k")
    bare = msgspec.structs.replace(declared, inference=Inference())
    prompt_options = PromptOptions(protocol=declared.default_protocol, mode="")
    task = Task(id="q", text="Which?", options={"A": "red", "B": "blue"})
    (turn,) = scorer("answer").turns(bare, task, prompt_options)
    assert turn.text({}) == "Which?\nA. red\nB. blue"
    with pytest.raises(UsageError, match=r"gsm8k has no question to ask: name its column \(`question`"):
        scorer("answer").turns(bare, Task(id="q", text=""), prompt_options)


@each("benchmark", ["vstar", "mmbench", "mr-ben"])
def test_every_metric_and_rule_of_a_sample_run_is_explained(benchmark: str) -> None:
    graded = of_sample(benchmark)
    glossary = scorer_of(graded).words.glossary
    rules = {r.rule for s in graded.samples for r in (s.official, s.careful) if isinstance(r.rule, str)}
    assert (rules | {metric.name for metric in graded.metrics}) - glossary.keys() == set()


def test_a_sample_has_its_value_in_each_metric_and_an_unscored_one_is_in_none() -> None:
    class Halves(Bare):
        sample_values: ClassVar = {"accuracy": credit, "half": lambda sample, reading: 0.5}

    samples = [sample("a", "correct"), sample("b", "unscored")]
    found = {row.name: (row.value, row.bounds) for row in Halves().metrics(report(samples)) if row.reading == "careful"}
    assert found == {"accuracy": (100, (50, 100)), "half": (50, (25, 75))}
    assert Halves().observations(report(samples), "half", "careful") == {"a": 0.5, "b": None}
