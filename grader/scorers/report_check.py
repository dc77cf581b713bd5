"""Reading of earlier runs' results files, whose metrics must be those of their samples."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from grader.errors import InputError
from grader.files.json_text import problem_lines
from grader.results import file as results_file
from grader.scorers import aggregates
from grader.scorers.registry import fact_types, scorer_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from grader.results import Metric, Report

    Key = tuple[str, str, str | None]
TOLERANCE = 1e-6
"""In percentage points: sums of floats depend a little on the library that made them."""

CAUSE = (
    "The metrics are not those of the samples: the file was changed, or another version of grade ({}) made it. Score "
    "it again (--score-only), or grade again."
)


def read_report(path: Path) -> Report:
    """Read a results file. Raises InputError if it is invalid, or if its samples do not give its metrics."""
    report = results_file.read_report(path, fact_types)
    recomputed = aggregates.with_declared_metrics(report, scorer_of(report).metrics(report))
    problems = [f"{path}: {problem}" for problem in _differences(report.metrics, recomputed)]
    if problems:
        raise InputError([*problem_lines(problems), CAUSE.format(report.provenance.grade or "unknown")])
    return report


def _differences(written: list[Metric], recomputed: list[Metric]) -> Iterator[str]:
    """Yield the metrics that the samples do not give. Intervals are not compared: their method may be newer."""
    recomputed_by_key = {_key(metric): metric for metric in recomputed}
    pairs: list[tuple[Key, Metric | None]] = [(_key(metric), metric) for metric in written]
    keys = {key for key, _ in pairs}
    for key, metric in [*pairs, *((key, None) for key in recomputed_by_key if key not in keys)]:
        of_samples = recomputed_by_key.get(key)
        if not _is_same(metric, of_samples):
            yield f"{_name(*key)} is {_in_words(metric)}, but its samples give {_in_words(of_samples)}"


def _key(metric: Metric) -> Key:
    return metric.name, metric.reading, metric.group


def _name(name: str, reading: str, group: str | None) -> str:
    return f"{name} ({reading}{f', {group}' if group else ''})"


def _is_same(written: Metric | None, recomputed: Metric | None) -> bool:
    if written is None or recomputed is None:
        return written is recomputed
    if (written.n, written.value is None) != (recomputed.n, recomputed.value is None):
        return False
    # Gates also decide by the bounds, so these are compared, too.
    numbers, numbers_of_samples = ([one.value or 0.0, *(one.bounds or ())] for one in (written, recomputed))
    return len(numbers) == len(numbers_of_samples) and all(
        math.isclose(number, of_samples, rel_tol=0, abs_tol=TOLERANCE)
        for number, of_samples in zip(numbers, numbers_of_samples, strict=True)
    )


def _in_words(metric: Metric | None) -> str:
    if metric is None:
        return "none"
    value = "without a value" if metric.value is None else f"{metric.value:.4f}"
    bounds = f", between {metric.bounds[0]:.4f} and {metric.bounds[1]:.4f}" if metric.bounds else ""
    return f"{value} (n = {metric.n}{bounds})"
