"""Metrics of several samples per task: the chance that one of k is right (pass@k), or that all of k are (pass^k)."""

from __future__ import annotations

from functools import partial
from math import comb
from typing import TYPE_CHECKING

from grader.errors import UsageError
from grader.results.groups import by_observation
from grader.scorers.means import Observation, metric_rows
from grader.scorers.oddities import have_filters

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grader.results import Metric, ReadingName, SampleResult
    from grader.scorers.interface import AnyRun
    from grader.scorers.means import Observe

GLOSSARY: Mapping[str, str] = {
    "pass@*": "The estimated chance that at least one of k samples is right, as a mean over tasks.",
    "pass^*": "The estimated chance that all of k samples are right, as a mean over tasks.",
}


def pass_at_k(samples: int, passed: int, k: int) -> float:
    """Return the chance, in [0, 1], that at least one of `k` samples drawn from `samples` passes.

    1 - C(n - c, k) / C(n, k) in exact integers (Chen et al., 2021, arXiv 2107.03374, equation 1). Raises ValueError if
    k exceeds the number of samples: there is no unbiased estimate with fewer than k.
    """
    if not 0 <= passed <= samples:
        raise ValueError(f"{passed} of {samples} samples passed")
    if not 1 <= k <= samples:
        raise ValueError(f"pass@{k} needs at least {k} samples, there are {samples}")
    return 1 - comb(samples - passed, k) / comb(samples, k)


def pass_all_k(samples: int, passed: int, k: int) -> float:
    """Return the chance, in [0, 1], that all of `k` samples drawn from `samples` pass: pass^k of tau-bench."""
    return 1 - pass_at_k(samples, samples - passed, k)


_ESTIMATORS = {"pass@": pass_at_k, "pass^": pass_all_k}


def task_pass_at_k(members: Sequence[SampleResult], reading: ReadingName, name: str) -> Observation | None:
    """Return a task's `pass@k` or `pass^k`; None if it has fewer samples than k."""
    kind, k = _kind_and_k(name)
    estimate = _ESTIMATORS[kind]
    readings = [member.reading(reading) for member in members]
    if len(readings) < k:
        return None
    passed = sum(sample.points >= 1 for sample in readings)
    unscored = sum(not sample.is_scored for sample in readings)
    scored = len(readings) - unscored
    return Observation(
        value=estimate(scored, passed, k) if scored >= k else None,
        low=estimate(len(readings), passed, k),
        high=estimate(len(readings), passed + unscored, k),
        cluster=members[0].independent_unit,
    )


def _kind_and_k(name: str) -> tuple[str, int]:
    """Split `pass@3` and `pass^3`; k is 0 in a name that has none."""
    kind, k = name[: len("pass@")], name[len("pass@") :]
    return kind, int(k) if k.isdecimal() else 0


def pass_at_k_rows(samples: list[SampleResult], ks: Sequence[int]) -> list[Metric]:
    """Return pass@k and pass^k of tasks with several samples, for each of the given k, else for all samples."""
    names = pass_at_k_names(samples_per_task(samples), ks)
    return [row for name in names for row in metric_rows(samples, name, partial(_observe_tasks, name=name))]


def _observe_tasks(samples: list[SampleResult], reading: ReadingName, name: str) -> list[Observation]:
    tasks = (task_pass_at_k(members, reading, name) for members in by_observation(samples).values())
    return [task for task in tasks if task is not None]


def samples_per_task(samples: Sequence[SampleResult]) -> int:
    """Return the largest number of samples of a task; 1 if they are the texts of several filters of one sample."""
    return 1 if have_filters(samples) else max((sample.sample + 1 for sample in samples), default=1)


def pass_at_k_names(most_samples: int, ks: Sequence[int]) -> list[str]:
    """Return the names of the metrics of several samples; none if each task has one. pass^1 would repeat pass@1."""
    if most_samples < 2:
        return []
    return [
        f"{kind}{k}" for k in sorted(set(ks)) or (most_samples,) for kind in _ESTIMATORS if kind == "pass@" or k > 1
    ]


def observe_pass_at_k(name: str) -> Observe | None:
    """Return the function that gives a task's value in a metric of several samples; None for another metric."""
    kind, k = _kind_and_k(name)
    if kind not in _ESTIMATORS or not k:
        return None

    def task_value(members: Sequence[SampleResult], reading: ReadingName) -> float | None:
        observation = task_pass_at_k(members, reading, name)
        return None if observation is None else observation.value

    return task_value


def sample_counts(run: AnyRun) -> list[int]:
    """Return the numbers of samples of the tasks with predictions; what several filters of a log made is one sample."""
    return [1 if run.oddities.filters else len(texts) for texts in run.predictions.values() if texts]


def check_k(run: AnyRun) -> None:
    """Raise UsageError for a k that a task has too few samples for."""
    fewest = min(sample_counts(run), default=0)
    for k in run.options.k:
        if k > fewest:
            raise UsageError(f"-k {k}: pass@{k} needs at least {k} samples of every task, and one has only {fewest}.")
