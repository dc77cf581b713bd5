"""The published models of a benchmark, which a leaderboard shows among its runs.

The facts are in the benchmark's `published.json`: values of the official reading, without intervals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from grader import resources
from grader.results.groups import by_task
from grader.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grader.results import Report


class PublishedModel(msgspec.Struct, frozen=True, kw_only=True):
    """A published value of a benchmark's first metric."""

    model: str
    mode: str
    """The published name of its prompt mode."""
    value: float
    """In percent."""


class Published(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The published values of a benchmark."""

    source: str
    protocol: str
    tasks: int
    samples: dict[str, int]
    """Metric -> number of samples of a task from which it was computed."""
    modes: dict[str, str]
    """Prompt mode -> its published name."""
    models: dict[str, dict[str, dict[str, float]]]
    """Model -> prompt mode -> metric -> value."""


def load(benchmark: str) -> Published | None:
    """Return the published values of a bundled benchmark; None if there are none."""
    path = resources.folder("benchmarks") / benchmark / "published.json"
    if benchmark not in resources.bundled_benchmarks() or not path.is_file():
        return None
    return msgspec.json.decode(path.read_bytes(), type=Published)


def why_not_comparable(report: Report, published: Published) -> str:
    """Return why a run cannot be compared with the published values; empty if it can be."""
    if report.protocol != published.protocol:
        return f"the published values are of protocol {published.protocol}, this run is of {report.protocol}"
    tasks = len(by_task(report.samples))
    if tasks != published.tasks:
        return f"the published values are of {published.tasks} tasks, this run has {tasks}"
    return ""


def models(reports: Iterable[Report], metric: str, published: Published) -> list[PublishedModel]:
    """Return the published models in the prompt modes of these runs, the best first."""
    modes = dict.fromkeys(_assumed_mode(report, published) for report in reports)
    in_modes = [
        PublishedModel(model=name, mode=published.modes[mode], value=values[mode][metric])
        for name, values in published.models.items()
        for mode in modes
        if metric in values.get(mode, {})
    ]
    return sorted(in_modes, key=lambda model: -model.value)


def setting_notes(name: str, report: Report, metric: str, published: Published) -> Iterator[str]:
    """Yield the settings of a run that differ from the published ones, or are unknown."""
    if not _stated_mode(report, published):
        mode = published.modes[_assumed_mode(report, published)]
        yield f"{name}: its file does not say a published prompt mode; it is shown among {mode}."
    sample_count = max(len(samples) for samples in by_task(report.samples).values())
    published_count = published.samples.get(metric, sample_count)
    if sample_count != published_count:
        published_samples = counted(published_count, "sample")
        yield (
            f"{name}: {metric} is from {counted(sample_count, 'sample')} of a task, "
            f"the published one from {published_samples}."
        )


def _assumed_mode(report: Report, published: Published) -> str:
    """Return the prompt mode of a run; if its file does not say a published one, that of most published models."""
    most_common = max(published.modes, key=lambda name: sum(name in modes for modes in published.models.values()))
    return _stated_mode(report, published) or most_common


def _stated_mode(report: Report, published: Published) -> str:
    """Return the prompt mode that a run's file says; empty if it is not a published one. A file can say any JSON."""
    mode = report.provenance.inference.get("mode")
    return mode if isinstance(mode, str) and mode in published.modes else ""
