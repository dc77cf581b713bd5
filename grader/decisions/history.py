"""Checkpoints of one training run: a metric over steps, and what changed from each checkpoint to the next."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec

from grader.decisions.comparison import Flip, RunName, check_comparable, compare_metric, flips, told_apart
from grader.errors import UsageError
from grader.predictions.record import counted
from grader.receipts import STRENGTH
from grader.results import READINGS, Metric, Outcome, ReadingName, Report
from grader.scorers import declarations
from grader.scorers.interface import in_group
from grader.statistics.corrections import expected_lead, holm, noise_of_steps

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_STEP = re.compile(r"(?:step|checkpoint|ckpt|iter|iteration|epoch)s?[-_=]?(\d+)", re.IGNORECASE)
_NUMBER = re.compile(r"\d+")
ENDING = "_results.json"


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """The change from the previous checkpoint to this one, in the selected reading."""

    value: float
    """In points, over the items that are scored in both."""
    stderr: float
    ci95: tuple[float, float]
    p_value: float
    corrected: float
    """The p value, corrected for all steps of the history (Holm)."""
    n: int
    risen: list[Flip]
    fallen: list[Flip]


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """One point of a history."""

    step: int
    run: RunName
    official: Metric | None
    careful: Metric | None
    is_below: bool | None = None
    """Whether the value is below the gate's threshold; None: no threshold, or no value."""
    change: Change | None = None
    """None for the first checkpoint."""

    def metric(self, reading: ReadingName) -> Metric | None:
        """Return the value in one reading."""
        return self.official if reading == "official" else self.careful


class History(msgspec.Struct, frozen=True, kw_only=True):
    """A metric over the checkpoints of one training run."""

    schema: int = 1
    benchmark: str
    title: str
    """The benchmark's display name."""
    split: str
    protocol: str
    metric: str
    group: str | None = None
    reading: ReadingName
    line: float | None = None
    """The gate's threshold."""
    checkpoints: list[Checkpoint]
    best: int | None = None
    """Index of the checkpoint with the highest value; the first one if several are equal."""
    lead: float | None = None
    """By how much the highest value would be too high on average if all checkpoints were equal, in points."""
    notes: list[str] = []

    def value(self, at: int) -> float | None:
        """Return a checkpoint's value in the selected reading."""
        metric = self.checkpoints[at].metric(self.reading)
        return None if metric is None else metric.value


def step_of(path: Path) -> int | None:
    """Return the step from the name of a results file or of its folder; None if neither has a number.

    A number after `step`, `checkpoint` or a similar word is preferred to other numbers.
    """
    name = path.name.removesuffix(ENDING)
    for pattern in (_STEP, _NUMBER):
        for text in (name, path.parent.name):
            numbers = pattern.findall(text)
            if numbers:
                return int(numbers[-1])
    return None


def in_order(paths: Sequence[Path]) -> list[tuple[int, Path]]:
    """Return results files sorted by step. Raises UsageError if a step is missing or occurs twice."""
    steps: dict[int, Path] = {}
    for path in paths:
        step = step_of(path)
        if step is None:
            raise UsageError(f"{path}: the name has no step. Rename it, for example to step_1000{ENDING}.")
        if step in steps:
            raise UsageError(f"{steps[step]} and {path} have the same step {step}. Keep one of them.")
        steps[step] = path
    return sorted(steps.items())


def history(
    runs: Sequence[tuple[int, RunName, Report]],
    *,
    metric: str = "",
    group: str | None = None,
    reading: ReadingName = "careful",
    line: float | None = None,
) -> History:
    """Return the history of checkpoints in the given order. Raises UsageError if neighbours cannot be compared."""
    first = runs[0][2]
    name = metric or next((row.name for _, _, report in runs for row in report.metrics), "")
    _check_metric(runs, name, group)
    names = told_apart([run for _, run, _ in runs])
    changes = _changes(runs, name, group, reading)
    points = [
        Checkpoint(
            step=step,
            run=run,
            official=report.metric(name, "official", group),
            careful=report.metric(name, "careful", group),
            is_below=_is_below(report.metric(name, reading, group), line),
            change=change,
        )
        for (step, _, report), run, change in zip(runs, names, [None, *changes], strict=True)
    ]
    values = [found.value if (found := point.metric(reading)) else None for point in points]
    scored = [at for at, value in enumerate(values) if value is not None]
    return History(
        benchmark=first.benchmark,
        title=declarations.name_of(first),
        split=first.split,
        protocol=first.protocol,
        metric=name,
        group=group,
        reading=reading,
        line=line,
        checkpoints=points,
        best=max(scored, key=lambda at: (values[at], -at), default=None),
        lead=_lead(len(scored), [change for change in changes if change]),
        notes=[*_unscored(runs, name, group), *_unmeasured(runs), *_only_on_weak_tests(points, runs, name, reading)],
    )


def _lead(number: int, changes: list[Change]) -> float | None:
    """Return the expected lead of the best of so many equal checkpoints; None if no item changes: noise is unknown."""
    if number < 2 or not changes:
        return None
    return expected_lead(number, noise_of_steps([change.stderr for change in changes])) or None


def _check_metric(runs: Sequence[tuple[int, RunName, Report]], name: str, group: str | None) -> None:
    if any(report.metric(name, reading, group) for _, _, report in runs for reading in ("official", "careful")):
        return
    known = dict.fromkeys(row.name for _, _, report in runs for row in report.metrics)
    where = f" of {group}" if group else ""
    raise UsageError(f"No run has the metric {name!r}{where}; the runs have {', '.join(known)}.")


def _is_below(metric: Metric | None, line: float | None) -> bool | None:
    return None if metric is None or metric.value is None or line is None else metric.value < line


def _changes(
    runs: Sequence[tuple[int, RunName, Report]], name: str, group: str | None, reading: ReadingName
) -> list[Change | None]:
    """Return the change from each checkpoint to the next."""
    changes = [_change(before, after, name, group, reading) for (_, _, before), (_, _, after) in pairwise(runs)]
    corrected = iter(holm([change.p_value for change in changes if change]))
    return [change and msgspec.structs.replace(change, corrected=next(corrected)) for change in changes]


def _change(before: Report, after: Report, name: str, group: str | None, reading: ReadingName) -> Change | None:
    scorer = check_comparable(before, after)
    row = compare_metric(before, after, scorer, name, reading, group=group)
    if row is None:
        return None
    risen, fallen = flips(before, after, scorer, name, reading, group=group)
    moved = row.difference
    return Change(
        value=moved.value,
        stderr=moved.stderr,
        ci95=moved.ci95,
        p_value=moved.p_value,
        corrected=moved.p_value,
        n=moved.n,
        risen=risen,
        fallen=fallen,
    )


def _unscored(runs: Sequence[tuple[int, RunName, Report]], name: str, group: str | None) -> list[str]:
    """Return a note for each checkpoint and reading whose value lacks unscored samples."""
    notes = []
    for step, _, report in runs:
        members = [sample for samples in in_group(report, group).values() for sample in samples]
        for reading in READINGS:
            metric = report.metric(name, reading, group)
            lost = sum(sample.reading(reading).outcome is Outcome.UNSCORED for sample in members)
            if lost and (metric is None or metric.bounds is not msgspec.UNSET):
                notes.append(f"Step {step}: {counted(lost, 'sample')} unscored, excluded from the {reading} value.")
    return notes


def _unmeasured(runs: Sequence[tuple[int, RunName, Report]]) -> list[str]:
    """Return a note if only some of the runs are split by the strength of the tests."""
    without = [
        str(step)
        for step, _, report in runs
        if not any(label.startswith(f"{STRENGTH}=") for sample in report.samples for label in sample.labels())
    ]
    if not without or len(without) == len(runs):
        return []
    return [
        f"Not split by the strength of the tests, which a self-test measured later: step {', '.join(without)}. "
        "--score-only adds it."
    ]


def _only_on_weak_tests(
    points: Sequence[Checkpoint], runs: Sequence[tuple[int, RunName, Report]], name: str, reading: ReadingName
) -> list[str]:
    """Return a note on each checkpoint that gains, but not on the tasks whose tests are known to be strong."""
    notes = []
    group = f"{STRENGTH}=strong"
    for ((_, _, before), (step, _, after)), point in zip(pairwise(runs), points[1:], strict=True):
        old, new = before.metric(name, reading, group), after.metric(name, reading, group)
        if point.change is None or point.change.value <= 0 or old is None or new is None:
            continue
        if old.value is not None and new.value is not None and new.value <= old.value:
            notes.append(
                f"Step {step}: the gain of {point.change.value:.1f} points is not on tasks with strong tests "
                f"({name} there: {old.value:.1f}, then {new.value:.1f}; {counted(new.n, 'task')}). The tests of the "
                "other tasks let mutants (changed reference solutions) pass."
            )
    return notes
