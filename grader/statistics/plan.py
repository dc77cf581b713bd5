"""How many tasks and samples show a difference: the variance of a paired difference, split into its parts.

The variance of the mean difference of two runs is (variance of the tasks' true differences + 2 x variance of one sample
/ samples) / tasks (Miller, arXiv 2411.00640, sections 3 and 5). More samples lower only the second part.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

from grader.statistics.paired import POWER_QUANTILE, Z95

if TYPE_CHECKING:
    from collections.abc import Sequence

    Samples = Sequence[Sequence[float]]
    """The credits of each task's samples."""


FEWEST_TASKS = 6
"""A paired test of five tasks cannot show anything: its smallest p value is 2 / 2**5 = 0.0625."""


class Variances(msgspec.Struct, frozen=True, kw_only=True):
    """The variance of a task's value, split into its parts; credits are from 0 to 1."""

    tasks: float
    """Of the tasks' true values: some are harder than others."""
    sample: float
    """Of one sample of a task, on average."""
    is_split: bool
    """Whether tasks have several samples; else all variance counts as that of samples, which is the worst case."""


def variances(samples: Samples) -> Variances:
    """Split the variance of tasks with these samples."""
    means = [math.fsum(credits_) / len(credits_) for credits_ in samples]
    total = _variance(means)
    several = [credits_ for credits_ in samples if len(credits_) > 1]
    if not several:
        return Variances(tasks=0.0, sample=total, is_split=False)
    within = math.fsum(map(_variance, several)) / len(several)
    noise = math.fsum(within / len(credits_) for credits_ in samples) / len(samples)
    return Variances(tasks=max(0.0, total - noise), sample=within, is_split=True)


def variance_of_differences(before: Samples, after: Samples) -> float:
    """Return the variance of the tasks' true differences.

    If no task has several samples, the noise of one sample is not known, and is part of it.
    """
    changes = [math.fsum(b) / len(b) - math.fsum(a) / len(a) for a, b in zip(before, after, strict=True)]
    first, second = variances(before), variances(after)
    if not (first.is_split or second.is_split):
        return _variance(changes)
    # A run with one sample of each task has the noise of the other run.
    noises = (first if first.is_split else second).sample, (second if second.is_split else first).sample
    noise = math.fsum(noises[0] / len(a) + noises[1] / len(b) for a, b in zip(before, after, strict=True))
    return max(0.0, _variance(changes) - noise / len(changes))


def of_few_tasks(change: float) -> float:
    """Return the variance of true differences if a change falls on few tasks, from always right to never."""
    return change * (1 - change)


def tasks_needed(change: float, samples: int, *, sample: float, differences: float, design: float = 1.0) -> int:
    """Return the number of tasks that show a change (in [0, 1]) with 80 % power at the 5 % level.

    `design`: how many times the variance is that of independent tasks, because tasks are variants of one another.
    """
    variance = design * (differences + 2 * sample / samples)
    return max(FEWEST_TASKS, math.ceil(variance * ((Z95 + POWER_QUANTILE) / change) ** 2))


def samples_needed(change: float, tasks: int, *, sample: float, differences: float, design: float = 1.0) -> int | None:
    """Return the number of samples per task that show a change on so many tasks; None if no number does."""
    left = tasks * (change / (Z95 + POWER_QUANTILE)) ** 2 / design - differences
    return max(1, math.ceil(2 * sample / left)) if left > 0 and tasks >= FEWEST_TASKS else None


def _variance(values: Sequence[float]) -> float:
    middle = math.fsum(values) / len(values)
    return math.fsum((value - middle) ** 2 for value in values) / (len(values) - 1) if len(values) > 1 else 0.0
