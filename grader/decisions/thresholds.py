"""The thresholds of gates: parsed from the command line, and checked before anything is graded."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import msgspec

from grader.errors import UsageError
from grader.results import group_names_of
from grader.scorers import aggregates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.scorers.interface import Run, Scorer

_FAIL_UNDER = re.compile(r"(?P<name>[^:=\s]+)(?::(?P<group>[^=]+=.+))?=(?P<value>[^=]+)")
_DROP = re.compile(r"(?:(?P<name>[^:=\s]+)=)?(?P<value>[^=]+)")


class FailUnder(msgspec.Struct, frozen=True, kw_only=True):
    """`METRIC=V` or `METRIC:FIELD=LABEL=V`: the metric must be V or more."""

    name: str
    group: str | None
    value: float


class MaxDrop(msgspec.Struct, frozen=True, kw_only=True):
    """`V` or `METRIC=V`: the metric must be at most V points below the baseline's; `V%`: of the baseline's value."""

    name: str | None
    """None: the report's first metric."""
    group: str | None = None
    """`field=label`; None: the whole run."""
    value: float
    is_relative: bool = False
    """Whether the value is a percentage of the baseline's value."""

    def points(self, before: float) -> float:
        """Return how many points a metric with this value in the baseline may lose."""
        return abs(before) * self.value / 100 if self.is_relative else self.value


def parse_fail_under(text: str) -> FailUnder:
    """Parse `METRIC=V` or `METRIC:FIELD=LABEL=V`. Raises UsageError."""
    match = _FAIL_UNDER.fullmatch(text.strip())
    value = _parse_number(match["value"]) if match else None
    if match is None or value is None:
        raise UsageError(f"{text!r}: write it like accuracy=80, or accuracy:category=relative_position=75.")
    check_percentage(value, text)
    return FailUnder(name=match["name"], group=match["group"], value=value)


def check_percentage(value: float, text: str) -> None:
    """Raise UsageError if a threshold is not from -100 to 100, or is a share (0.8). `text`: as the user wrote it."""
    if not math.isfinite(value) or abs(value) > 100:
        raise UsageError(f"{text!r}: metrics are percentages, from 0 to 100, so a threshold cannot be {value:.10g}.")
    if 0 < value < 1:
        raise UsageError(
            f"{text!r}: metrics are percentages, from 0 to 100. Write {100 * value:.10g} if you mean "
            f"{100 * value:.10g} %."
        )


def parse_max_drop(text: str) -> MaxDrop:
    """Parse `V` or `METRIC=V`; V is in points, or a share of the baseline's value (`3%`). Raises UsageError."""
    match = _DROP.fullmatch(text.strip())
    amount = match["value"].rstrip() if match else ""
    value = _parse_number(amount.removesuffix("%"))
    if match is None or value is None or value < 0:
        raise UsageError(f"{text!r}: write it like 2 or pass@1=2, in points, or 3% of the baseline; not below 0.")
    return MaxDrop(name=match["name"], value=value, is_relative=amount.endswith("%"))


def _parse_number(text: str) -> float | None:
    """Return the finite number that a text is; None if it is not a number, or not finite."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


_LISTED_GROUPS = 12


def check_before_run(
    scorer: Scorer[Any, Any], run: Run[Any, Any], thresholds: Sequence[FailUnder], drops: Sequence[MaxDrop]
) -> None:
    """Raise UsageError for a gate on a metric or a group that the run will not have.

    Nothing is checked if the scorer does not know its metrics before scoring.
    """
    scorer_metrics = scorer.metric_names(run)
    if not scorer_metrics:
        return
    names = aggregates.metric_names(run.benchmark, scorer_metrics)
    groups: dict[str, None] = {}
    if any(threshold.group is not None for threshold in thresholds):
        groups = dict.fromkeys(group for task in run.tasks.values() for group in group_names_of(task.groups))
    for threshold in thresholds:
        option = f"--fail-under {threshold.name}"
        _check_name(option, threshold.name, names, scorer, run)
        if threshold.group is not None and threshold.group not in groups:
            message = missing_group_message(threshold.name, threshold.group, sorted(groups))
            raise UsageError(f"{option}: {message}")
        if threshold.value < 0 and threshold.name not in scorer.signed_metrics:
            raise UsageError(
                f"{option}={threshold.value:.10g}: {threshold.name} is never below 0, so this gate is always met."
            )
    for drop in drops:
        if drop.name is not None:
            _check_name(f"--max-drop {drop.name}", drop.name, names, scorer, run)


def _check_name(option: str, name: str, names: list[str], scorer: Scorer[Any, Any], run: Run[Any, Any]) -> None:
    if name not in names:
        hint = scorer.missing_metric_hint(name, run)
        raise UsageError(f"{option}: this run has no metric {name!r}; it has {', '.join(names)}.{hint}")


def missing_group_message(metric: str, group: str | None, groups: Sequence[str]) -> str:
    """Return the message that a metric does not have a group, with the groups that it has."""
    listed = ", ".join(groups[:_LISTED_GROUPS]) + (", ..." if len(groups) > _LISTED_GROUPS else "")
    return f"{metric} has no group {group!r}; it has {listed or 'none'}."
