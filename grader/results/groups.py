"""The samples of a report, grouped: by task, observation, round, or category."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from grader.results import Report, SampleResult

K = TypeVar("K")
T = TypeVar("T")


def by_group(samples: Iterable[SampleResult]) -> dict[str | None, list[SampleResult]]:
    """Return the samples of every group (`field=value`, sorted); the first key, `None`, has all samples."""
    all_samples: list[SampleResult] = []
    groups: dict[str, list[SampleResult]] = {}
    for sample in samples:
        all_samples.append(sample)
        for group in sample.group_names():
            groups.setdefault(group, []).append(sample)
    return {None: all_samples, **{group: groups[group] for group in sorted(groups)}}


def by_observation(samples: Iterable[SampleResult]) -> dict[str, list[SampleResult]]:
    """Return the samples of each observation (task, question, circular group), in their order."""
    return grouped(samples, lambda sample: sample.observation)


def in_group(report: Report, group: str | None) -> dict[str, list[SampleResult]]:
    """Return the samples of a group (`field=value`; None: all samples), by observation."""
    return by_observation(sample for sample in report.samples if group is None or group in sample.group_names())


def by_task(samples: Iterable[SampleResult]) -> dict[str, list[SampleResult]]:
    """Return the samples of each task, in their order."""
    return grouped(samples, lambda sample: sample.qid)


def by_round(samples: Iterable[SampleResult]) -> dict[int, list[SampleResult]]:
    """Return the samples of each round; a round has the samples with the same number."""
    return grouped(samples, lambda sample: sample.sample)


def grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Return key -> its items, both in the order of the items."""
    groups: dict[K, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups
