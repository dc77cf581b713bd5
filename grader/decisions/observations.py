"""What one observation (a task, a question, a circular group) earned in a finished report, metric by metric.

The metrics of a report are means of these; comparisons pair them. MR-Score and its parts are no means of observations:
`is_mean` tells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.results import Outcome
from grader.scorers.choice import metrics as choice_metrics
from grader.scorers.execution.pass_at_k import pass_at_k

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.results import ReadingName, Report, SampleResult


def is_mean(report: Report, name: str) -> bool:
    """Whether a metric is the mean of one value an observation.

    A parse rate is one of samples: it is that mean where all tasks have as many of them.
    """
    return k_of(name) is not None or (name in _OBSERVERS and not _is_mr_score(report))


def k_of(name: str) -> int | None:
    """Return the k of `pass@k`; None for another metric."""
    start, _, k = name.partition("@")
    return int(k) if start == "pass" and k.isdecimal() and int(k) > 0 else None


def by_observation(
    report: Report, name: str, reading: ReadingName, group: str | None = None
) -> dict[str, float | None]:
    """Return what each observation earned, in [0, 1] and in the report's order; None: it is unscored.

    Raises KeyError for a metric that is no mean of observations.
    """
    k = k_of(name)
    observe = _OBSERVERS[name] if k is None else _pass_at(k)
    return {cluster: observe(members, reading) for cluster, members in clusters(report, group).items()}


def clusters(report: Report, group: str | None = None) -> dict[str, list[SampleResult]]:
    """Return the samples of each observation, of those in a group (`field=value`)."""
    found: dict[str, list[SampleResult]] = {}
    for sample in report.samples:
        if group is None or group in groups_of(sample):
            found.setdefault(sample.cluster, []).append(sample)
    return found


def groups_of(sample: SampleResult) -> set[str]:
    """Return the groups that a sample is in, as `field=value`."""
    if not isinstance(sample.groups, dict):
        return set()
    return {
        f"{field}={label}"
        for field, labels in sample.groups.items()
        for label in ([labels] if isinstance(labels, str) else labels)
    }


def mean_credit(members: list[SampleResult], reading: ReadingName) -> float | None:
    """Return what the scored ones of these samples earned on average; None where there are none."""
    credits_ = [r.credit for s in members if (r := s.reading(reading)).outcome is not Outcome.UNSCORED]
    return sum(credits_) / len(credits_) if credits_ else None


def _is_mr_score(report: Report) -> bool:
    return any(metric.name == "mr_score" for metric in report.metrics)


def _pass_at(k: int) -> Callable[[list[SampleResult], ReadingName], float | None]:
    def observe(members: list[SampleResult], reading: ReadingName) -> float | None:
        credits_ = [r.credit for s in members if (r := s.reading(reading)).outcome is not Outcome.UNSCORED]
        passed = sum([credit >= 1 for credit in credits_])
        return pass_at_k(len(credits_), passed, k) if len(credits_) >= k else None

    return observe


def _parsed(members: list[SampleResult], reading: ReadingName) -> float | None:
    outcomes = [r for s in members if (r := s.reading(reading).outcome) is not Outcome.UNSCORED]
    return sum(o is not Outcome.LINT_FAILED for o in outcomes) / len(outcomes) if outcomes else None


def _only(
    observations: Callable[[list[SampleResult], ReadingName], list[choice_metrics.Observation]],
) -> Callable[[list[SampleResult], ReadingName], float | None]:
    def observe(members: list[SampleResult], reading: ReadingName) -> float | None:
        (one,) = observations(members, reading)
        return one.value

    return observe


_OBSERVERS: dict[str, Callable[[list[SampleResult], ReadingName], float | None]] = {
    "parse_success_rate": _parsed,
    "accuracy": mean_credit,
    "circular_accuracy": _only(choice_metrics.whole_groups),
    "vanilla_accuracy": _only(choice_metrics.first_passes),
    "vanilla_accuracy_all_passes": mean_credit,
}
