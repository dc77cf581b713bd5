"""Metrics that every scorer has if its benchmark declares them: means over groups, F1 of two groups, sets of tasks.

With several samples per task, also the chance that one of k is right (pass@k), or that all of k are (pass^k). A task is
right with its credit; an observation of several tasks (a circular question) is right if all of them are.
"""

from __future__ import annotations

from functools import partial
from math import comb
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from grader.errors import UsageError
from grader.results import READINGS, Aggregation
from grader.results.groups import by_group, by_observation, by_round, grouped, in_group
from grader.scorers.means import Observation, combine, mean_of, metric, metric_rows, of_judged
from grader.scorers.oddities import FILTER
from grader.scorers.pairing import Compared, NothingPairedError, paired

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from grader.benchmark import Benchmark
    from grader.results import Metric, Reading, ReadingName, Report, SampleResult
    from grader.scorers.means import Observe
    from grader.scorers.pairing import Side
    from grader.task import Task

MACRO, F1 = "macro_accuracy", "f1"
GLOSSARY: Mapping[str, str] = {
    MACRO: "The mean of the accuracies of groups, each with the same weight.",
    F1: "The harmonic mean of two accuracies.",
    "pass@*": "The estimated chance that at least one of k samples is right, as a mean over tasks.",
    "pass^*": "The estimated chance that all of k samples are right, as a mean over tasks.",
}
SET = "The share of sets whose tasks are all right."


def of(declared: Benchmark, k: Sequence[int]) -> Aggregation:
    """Return what a declaration and `-k` ask for."""
    return Aggregation(mean_over=declared.levels, f1_of=list(declared.f1_of or ()), k=list(k))


def problem(declared: Benchmark) -> str:
    """Return what is wrong with the groupings that a declaration names; empty if nothing is."""
    known = [*declared.columns.groups, *declared.derived]
    asked = [("mean_over", name, "") for name in declared.levels]
    asked += [("f1_of", name, label) for name, _, label in (group.partition("=") for group in declared.f1_of or ())]
    for group in declared.f1_of or ():
        if "=" not in group:
            return f"f1_of: expected FIELD=LABEL, found {group!r}"
    for field, name, label in asked:
        if name not in known:
            return f"{field}: there is no grouping {name!r}; `groups` and `derived` have {', '.join(known) or 'none'}"
        labels = declared.derived[name].labels() if name in declared.derived else [label]
        if label and label not in labels:
            return f"{field}: {name} has no label {label!r}; its labels are {', '.join(labels)}"
    return ""


def names(declared: Benchmark, own: Sequence[str]) -> list[str]:
    """Return the names of all metrics of a run whose scorer has its own ones."""
    sets = (f"{name}_accuracy" for name in declared.together)
    return list(dict.fromkeys(filter(None, (_main_name(of(declared, ())), *own, *sets))))


def metrics(report: Report, own: list[Metric]) -> list[Metric]:
    """Return the metrics of a report: those that its declaration asks for, and its scorer's `own` ones.

    A declared metric replaces an own one of its name.
    """
    if not report.samples:
        return own
    main = _main_name(report.aggregation)
    rows = _main_rows(report) if main else []
    kinds = dict.fromkeys(name for sample in report.samples for name in _sets_of(sample))
    sets = [row for name in kinds for row in _set_rows(report.samples, name)]
    declared = {main, *(row.name for row in sets)}
    return [*rows, *(row for row in own if row.name not in declared), *sets]


def missing(declared: Benchmark, samples: Sequence[SampleResult]) -> list[str]:
    """Return a note if no graded task is in a grouping or group that the main metric needs, so that it has no value."""
    present = {part for sample in samples for label in sample.labels() for part in (label, label.partition("=")[0])}
    absent = [name for name in (*declared.levels, *(declared.f1_of or ())) if samples and name not in present]
    if not absent:
        return []
    name = _main_name(of(declared, ()))
    return [f"There is no {name}: no graded task has {' or '.join(absent)} (`mean_over`, `f1_of` in benchmark.toml)."]


# --- means over groups, F1 of two groups ------------------------------------------------------------------------------


def _main_name(aggregation: Aggregation) -> str:
    return F1 if aggregation.f1_of else MACRO if aggregation.mean_over else ""


def _main_rows(report: Report) -> list[Metric]:
    name, rows = _main_name(report.aggregation), []
    for group, members in by_group(report.samples).items():
        for reading in READINGS:
            found = _main_observations(members, reading, report.aggregation, fewest=1 if group is None else 2)
            row = metric(name, reading, group, found) if found else None
            rows += [row] if row is not None else []
    return rows


def compare(before: Side, after: Side, name: str, group: str | None) -> Compared | None:
    """Compare the main metric of two runs, paired by observation; None for another metric.

    An observation's effect is the change of its credit times the slope of the metric halfway between the runs. The
    effects add up to the difference (of F1 except for a small rest). Raises NothingPairedError.
    """
    aggregation = after.report.aggregation
    if not name or name != _main_name(aggregation):
        return None
    (earlier, _), (later, labels) = (_credits(side, group) for side in (before, after))
    first = {unit: credit for unit, credit in earlier.items() if unit in later}
    second = {unit: later[unit] for unit in first}
    middle = {unit: (first[unit] + second[unit]) / 2 for unit in first}
    was, now, half = (
        _aggregate(values, labels, aggregation.mean_over, aggregation) for values in (first, second, middle)
    )
    if was is None or now is None or half is None:
        raise NothingPairedError
    weights = {unit: len(half.slopes) * slope for unit, slope in half.slopes.items()}
    old, new = ({unit: weight * side[unit] for unit, weight in weights.items()} for side in (first, second))
    return paired(old, new, after, name, group, levels=(was.value, now.value))


def _credits(side: Side, group: str | None) -> tuple[dict[str, float], dict[str, frozenset[str]]]:
    """Return the credits of a run's scored tasks or units of a group, and their groups as `field=label`."""
    samples = [sample for members in in_group(side.report, group).values() for sample in members]
    credits_, labels = _credits_and_groups(samples, side.reading)
    return {unit: one.value for unit, one in credits_.items() if one.value is not None}, labels


def _main_observations(
    samples: list[SampleResult], reading: ReadingName, aggregation: Aggregation, *, fewest: int
) -> list[Observation]:
    """Return one observation per task or unit, whose mean is the metric; none if that has too few parts.

    A value is the metric, plus how far the observation moves it, times the number of observations (its influence).
    """
    credits_, labels = _credits_and_groups(samples, reading)
    cases = [
        {unit: number for unit, one in credits_.items() if (number := getattr(one, end)) is not None}
        for end in ("value", "low", "high")
    ]
    values, lows, highs = (
        _values_with_influence(_aggregate(case, labels, aggregation.mean_over, aggregation), fewest) for case in cases
    )
    return [
        Observation(value=values.get(unit), low=lows[unit], high=highs[unit], cluster=one.cluster)
        for unit, one in credits_.items()
        if unit in lows
    ]


def _credits_and_groups(
    samples: list[SampleResult], reading: ReadingName
) -> tuple[dict[str, Observation], dict[str, frozenset[str]]]:
    """Return the credits of tasks or units, and their groups as `field=label`."""
    members = by_observation(of_judged(samples, reading))
    credits_ = {unit: _observation(of_unit, reading) for unit, of_unit in members.items()}
    return credits_, {unit: frozenset(of_unit[0].labels()) for unit, of_unit in members.items()}


def _observation(members: list[SampleResult], reading: ReadingName) -> Observation:
    """Return the credit of a task, or of a unit of several tasks: whether all are right, as a mean over rounds."""
    if all(member.qid == members[0].qid for member in members):
        return mean_of(members, reading)
    return _all_right_by_round(members, reading)


class _Part(NamedTuple):
    """A value that is made of observations."""

    value: float
    slopes: dict[str, float]
    """How much it rises with the credit of an observation. It is the sum of credits times slopes."""
    pulls: dict[str, float]
    """How much an observation's distance from its mean moves it."""
    leaves: int
    """The number of means that it was made of."""


def _aggregate(
    values: Mapping[str, float], labels: Mapping[str, frozenset[str]], levels: list[str], aggregation: Aggregation
) -> _Part | None:
    """Return the mean over the labels of each level; within the last, F1 or the plain mean. None without values."""
    if levels:
        within = sorted({label for unit in values for label in labels[unit] if label.startswith(f"{levels[0]}=")})
        found = (_aggregate(_only(values, labels, label), labels, levels[1:], aggregation) for label in within)
        parts = [part for part in found if part is not None]
        return _sum([(part, 1 / len(parts)) for part in parts]) if parts else None
    if not aggregation.f1_of:
        return _mean(values)
    first, second = (_mean(_only(values, labels, label)) for label in aggregation.f1_of)
    if first is None or second is None:
        return None
    total = first.value + second.value
    slopes = [2 * (other.value / total) ** 2 if total else 0.0 for other in (second, first)]
    return _sum([(first, slopes[0]), (second, slopes[1])])


def _only(values: Mapping[str, float], labels: Mapping[str, frozenset[str]], label: str) -> dict[str, float]:
    return {unit: value for unit, value in values.items() if label in labels[unit]}


def _mean(values: Mapping[str, float]) -> _Part | None:
    if not values:
        return None
    mean = sum(values.values()) / len(values)
    share = 1 / len(values)
    pulls = {unit: (value - mean) * share for unit, value in values.items()}
    return _Part(mean, dict.fromkeys(values, share), pulls, 1)


def _sum(parts: list[tuple[_Part, float]]) -> _Part:
    slopes: dict[str, float] = {}
    pulls: dict[str, float] = {}
    for part, weight in parts:
        for sums, more in ((slopes, part.slopes), (pulls, part.pulls)):
            for unit, number in more.items():
                sums[unit] = sums.get(unit, 0.0) + weight * number
    value = sum(weight * part.value for part, weight in parts)
    return _Part(value, slopes, pulls, sum(part.leaves for part, _ in parts))


def _values_with_influence(part: _Part | None, fewest: int) -> dict[str, float]:
    if part is None or part.leaves < fewest:
        return {}
    return {unit: part.value + len(part.pulls) * pull for unit, pull in part.pulls.items()}


# --- sets of tasks ----------------------------------------------------------------------------------------------------


def with_sets(samples: list[SampleResult], tasks: Mapping[str, Task]) -> list[SampleResult]:
    """Return the samples with the sets of their tasks."""
    sets = {qid: dict(task.together) for qid, task in tasks.items() if task.together}
    return [
        msgspec.structs.replace(sample, together=sets[sample.qid]) if sample.qid in sets else sample
        for sample in samples
    ]


def _sets_of(sample: SampleResult) -> Mapping[str, str]:
    return {} if sample.together is msgspec.UNSET else sample.together


def _set_rows(samples: list[SampleResult], name: str) -> list[Metric]:
    return metric_rows(
        [sample for sample in samples if name in _sets_of(sample)], f"{name}_accuracy", partial(_sets, name=name)
    )


def _sets(samples: list[SampleResult], reading: ReadingName, name: str) -> list[Observation]:
    """Return one observation per set: whether all of its tasks are right, as a mean over rounds."""
    sets = grouped(samples, lambda sample: _sets_of(sample)[name])
    return [_all_right_by_round(members, reading) for members in sets.values()]


def _all_right_by_round(members: list[SampleResult], reading: ReadingName) -> Observation:
    rounds = by_round(members).values()
    return combine([all_right([one.reading(reading) for one in of_round], members[0]) for of_round in rounds])


def all_right(readings: list[Reading], sample: SampleResult) -> Observation:
    """Return whether all are right; unscored if that is not known. A set with a wrong task is wrong."""
    scored = [reading.points for reading in readings if reading.is_scored]
    low, high = float(len(scored) == len(readings) and min(scored) >= 1), float(all(credit >= 1 for credit in scored))
    return Observation(value=low if low == high else None, low=low, high=high, cluster=sample.independent_unit)


# --- several samples --------------------------------------------------------------------------------------------------


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


_OF_K = {"pass@": pass_at_k, "pass^": pass_all_k}


def task_pass_at_k(members: Sequence[SampleResult], reading: ReadingName, name: str) -> Observation | None:
    """Return a task's `pass@k` or `pass^k`; None if it has fewer samples than k."""
    chance, k = _OF_K[name[:5]], int(name[5:])
    outcomes = [member.reading(reading) for member in members]
    if len(outcomes) < k:
        return None
    passed = sum(one.points >= 1 for one in outcomes)
    lost = sum(not one.is_scored for one in outcomes)
    scored = len(outcomes) - lost
    return Observation(
        value=chance(scored, passed, k) if scored >= k else None,
        low=chance(len(outcomes), passed, k),
        high=chance(len(outcomes), passed + lost, k),
        cluster=members[0].independent_unit,
    )


def pass_at_k_rows(samples: list[SampleResult], ks: Sequence[int]) -> list[Metric]:
    """Return pass@k and pass^k of tasks with several samples, for each of the given k, else for all samples."""
    names_ = pass_at_k_names(_most(samples), ks)
    return [row for name in names_ for row in metric_rows(samples, name, partial(_each, name=name))]


def _each(samples: list[SampleResult], reading: ReadingName, name: str) -> list[Observation]:
    found = (task_pass_at_k(members, reading, name) for members in by_observation(samples).values())
    return [one for one in found if one is not None]


def _most(samples: Iterable[SampleResult]) -> int:
    """Return the largest number of samples of a task; 1 if they are the texts of several filters of one sample."""
    counts = [1]
    for sample in samples:
        if not isinstance(sample.groups, msgspec.UnsetType) and FILTER in sample.groups:
            return 1
        counts.append(sample.sample + 1)
    return max(counts)


def pass_at_k_names(most: int, ks: Sequence[int]) -> list[str]:
    """Return the names of the metrics of several samples; none if each task has one."""
    if most < 2:
        return []
    return [f"{kind}{k}" for k in ks or (most,) for kind in _OF_K if kind == "pass@" or k > 1]


def observe_pass_at_k(name: str) -> Observe | None:
    """Return the function that gives a task's value in a metric of several samples; None for another metric."""
    if name[:5] not in _OF_K or not name[5:].isdecimal() or not int(name[5:]):
        return None

    def value(members: Sequence[SampleResult], reading: ReadingName) -> float | None:
        found = task_pass_at_k(members, reading, name)
        return None if found is None else found.value

    return value


def check_k(predictions: Mapping[str, list[str]], ks: Sequence[int]) -> None:
    """Raise UsageError for a k that a task has too few samples for."""
    fewest = min((len(texts) for texts in predictions.values() if texts), default=0)
    for k in ks:
        if k > fewest:
            raise UsageError(f"-k {k}: pass@{k} needs at least {k} samples of every task, and one has only {fewest}.")
