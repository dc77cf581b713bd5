"""Scorers by name: ours, those of reports, and names that no scorer has."""

from __future__ import annotations

import pytest

from grader.errors import UsageError
from grader.results import Metric, Report
from grader.scorers import registry
from grader.scorers.interface import Scorer


def report(*metrics: str, scorer: str = "") -> Report:
    rows = [Metric(name=name, reading="official", value=1, n=1) for name in metrics]
    return Report(benchmark="b", scorer=scorer, split="s", protocol="p", metrics=rows, samples=[])


@pytest.mark.parametrize("name", registry.names())
def test_every_name_has_a_scorer_and_it_is_made_once(name: str) -> None:
    assert isinstance(registry.scorer(name), Scorer)
    assert registry.scorer(name) is registry.scorer(name)


@pytest.mark.parametrize(
    ("name", "near"), [("multiple-choice", "multiple_choice"), ("mr_scor", "mr_score"), ("excution", "execution")]
)
def test_an_unknown_name_is_refused_with_those_there_are_and_the_nearest(name: str, near: str) -> None:
    with pytest.raises(UsageError) as caught:
        registry.scorer(name)
    known = ", ".join(registry.names())
    assert str(caught.value) == (
        f"scoring = {name!r}: unknown scorer; the scorers are {known}. Did you mean {near!r}? A scorer of your own is "
        "found when its package is installed beside grade (docs/own-scorer.md)."
    )


def test_a_name_that_is_near_to_none_has_no_suggestion() -> None:
    with pytest.raises(UsageError, match=r"the scorers are execution, multiple_choice, circular, mr_score[^?]*\.$"):
        registry.scorer("zzz")


@pytest.mark.parametrize(
    ("metrics", "name"),
    [
        (("pass@1", "pass@10", "parse_success_rate"), "execution"),
        (("circular_accuracy", "vanilla_accuracy"), "circular"),
        (("mr_score", "parse_success_rate"), "mr_score"),
        (("accuracy",), "multiple_choice"),
        ((), "multiple_choice"),
    ],
)
def test_a_report_that_does_not_name_its_scorer_is_known_by_its_metrics(metrics: tuple[str, ...], name: str) -> None:
    assert registry.scorer_of(report(*metrics)) is registry.scorer(name)


def test_the_scorer_that_a_report_names_comes_before_its_metrics() -> None:
    assert registry.scorer_of(report("pass@1", scorer="mr_score")) is registry.scorer("mr_score")
    with pytest.raises(UsageError, match="unknown scorer"):
        registry.scorer_of(report("pass@1", scorer="gone"))
