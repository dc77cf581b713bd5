"""Metrics that are means over observations, overall and by group, in both readings: most scorers use these."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from grader.decisions import intervals
from grader.results import READINGS, Metric, Outcome, ReadingName, SampleResult, by_group

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """The credit of one observation: over scored samples, and over all samples if unscored ones are wrong or right."""

    value: float | None
    low: float
    high: float


def metric_rows(
    samples: Iterable[SampleResult], name: str, observe: Callable[[list[SampleResult], ReadingName], list[Observation]]
) -> list[Metric]:
    """Return one metric for every group and reading; `observe` makes the observations of a group's samples."""
    rows = []
    for group, members in by_group(samples).items():
        for reading in READINGS:
            row = metric(name, reading, group, observe(members, reading))
            if row is not None:
                rows.append(row)
    return rows


def metric(name: str, reading: ReadingName, group: str | None, observations: list[Observation]) -> Metric | None:
    """Return the mean over scored observations, with bounds if something is unscored; None if nothing is scored."""
    scored = [o.value for o in observations if o.value is not None]
    summary = intervals.mean(scored)
    if summary is None:
        return None
    uncertain = any(o.value is None or o.low != o.high for o in observations)
    low = 100 * sum(o.low for o in observations) / len(observations)
    high = 100 * sum(o.high for o in observations) / len(observations)
    return Metric(
        name=name,
        reading=reading,
        group=group,
        **msgspec.structs.asdict(summary),
        bounds=(low, high) if uncertain else msgspec.UNSET,
    )


def each_task(samples: list[SampleResult], reading: ReadingName) -> list[Observation]:
    """Return one observation per qid: the mean credit of its samples."""
    return [mean_of(members, reading) for members in _by_task(samples).values()]


def _by_task(samples: Iterable[SampleResult]) -> dict[str, list[SampleResult]]:
    found: dict[str, list[SampleResult]] = {}
    for sample in samples:
        found.setdefault(sample.qid, []).append(sample)
    return found


def mean_of(members: list[SampleResult], reading: ReadingName) -> Observation:
    """Return the mean credit of samples."""
    return combine(
        [
            Observation(value=None, low=0, high=1)
            if (r := member.reading(reading)).outcome is Outcome.UNSCORED
            else Observation(value=r.credit, low=r.credit, high=r.credit)
            for member in members
        ]
    )


def combine(parts: list[Observation]) -> Observation:
    """Return the mean of observations, over those that are scored, and the mean of their bounds."""
    scored = [part.value for part in parts if part.value is not None]
    return Observation(
        value=sum(scored) / len(scored) if scored else None,
        low=sum(part.low for part in parts) / len(parts),
        high=sum(part.high for part in parts) / len(parts),
    )
