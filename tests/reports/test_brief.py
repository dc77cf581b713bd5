"""What the beginning of a page says of groups."""

import pytest

from grader.reports.views.brief import lowest_group
from grader.results import Metric
from tests.reports.made_reports import report


def careful(value: float | None, group: str | None = None) -> Metric:
    return Metric(name="accuracy", reading="careful", value=value, ci95=(0.0, 100.0), n=4, group=group)


@pytest.mark.parametrize(
    ("values", "lowest"),
    [
        ({"a": 25.0, "b": 50.0, "c": 75.0}, "a"),
        ({"a": 25.0, "b": 25.0, "c": 100.0}, None),
        ({"a": 50.0, "b": 50.0}, None),
        ({"a": None, "b": 25.0, "c": 75.0}, "b"),
    ],
)
def test_a_group_that_ties_with_others_is_not_the_lowest(values: dict[str, float | None], lowest: str | None) -> None:
    groups = [careful(value, group) for group, value in values.items()]
    found = lowest_group(report(metrics=[careful(50.0), *groups]), "accuracy")
    assert (found.group if found else None) == lowest
