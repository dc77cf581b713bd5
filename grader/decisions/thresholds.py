"""The thresholds of gates: parsed from the command line, and checked before anything is graded."""

from __future__ import annotations

import difflib
import math
import re
from typing import TYPE_CHECKING, Any

import msgspec

from grader.errors import UsageError
from grader.results import labels_of
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
    found = _FAIL_UNDER.fullmatch(text.strip())
    value = _number(found["value"]) if found else None
    if found is None or value is None:
        raise UsageError(f"{text!r}: write it like accuracy=80, or accuracy:category=relative_position=75.")
    return FailUnder(name=found["name"], group=found["group"], value=in_percent(value, text))


def in_percent(value: float, text: str) -> float:
    """Return a threshold; raises UsageError for one that no percentage has. `text`: how the user wrote it."""
    if not math.isfinite(value) or abs(value) > 100:
        raise UsageError(f"{text!r}: metrics are percentages, from 0 to 100, so a threshold cannot be {value:.10g}.")
    if 0 < value < 1:
        raise UsageError(
            f"{text!r}: metrics are percentages, from 0 to 100. Write {100 * value:.10g} if you mean "
            f"{100 * value:.10g} %."
        )
    return value


def parse_max_drop(text: str) -> MaxDrop:
    """Parse `V` or `METRIC=V`; V is in points, or a share of the baseline's value (`3%`). Raises UsageError."""
    found = _DROP.fullmatch(text.strip())
    written = found["value"].rstrip() if found else ""
    value = _number(written.removesuffix("%"))
    if found is None or value is None or not 0 <= value < 1000:
        raise UsageError(f"{text!r}: write it like 2 or pass@1=2, in points, or 3% of the baseline; not below 0.")
    return MaxDrop(name=found["name"], value=value, is_relative=written.endswith("%"))


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


_MOST_GROUPS = 12


def check(
    scorer: Scorer[Any, Any], run: Run[Any, Any], thresholds: Sequence[FailUnder], drops: Sequence[MaxDrop]
) -> None:
    """Raise UsageError for a gate on a metric or a group that the run will not have.

    Nothing is checked if the scorer does not know its metrics before scoring.
    """
    own = scorer.metric_names(run)
    if not own:
        return
    names = aggregates.metric_names(run.benchmark, own)
    groups: dict[str, None] = {}
    if any(threshold.group is not None for threshold in thresholds):
        groups = dict.fromkeys(label for task in run.tasks.values() for label in labels_of(task.groups))
    for threshold in thresholds:
        option = f"--fail-under {threshold.name}"
        _check_name(option, threshold.name, names, scorer, run)
        if threshold.group is not None and threshold.group not in groups:
            known = no_group(threshold.name, threshold.group, sorted(groups))
            raise UsageError(f"{option}: {known}{_did_you_mean(threshold.group, groups)}")
        if threshold.value < 0 and threshold.name not in scorer.signed_metrics:
            raise UsageError(
                f"{option}={threshold.value:.10g}: {threshold.name} is never below 0, so this gate is always met."
            )
    for drop in drops:
        if drop.name is not None:
            _check_name(f"--max-drop {drop.name}", drop.name, names, scorer, run)


def _check_name(option: str, name: str, names: list[str], scorer: Scorer[Any, Any], run: Run[Any, Any]) -> None:
    if name not in names:
        hint = scorer.without_metric(name, run) or _did_you_mean(name, names)
        raise UsageError(f"{option}: this run has no metric {name!r}; it has {', '.join(names)}.{hint}")


def _did_you_mean(name: str, known: list[str] | dict[str, None]) -> str:
    near = difflib.get_close_matches(name, known, 1)
    return f" Did you mean {near[0]}?" if near else ""


def no_group(metric: str, group: str | None, groups: Sequence[str]) -> str:
    """Return the message that a metric does not have a group, with the groups that it has."""
    shown = ", ".join(groups[:_MOST_GROUPS]) + (", ..." if len(groups) > _MOST_GROUPS else "")
    return f"{metric} has no group {group!r}; it has {shown or 'none'}."
