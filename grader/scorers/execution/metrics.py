"""What an execution comes to: pass@k and the parsing success rate, overall and by group, in both readings."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

from grader.decisions import intervals as stats
from grader.results import READINGS, Metric, Outcome, ReadingName, SampleResult
from grader.scorers.execution.pass_at_k import pass_at_k

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def metrics(samples: list[SampleResult], ks: Iterable[int]) -> list[Metric]:
    """Return pass@k for every k and the parsing success rate, overall and by group, in both readings."""
    ks = tuple(ks)
    rows: list[Metric] = []
    for group, members in _groups(samples):
        for reading in READINGS:
            by_task = _by_task(members)
            rows += [row for k in ks if (row := _pass_metric(by_task, k, reading, group)) is not None]
            rows += [row for row in [_parse_metric(members, reading, group)] if row is not None]
    return rows


def _groups(samples: list[SampleResult]) -> Iterator[tuple[str | None, list[SampleResult]]]:
    yield None, samples
    groups: dict[str, list[SampleResult]] = {}
    for sample in samples:
        if sample.groups is not msgspec.UNSET:
            for name, labels in sample.groups.items():
                for label in [labels] if isinstance(labels, str) else labels:
                    groups.setdefault(f"{name}={label}", []).append(sample)
    yield from sorted(groups.items())


def _by_task(samples: list[SampleResult]) -> dict[str, list[SampleResult]]:
    tasks: dict[str, list[SampleResult]] = {}
    for sample in samples:
        tasks.setdefault(sample.qid, []).append(sample)
    return tasks


def _pass_metric(
    tasks: dict[str, list[SampleResult]], k: int, reading: ReadingName, group: str | None
) -> Metric | None:
    """Return one pass@k: over scored samples, with bounds where some are unscored; None where no task has k."""
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
    """Return the parsing success rate, over scored samples; None where there is none.

    Official: failures over (samples of the last record x records), where nothing is unscored.
    """
    scored = [s for s in samples if s.reading(reading).outcome is not Outcome.UNSCORED]
    if not scored:
        return None
    lost = len(samples) - len(scored)
    failures = sum(s.reading(reading).outcome is Outcome.LINT_FAILED for s in scored)
    tasks = _by_task(scored)
    total = len(scored)
    if reading == "official" and not lost:
        total = len(tasks) * len(next(reversed(tasks.values())))
    by_task = [
        sum(s.reading(reading).outcome is not Outcome.LINT_FAILED for s in members) / len(members)
        for members in tasks.values()
    ]
    spread = stats.mean(by_task)
    assert spread is not None
    low, high = (100 * (1 - (failures + more) / len(samples)) for more in (lost, 0))
    return Metric(
        name="parse_success_rate",
        reading=reading,
        group=group,
        value=100 * (1 - failures / total),
        ci95=spread.ci95,
        stderr=spread.stderr,
        n=spread.n,
        bounds=(low, high) if lost else msgspec.UNSET,
    )
