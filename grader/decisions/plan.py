"""What to buy: how many tasks and samples would show a change, from the variance of earlier results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from grader.decisions.comparison import check_comparable
from grader.errors import UsageError
from grader.predictions.record import counted
from grader.results import ReadingName
from grader.scorers.means import values_by_round
from grader.scorers.registry import scorer_of
from grader.statistics import intervals, plan

if TYPE_CHECKING:
    from grader.results import Report

SAMPLES = (1, 2, 5, 10, 20, 50)


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """How many tasks and samples show a change of a metric."""

    metric: str
    reading: ReadingName
    value: float
    tasks: int
    samples: float
    """Samples per task, on average."""
    change: float
    """The change to show, in points."""
    variances: plan.Variances
    design: float
    """How many times the variance is that of independent tasks; 1 without families."""
    is_measured: bool
    """Whether the variance of the tasks' differences is that of two runs; else the change falls on few tasks."""
    needed: list[tuple[int, int]]
    """(Samples per task, tasks that are needed)."""
    samples_needed: int | None
    """Samples per task for the tasks of these results; None: no number suffices, of those that are planned."""

    @property
    def is_for_one_sample(self) -> bool:
        """Whether nothing tells what more samples would change: the runs that were compared have one of each task."""
        return self.is_measured and not self.variances.is_split


def make(report: Report, change: float, *, other: Report | None, metric: str, reading: ReadingName) -> Plan:
    """Return the plan for a change in points; `other` is another run of these tasks. Raises UsageError."""
    name = metric or next((row.name for row in report.metrics), "")
    credits_ = _credits(report, name, reading)
    split = plan.variances(list(credits_.values()))
    differences = plan.of_few_tasks(change / 100)
    if other is not None:
        check_comparable(report, other)
        others = _credits(other, name, reading)
        shared = [item for item in credits_ if item in others]
        if not shared:
            raise UsageError("These runs have no task in common, so the variance of their differences is unknown.")
        measured = plan.variance_of_differences([credits_[q] for q in shared], [others[q] for q in shared])
        split = split if split.is_split else plan.variances(list(others.values()))
        # If each task has one sample, what was measured includes its noise. Less than `of_few_tasks` is impossible.
        differences = measured if split.is_split else max(measured, differences)
    is_for_one = other is not None and not split.is_split  # see Plan.is_for_one_sample
    design = _design(report, credits_)
    parts = {"sample": 0.0 if is_for_one else split.sample, "differences": differences, "design": design}
    values = [sum(task) / len(task) for task in credits_.values()]
    return Plan(
        metric=name,
        reading=reading,
        value=100 * sum(values) / len(values),
        tasks=len(credits_),
        samples=sum(map(len, credits_.values())) / len(credits_),
        change=change,
        variances=split,
        design=design,
        is_measured=other is not None,
        needed=[
            (samples, plan.tasks_needed(change / 100, samples, **parts))
            for samples in (SAMPLES[:1] if is_for_one else SAMPLES)
        ],
        samples_needed=plan.samples_needed(change / 100, len(credits_), **parts),
    )


def _credits(report: Report, name: str, reading: ReadingName) -> dict[str, list[float]]:
    scorer = scorer_of(report)
    observe = scorer.observe(name)
    if observe is None:
        means = [m.name for m in report.metrics if m.group is None and scorer.observe(m.name) is not None]
        known = f" Choose one with --metric: {', '.join(dict.fromkeys(means))}." if means else ""
        raise UsageError(f"{name or 'These results'}: a plan needs a metric that is a mean over items.{known}")
    credits_ = values_by_round(report, observe, reading)
    if any(sample.sample for sample in report.samples) and max(map(len, credits_.values()), default=2) == 1:
        raise UsageError(
            f"{name}: a plan needs a metric with a value of each sample, and this one combines the samples of a task."
        )
    if len(credits_) < 2:
        raise UsageError(f"{name} ({reading}): a plan needs two scored items or more.")
    return credits_


def _design(report: Report, credits_: dict[str, list[float]]) -> float:
    """Return how many times the variance of the mean is that of independent tasks."""
    families = {sample.cluster: sample.independent_unit for sample in report.samples}
    values = [sum(task) / len(task) for task in credits_.values()]
    apart, together = intervals.mean(values), intervals.mean(values, [families[item] for item in credits_])
    if apart is None or together is None or not apart.stderr or not together.stderr:
        return 1.0
    return max(1.0, (together.stderr / apart.stderr) ** 2)


def in_words(result: Plan) -> list[str]:
    """Return the plan as lines of text."""
    families = f"Tasks of one family vary together: this takes {result.design:.1f} times as many tasks."
    these = f"{'this' if result.tasks == 1 else 'these'} {counted(result.tasks, 'task')}"
    too_few = "1 sample of each is not" if result.is_for_one_sample else "no number of samples is"
    return [
        f"{result.metric} ({result.reading}) is {result.value:.1f}: {counted(result.tasks, 'task')}, "
        f"{_samples(result.samples)} of each.",
        _split_in_words(result),
        f"To detect a change of {result.change:g} points between two runs of the same tasks (80 % power, 5 % level):",
        *(f"  {tasks:>7,} tasks with {counted(samples, 'sample')} of each" for samples, tasks in result.needed),
        *([families] if result.design > 1.05 else []),
        f"With {these}, each of the two runs needs {counted(result.samples_needed, 'sample')} of each task."
        if result.samples_needed
        else f"With {these}, {too_few} enough.",
        _assumption(result),
    ]


def _samples(number: float) -> str:
    """Return an average number of samples in words."""
    return counted(round(number), "sample") if number == round(number) else f"{number:.3g} samples on average"


def _split_in_words(result: Plan) -> str:
    split = result.variances
    if not split.is_split:
        assumed = (
            "So the plan is for one sample of each task."
            if result.is_for_one_sample
            else "The plan assumes the worst case: all of it is between samples. A run with several samples per task "
            "gives a smaller plan."
        )
        return (
            "With one sample per task, it is not known how much of the variance is between tasks, and how much between "
            f"samples of a task. {assumed}"
        )
    total = split.tasks + split.sample or 1.0
    return (
        f"Variance of one sample's value: {100 * split.tasks / total:.0f} % between tasks, "
        f"{100 * split.sample / total:.0f} % between samples of a task."
    )


def _assumption(result: Plan) -> str:
    if result.is_measured:
        return "Measured: how much the tasks differ between runs is known from the two runs that were given."
    return "Assumed: few tasks change, and these from always right to always wrong. Give a second run to measure this."
