"""The metrics of execution: pass@k and the parse success rate, overall and by group, in both readings."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import msgspec

from grader.errors import UsageError
from grader.files.json_text import quoted
from grader.results import READINGS, Calls, Metric, Outcome, ReadingName, SampleResult
from grader.results.groups import by_group, by_observation
from grader.scorers.execution.facts import facts_of
from grader.scorers.interface import MISSING_RULE, CurveBlock
from grader.scorers.means import (
    Observation,
    is_judged,
    judged_samples,
    mean_of_observations,
    metric,
    metric_without_value,
)
from grader.scorers.oddities import have_filters
from grader.scorers.pass_at_k import task_pass_at_k
from grader.statistics import intervals

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from grader.results import Reading, ReadingName, Report, SampleResult
    from grader.scorers.execution.declaration import ExecutionProtocol
    from grader.scorers.means import Observe

PARSE_RATE, CALLS_RIGHT, BASE = "parse_success_rate", "calls_right", "base_"


def reported_ks(ks: tuple[int, ...], counts: Mapping[str, int], protocol: ExecutionProtocol) -> tuple[int, ...]:
    """Return the ks to report: the given ones, or 1 and the protocol's.

    A k needs as many samples of every task: without them, a given one raises UsageError; the protocol's is left out.
    """
    task, fewest = min(counts.items(), key=lambda item: item[1], default=("", 0))
    if not ks:
        return tuple(sorted({1, protocol.k if fewest >= protocol.k else 1}))
    for k in ks:
        if k > fewest:
            raise UsageError(
                f"pass@{k} needs at least {k} samples of every task, and {quoted(task)} has only {fewest}: "
                f"there is no unbiased estimate. Give -k at most {fewest}."
            )
    return tuple(sorted(set(ks)))


def metrics(samples: list[SampleResult], ks: Iterable[int], *, has_linter: bool) -> list[Metric]:
    """Return pass@k for every k, and the parse success rate of a linter, overall and by group, in both readings.

    Tasks that are not judged are left out of the careful metrics. If no task is left, the metric stays in the report,
    without a value.
    """
    ks = tuple(ks)
    knows_calls = any(isinstance(sample.calls, Calls) for sample in samples)
    rows: list[Metric | None] = []
    for group, members in by_group(samples).items():
        # Names begin with `base_` where only the base inputs count.
        tasks_by_prefix = {"": by_observation(members), BASE: by_observation(base_samples(members))}
        for reading in READINGS:
            judged = judged_samples(members, reading)
            for k in ks:
                for prefix, tasks in tasks_by_prefix.items():
                    name = f"{prefix}pass@{k}"
                    if tasks and not judged:
                        rows.append(metric_without_value(name, group))
                    else:
                        rows.append(metric(name, reading, group, pass_observations(tasks.values(), k, reading)))
            if has_linter:
                rows.append(
                    _parse_metric(judged, reading, group) if judged else metric_without_value(PARSE_RATE, group)
                )
        rows.append(_calls_metric(members, group) if knows_calls else None)
    return [row for row in rows if row is not None]


def base_samples(samples: Iterable[SampleResult]) -> list[SampleResult]:
    """Return samples as they would be with their base inputs only; none if the tasks do not tell these apart."""
    pairs = [(sample, facts_of(sample).base) for sample in samples]
    if all(base_passes is None for _, base_passes in pairs):
        return []
    return [sample if base_passes is None else _with_credits(sample, *base_passes) for sample, base_passes in pairs]


def _with_credits(sample: SampleResult, passes_officially: bool, passes_carefully: bool) -> SampleResult:
    """Return a sample with the credits that its base inputs alone would give."""
    official = msgspec.structs.replace(sample.official, credit=float(passes_officially))
    careful = msgspec.structs.replace(sample.careful, credit=float(passes_carefully))
    return msgspec.structs.replace(sample, official=official, careful=careful)


def pass_observations(tasks: Iterable[list[SampleResult]], k: int, reading: ReadingName) -> list[Observation]:
    """Return pass@k of each judged task that has k samples; its value is None if fewer are scored."""
    values = (task_pass_at_k(members, reading, f"pass@{k}") for members in tasks if is_judged(members, reading))
    return [observation for observation in values if observation is not None]


def _parse_metric(samples: list[SampleResult], reading: ReadingName, group: str | None) -> Metric | None:
    """Return the parse success rate over scored samples; None if no sample is scored.

    The official evaluator divides by the number of records times that of the last record's samples, as if all records
    had as many. So does the official value, if nothing is unscored.
    """
    scored = [s for s in samples if s.reading(reading).outcome is not Outcome.UNSCORED]
    if not scored:
        return None
    unscored = len(samples) - len(scored)
    failures = sum(not _is_parsed(s.reading(reading)) for s in scored)
    tasks = list(by_observation(scored).values())
    denominator = len(scored)
    if reading == "official" and not unscored:
        denominator = len(tasks) * len(tasks[-1])
    rates = [sum(_is_parsed(s.reading(reading)) for s in members) / len(members) for members in tasks]
    spread = intervals.mean(rates, [members[0].independent_unit for members in tasks])
    if spread is None:
        return None
    worst, best = (100 * (1 - (failures + unscored_failures) / len(samples)) for unscored_failures in (unscored, 0))
    return Metric(
        name=PARSE_RATE,
        reading=reading,
        group=group,
        value=100 * (1 - failures / denominator),
        ci95=spread.ci95,
        stderr=spread.stderr,
        n=spread.n,
        bounds=(worst, best) if unscored else msgspec.UNSET,
        dropped=len(by_observation(samples)) - len(tasks) or msgspec.UNSET,
    )


def _calls_metric(samples: list[SampleResult], group: str | None) -> Metric | None:
    """Return the mean share of right calls, over tasks; None if the calls of no task are known."""
    tasks = map(_calls_observation, by_observation(samples).values())
    return metric(CALLS_RIGHT, "careful", group, [task for task in tasks if task is not None])


def _calls_observation(members: Sequence[SampleResult]) -> Observation | None:
    """Return the mean share of right calls of a task's samples; None if its calls are not known."""
    shares = [share for member in members if (share := _right_share(member)) is not None]
    return mean_of_observations(shares) if shares else None


def _right_share(sample: SampleResult) -> Observation | None:
    """Return the share of right calls of a sample; None if its calls are not known.

    All calls of a sample that passes are right. Those of another one are right if they are the same. A missing
    prediction answers none.
    """
    if sample.careful.outcome is Outcome.NOT_JUDGED:
        return None
    if sample.careful.rule == MISSING_RULE:
        return Observation(value=0, low=0, high=0, cluster=sample.independent_unit)
    if sample.careful.outcome is Outcome.UNSCORED:
        return Observation(value=None, low=0, high=1, cluster=sample.independent_unit)
    if not isinstance(sample.calls, Calls) or not sample.calls.n:
        return None
    share = 1.0 if sample.careful.points >= 1 else sample.calls.same / sample.calls.n
    return Observation(value=share, low=share, high=share, cluster=sample.independent_unit)


# --- observations -----------------------------------------------------------------------------------------------


def k_of(name: str) -> int | None:
    """Return the k of `pass@k`; None for another metric."""
    start, _, k = name.partition("@")
    return int(k) if start == "pass" and k.isdecimal() and int(k) > 0 else None


def observation_function(name: str) -> Observe | None:
    """Return the function that gives a task's value in a metric; None for another metric."""
    k = k_of(name.removeprefix(BASE))
    if k is not None:
        return partial(_pass_at_k_of_task, k=k, has_base_only=name.startswith(BASE))
    if name == CALLS_RIGHT:
        return _right_share_of_task
    return _parse_rate_of_task if name == PARSE_RATE else None


def _pass_at_k_of_task(
    members: Sequence[SampleResult], reading: ReadingName, *, k: int, has_base_only: bool
) -> float | None:
    observations = pass_observations([base_samples(members) if has_base_only else [*members]], k, reading)
    return observations[0].value if observations else None


def _right_share_of_task(members: Sequence[SampleResult], reading: ReadingName) -> float | None:
    """Return the mean share of right calls of a task, for comparisons of runs; the careful reading alone has it."""
    task = _calls_observation(members) if reading == "careful" else None
    return None if task is None else task.value


def _parse_rate_of_task(members: Sequence[SampleResult], reading: ReadingName) -> float | None:
    scored = [r for sample in members if (r := sample.reading(reading)).is_scored]
    return sum(map(_is_parsed, scored)) / len(scored) if scored else None


def _is_parsed(reading: Reading) -> bool:
    """Whether there is a program, and the linter accepts it."""
    return reading.outcome is not Outcome.LINT_FAILED and reading.rule != MISSING_RULE


# --- pass@k, and its curve over k -------------------------------------------------------------------------------


MAX_K = 200
"""Maximum number of points on a curve: more would not be visible."""


def curve(report: Report) -> CurveBlock | None:
    """Return pass@k in both readings, as the metric gives it, against k; None if there is no k above 1.

    The last k is the fewest samples of a task: beyond, each point would be about other tasks, and the curve could fall.
    If no task has as many scored samples, it is the most that one has.
    """
    tasks = list(by_observation(report.samples).values())
    max_scored = max((_scored_count(members, reading) for members in tasks for reading in READINGS), default=0)
    max_k = min(MAX_K, max_scored, *map(len, tasks))
    if max_k < 2 or have_filters(report.samples):
        return None
    ks = list(range(1, max_k + 1))
    official, careful = ([_point(tasks, k, reading) for k in ks] for reading in READINGS)
    return CurveBlock(
        title="pass@k against k", axis="k, samples drawn", prefix="pass@", k=ks, official=official, careful=careful
    )


def _scored_count(members: list[SampleResult], reading: ReadingName) -> int:
    return sum(member.reading(reading).is_scored for member in members)


def _point(tasks: list[list[SampleResult]], k: int, reading: ReadingName) -> tuple[float | None, int]:
    """Return (pass@k in percent, number of tasks)."""
    row = metric(f"pass@{k}", reading, None, pass_observations(tasks, k, reading))
    return (None, 0) if row is None else (row.value, row.n)


# --- explanations for reports -----------------------------------------------------------------------------------

GLOSSARY: Mapping[str, str] = {
    "pass@*": "The estimated chance that at least one of k samples passes all tests, as a mean over tasks.",
    "base_pass@*": "The same for the base inputs alone; pass@k needs the further inputs too.",
    "parse_success_rate": "The share of samples whose program passed the linter.",
    "calls_right": "The share of calls, or of inputs, that a program answers as expected, as a mean over tasks.",
    "split": "The program answered the calls of the tests, and the tests judged its answers in another process.",
    "outputs": "What the program printed or returned for the inputs is compared with the expected outputs.",
    "likeness": "The answers are compared with those of the reference solution.",
    "execution": "The result of executing the program with the tests.",
    "recovered": "The program passes with code that the official assembly drops, or without its own demonstrations.",
    "pylint": "The linter rejected the program before it was executed.",
    "no_program": "The reply has no program.",
    "apart": "The task cannot be judged carefully: its tests cannot judge a program that runs apart from them.",
    "not_asked": "A pool was not asked for this reading.",
    "broken_row": "The row of the data is broken: no program can be right.",
    "infrastructure": "The sandbox failed; this says nothing about the sample.",
    "missing": "The prediction file has no answer to this task.",
    "server_failure": "The model's server failed; this says nothing about the model.",
}
