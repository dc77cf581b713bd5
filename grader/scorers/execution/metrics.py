"""The metrics of execution: pass@k and the parse success rate, overall and by group, in both readings."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

from grader.decisions import intervals as stats
from grader.results import READINGS, Metric, Outcome, ReadingName, SampleResult, by_group, by_observation
from grader.scorers.execution.pass_at_k import pass_at_k

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from grader.scorers.interface import Observe

PARSE_RATE = "parse_success_rate"


def metrics(samples: list[SampleResult], ks: Iterable[int]) -> list[Metric]:
    """Return pass@k for every k and the parse success rate, overall and by group, in both readings."""
    ks = tuple(ks)
    rows: list[Metric] = []
    for group, members in by_group(samples).items():
        for reading in READINGS:
            by_task = by_observation(members)
            rows += [row for k in ks if (row := _pass_metric(by_task, k, reading, group)) is not None]
            rows += [row for row in [_parse_metric(members, reading, group)] if row is not None]
    return rows


def _pass_metric(
    tasks: dict[str, list[SampleResult]], k: int, reading: ReadingName, group: str | None
) -> Metric | None:
    """Return one pass@k over scored samples, with bounds if some are unscored; None if no task has k samples."""
    estimates, lowest, highest, unscored = [], [], [], 0
    for members in tasks.values():
        outcomes = [member.reading(reading) for member in members]
        passed = sum(o.credit >= 1 for o in outcomes)
        lost = sum(o.outcome is Outcome.UNSCORED for o in outcomes)
        unscored += lost
        if len(outcomes) - lost >= k:
            estimates.append(pass_at_k(len(outcomes) - lost, passed, k))
        if len(outcomes) >= k:
            lowest.append(pass_at_k(len(outcomes), passed, k))
            highest.append(pass_at_k(len(outcomes), passed + lost, k))
    summary = stats.mean(estimates)
    if summary is None:
        return None
    bounds = (100 * math.fsum(lowest) / len(lowest), 100 * math.fsum(highest) / len(highest)) if unscored else None
    return Metric(
        name=f"pass@{k}",
        reading=reading,
        group=group,
        **msgspec.structs.asdict(summary),
        bounds=bounds or msgspec.UNSET,
    )


def _parse_metric(samples: list[SampleResult], reading: ReadingName, group: str | None) -> Metric | None:
    """Return the parse success rate over scored samples; None if no sample is scored.

    Official, if nothing is unscored: failures / (samples of the last record x records).
    """
    scored = [s for s in samples if s.reading(reading).outcome is not Outcome.UNSCORED]
    if not scored:
        return None
    lost = len(samples) - len(scored)
    failures = sum(s.reading(reading).outcome is Outcome.LINT_FAILED for s in scored)
    tasks = by_observation(scored)
    total = len(scored)
    if reading == "official" and not lost:
        total = len(tasks) * len(next(reversed(tasks.values())))
    by_task = [
        sum(s.reading(reading).outcome is not Outcome.LINT_FAILED for s in members) / len(members)
        for members in tasks.values()
    ]
    spread = stats.mean(by_task)
    if spread is None:
        return None
    low, high = (100 * (1 - (failures + more) / len(samples)) for more in (lost, 0))
    return Metric(
        name=PARSE_RATE,
        reading=reading,
        group=group,
        value=100 * (1 - failures / total),
        ci95=spread.ci95,
        stderr=spread.stderr,
        n=spread.n,
        bounds=(low, high) if lost else msgspec.UNSET,
    )


# --- observations -----------------------------------------------------------------------------------------------


def k_of(name: str) -> int | None:
    """Return the k of `pass@k`; None for another metric."""
    start, _, k = name.partition("@")
    return int(k) if start == "pass" and k.isdecimal() and int(k) > 0 else None


def observe(name: str) -> Observe | None:
    """Return the function that gives a task's value in a metric; None for another metric."""
    k = k_of(name)
    if k is not None:
        return _pass_at(k)
    return _parsed if name == PARSE_RATE else None


def _pass_at(k: int) -> Observe:
    def value(members: Sequence[SampleResult], reading: ReadingName) -> float | None:
        credits_ = [r.credit for s in members if (r := s.reading(reading)).outcome is not Outcome.UNSCORED]
        passed = sum([credit >= 1 for credit in credits_])
        return pass_at_k(len(credits_), passed, k) if len(credits_) >= k else None

    return value


def _parsed(members: Sequence[SampleResult], reading: ReadingName) -> float | None:
    outcomes = [r for s in members if (r := s.reading(reading).outcome) is not Outcome.UNSCORED]
    return sum(o is not Outcome.LINT_FAILED for o in outcomes) / len(outcomes) if outcomes else None
