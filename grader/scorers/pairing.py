"""One metric in two runs, paired by observation."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from grader.errors import UsageError
from grader.results import ReadingName, Report
from grader.statistics.paired import LEVEL, Difference, difference

if TYPE_CHECKING:
    from collections.abc import Mapping


class NothingPairedError(UsageError):
    """No observation is scored in both runs."""

    def __init__(self) -> None:
        super().__init__("These runs cannot be compared: no item is scored in both.")


class Side(NamedTuple):
    """One side of a comparison: a run in one reading."""

    report: Report
    reading: ReadingName


def incomparable_observations(before: Report, after: Report) -> set[str]:
    """Return the observations that two runs have with different tasks, so that their values are not comparable.

    The tasks of a circular question are its passes; those of a question of Mr-Ben are its solutions.
    """
    tasks_before, tasks_after = map(_tasks_by_observation, (before, after))
    in_both = tasks_before.keys() & tasks_after.keys()
    return {observation for observation in in_both if tasks_before[observation] != tasks_after[observation]}


def _tasks_by_observation(report: Report) -> dict[str, set[str]]:
    """Return the ids of the tasks of each observation."""
    tasks: dict[str, set[str]] = {}
    for sample in report.samples:
        tasks.setdefault(sample.observation, set()).add(sample.qid)
    return tasks


def comparable_reports(before: Report, after: Report) -> tuple[Report, Report]:
    """Return two reports without the observations that they have with different tasks; their metrics stay."""
    left_out = incomparable_observations(before, after)
    return without_observations(before, left_out), without_observations(after, left_out)


def without_observations(report: Report, left_out: set[str]) -> Report:
    """Return a report without the samples of some observations; its metrics stay."""
    if not left_out:
        return report
    samples = [sample for sample in report.samples if sample.observation not in left_out]
    return msgspec.structs.replace(report, samples=samples)


class MetricComparison(msgspec.Struct, frozen=True, kw_only=True):
    """One metric on both sides."""

    name: str
    reading: ReadingName
    """The reading of the second side."""
    group: str | None
    before: float
    """In percent, over the pairs that are scored in both runs."""
    after: float
    difference: Difference
    corrected: float | None = None
    """The p value, corrected for the other rows of its comparison (Benjamini-Hochberg); None: not corrected."""

    @property
    def p_value(self) -> float:
        """The p value that decides: the corrected one, if it is corrected."""
        return self.difference.p_value if self.corrected is None else self.corrected

    @property
    def is_significant(self) -> bool:
        """Whether the difference is significant."""
        return self.p_value < LEVEL


def compare_paired(
    before: Mapping[str, float | None],
    after: Mapping[str, float | None],
    after_side: Side,
    name: str,
    group: str | None,
    *,
    metric_values: tuple[float, float] | None = None,
) -> MetricComparison:
    """Compare a metric, a mean over the observations that both sides have; raises NothingPairedError.

    `metric_values`: the metric on both sides, in [0, 1], where `before` and `after` are not its observations but their
    effects on it, as for F1.
    """
    pairs = {item: (a, b) for item, a in before.items() if a is not None and (b := after.get(item)) is not None}
    if not pairs:
        raise NothingPairedError
    # An observation has the same family on both sides.
    families = {sample.observation: sample.independent_unit for sample in after_side.report.samples}
    first, second = zip(*pairs.values(), strict=True)
    value_before, value_after = metric_values or (sum(first) / len(pairs), sum(second) / len(pairs))
    return MetricComparison(
        name=name,
        reading=after_side.reading,
        group=group,
        # Both values are in [0, 1]; the results are in percent and percentage points.
        before=100 * value_before,
        after=100 * value_after,
        difference=difference(
            first,
            second,
            [families[item] for item in pairs],
            value=None if metric_values is None else value_after - value_before,
        ),
    )
