"""Texts that all formats of a history share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.decisions.paired import LEVEL
from grader.predictions.record import counted
from grader.reports.comparison.texts import p_value
from grader.reports.leaderboard.texts import interval, value

if TYPE_CHECKING:
    from grader.decisions.history import Checkpoint, History

__all__ = ["cells", "heading", "heads", "interval", "said", "value"]


def heading(made: History) -> str:
    """Return the title: benchmark, split, protocol, metric and group."""
    of = f", {made.group}" if made.group else ""
    return f"{made.benchmark} · {made.split} · {made.protocol}: {made.metric}{of}"


def heads(made: History) -> list[str]:
    """Return the column headings."""
    return ["step", "official", "careful", f"95 % interval ({made.reading})", "change", "p", "higher", "lower", "gate"]


def cells(made: History, point: Checkpoint) -> list[str]:
    """Return the cells of a checkpoint's row."""
    change = point.change
    moved = ["", "", "", ""]
    if change is not None:
        moved = [f"{change.value:+.1f}", p_value(change.corrected), str(len(change.risen)), str(len(change.fallen))]
    gate = {None: "", True: "below", False: "met"}[point.is_below]
    readings = [value(point.official), value(point.careful)]
    return [str(point.step), *readings, interval(point.metric(made.reading)), *moved, gate]


def said(made: History) -> list[str]:
    """Return the sentences below the table: highest value, threshold, significant changes, notes."""
    lines = []
    if made.best is not None:
        best = made.checkpoints[made.best]
        lines.append(f"Highest {made.reading} value: step {best.step} ({value(best.metric(made.reading))}).")
    if made.line is not None:
        below = [point.step for point in made.checkpoints if point.is_below]
        which = f"below it: step {', '.join(map(str, below))}" if below else "no checkpoint is below it"
        lines.append(f"The gate's threshold is {made.line:g}; {which}.")
    tested = sum(point.change is not None for point in made.checkpoints)
    if tested:
        told = [p.step for p in made.checkpoints if p.change is not None and p.change.corrected < LEVEL]
        which = f"significant change at step {', '.join(map(str, told))}" if told else "no significant change"
        lines.append(
            f"From each checkpoint to the next: {which} (paired by item, p values corrected for "
            f"{counted(tested, 'comparison')} with Holm's method, level {100 * LEVEL:g} %). The columns higher and "
            "lower count the items that changed."
        )
    return [*lines, *made.notes]
