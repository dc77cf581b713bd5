"""Check the metrics and groups that gates name, before anything is graded."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from grader.errors import UsageError
from grader.results import labels_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.decisions.asked import FailUnder, MaxDrop
    from grader.scorers.interface import Run, Scorer

_MOST_GROUPS = 12


def check(scorer: Scorer[Any, Any], run: Run[Any, Any], lines: Sequence[FailUnder], drops: Sequence[MaxDrop]) -> None:
    """Raise UsageError for a gate on a metric or a group that the run will not have.

    Nothing is checked if the scorer does not know its metrics before scoring.
    """
    names = list(scorer.metric_names(run))
    if not names:
        return
    groups: dict[str, None] = {}
    if any(line.group is not None for line in lines):
        groups = dict.fromkeys(label for task in run.tasks.values() for label in labels_of(task.groups))
    for line in lines:
        option = f"--fail-under {line.name}"
        _check_name(option, line.name, names, scorer, run)
        if line.group is not None and line.group not in groups:
            raise UsageError(f"{option}: {no_group(line.name, line.group, sorted(groups))}{_meant(line.group, groups)}")
        if line.value < 0 and line.name not in scorer.signed_metrics:
            raise UsageError(f"{option}={line.value:.10g}: {line.name} is never below 0, so this gate is always met.")
    for drop in drops:
        if drop.name is not None:
            _check_name(f"--max-drop {drop.name}", drop.name, names, scorer, run)


def _check_name(option: str, name: str, names: list[str], scorer: Scorer[Any, Any], run: Run[Any, Any]) -> None:
    if name not in names:
        hint = scorer.why_not(name, run) or _meant(name, names)
        raise UsageError(f"{option}: this run has no metric {name!r}; it has {', '.join(names)}.{hint}")


def _meant(name: str, known: list[str] | dict[str, None]) -> str:
    near = difflib.get_close_matches(name, known, 1)
    return f" Did you mean {near[0]}?" if near else ""


def no_group(metric: str, group: str | None, groups: Sequence[str]) -> str:
    """Return the message that a metric does not have a group, with the groups that it has."""
    shown = ", ".join(groups[:_MOST_GROUPS]) + (", ..." if len(groups) > _MOST_GROUPS else "")
    return f"{metric} has no group {group!r}; it has {shown or 'none'}."
