"""The document of a history: a chart, the checkpoints, and the items that changed from each one to the next."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from grader.predictions.record import counted
from grader.reports.document import (
    Cell,
    Chart,
    Column,
    Document,
    Section,
    Table,
    cells,
    interval,
    notes_below,
    p_value,
    page_of,
    value,
)
from grader.reports.runs.comparison import changed
from grader.results import READINGS
from grader.statistics.paired import LEVEL

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from grader.decisions.comparison import Flip
    from grader.decisions.history import Checkpoint, History

MOST_IDS = 8
"""Number of ids in one cell."""


def document(history: History, folder: Path | None = None) -> Document:
    """Return the chart, the table, what the data show, and the items that changed.

    `folder`: that of the page, from which runs and items link to the pages of their runs.
    """
    of = f", {history.group}" if history.group else ""
    chart = Chart(
        name=history.metric,
        reading=history.reading,
        steps=[point.step for point in history.checkpoints],
        lines={reading: [point.metric(reading) for point in history.checkpoints] for reading in READINGS},
        threshold=history.line,
    )
    earlier = [table] if (table := _earlier(history)).rows else []
    steps = [part for at in range(1, len(history.checkpoints)) for part in _step(history, at, folder)]
    return Document(
        title=f"{history.title}: {history.metric.replace('_', ' ')}{of} over steps",
        facts=[
            f"split {history.split}",
            f"protocol {history.protocol}",
            counted(len(history.checkpoints), "checkpoint"),
        ],
        lead=f"In percent, with 95 % intervals. Items that changed are those of the {history.reading} reading; "
        "`grade compare` shows two checkpoints with all outputs.",
        sections=[
            Section(title="", parts=[chart, _checkpoints(history, folder), *sentences(history), *earlier, *steps])
        ],
        records=lambda: _records(history),
        data=lambda: history,
    )


def _checkpoints(history: History, folder: Path | None) -> Table:
    heads = ["official", "careful", f"95 % interval ({history.reading})", "change", "p", "higher", "lower"]
    heads += ["gate"] if history.line is not None else []
    return Table(
        title="Checkpoints",
        columns=[
            Column(name="step"),
            *(Column(name=name) for name in heads),
            Column(name="run", kind="name", where="pages"),
        ],
        rows=[_cells(history, point, folder) for point in history.checkpoints],
    )


def _cells(history: History, point: Checkpoint, folder: Path | None) -> list[Cell]:
    change, moved = point.change, ["", "", "", ""]
    if change is not None:
        moved = [f"{change.value:+.1f}", p_value(change.corrected), str(len(change.risen)), str(len(change.fallen))]
    gate = [] if history.line is None else [{None: "", True: "below", False: "met"}[point.is_below]]
    texts = [
        str(point.step),
        *(value(metric, point.run.official_notes) for metric in (point.official, point.careful)),
        interval(point.metric(history.reading)),
        *moved,
        *gate,
    ]
    tone: Literal["", "bad"] = "bad" if point.is_below else ""
    run = Cell(text=point.run.short, link=page_of(point.run.results, folder), tone=tone)
    return [*(Cell(text=text, tone=tone) for text in texts), run]


def _earlier(history: History) -> Table:
    """Return the names of the items that changed before the last step; pages have a table for each step."""
    return Table(
        title="Items that changed at earlier steps",
        columns=[
            Column(name="steps", kind="word"),
            Column(name="items higher", kind="name"),
            Column(name="items lower", kind="name"),
        ],
        rows=[
            cells((f"{before.step} to {after.step}", *map(_some, both)))
            for before, after in pairwise(history.checkpoints[:-1])
            if (change := after.change) is not None and any(both := (change.risen, change.fallen))
        ],
        where="texts",
    )


def _some(flips: Sequence[Flip]) -> str:
    """Return the ids of the first items, and how many more there are."""
    shown = ", ".join(flip.item for flip in flips[:MOST_IDS])
    return f"{shown} and {len(flips) - MOST_IDS} more" if len(flips) > MOST_IDS else shown


def _step(history: History, at: int, folder: Path | None) -> Iterator[Table | str]:
    """Yield the items that changed at one step; formats but HTML have those of the last step."""
    change = history.checkpoints[at].change
    if change is None:
        return
    steps = f"from {history.checkpoints[at - 1].step} to {history.checkpoints[at].step}"
    is_last = at == len(history.checkpoints) - 1
    for title, flips in ((f"Higher {steps}", change.risen), (f"Lower {steps}", change.fallen)):
        results = history.checkpoints[at].run.results
        for part in changed(title, flips, ("before", "after"), results, folder):
            if isinstance(part, Table):
                yield replace(part, is_folded=not is_last, where="everywhere" if is_last else "pages")


def sentences(history: History) -> list[str]:
    """Return what the data show: the highest value, the threshold, significant changes, notes."""
    lines = []
    if history.best is not None:
        highest = history.value(history.best)
        steps = [str(point.step) for at, point in enumerate(history.checkpoints) if history.value(at) == highest]
        best = history.checkpoints[history.best]
        shown = value(best.metric(history.reading), best.run.official_notes)
        tied = f"steps {', '.join(steps[:-1])} and {steps[-1]} (each {shown})"
        which = f"step {steps[0]} ({shown})" if len(steps) == 1 else tied
        lines.append(f"Highest {history.reading} value: {which}.{_lead(history)}")
    if history.line is not None:
        below = [point.step for point in history.checkpoints if point.is_below]
        which = f"below it: step {', '.join(map(str, below))}" if below else "no checkpoint is below it"
        lines.append(f"The gate's threshold is {history.line:g}; {which}.")
    tested = sum(point.change is not None for point in history.checkpoints)
    if tested:
        told = [p.step for p in history.checkpoints if p.change is not None and p.change.corrected < LEVEL]
        which = f"significant change at step {', '.join(map(str, told))}" if told else "no significant change"
        lines.append(
            f"From each checkpoint to the next: {which} (paired by item, p values corrected for "
            f"{counted(tested, 'comparison')} with Holm's method, level {100 * LEVEL:g} %). The columns higher and "
            "lower count the items that changed."
        )
    return [
        *lines,
        *history.notes,
        *notes_below((f"step {point.step}", point.run.official_notes) for point in history.checkpoints),
    ]


def _lead(history: History) -> str:
    """Return how much of the best value's lead is chance, after a space; empty if that is unknown."""
    if history.lead is None:
        return ""
    number = sum(history.value(at) is not None for at in range(len(history.checkpoints)))
    return (
        f" The best of {number} equal checkpoints would be {history.lead:.1f} points above their true value by chance: "
        "grade it again with new samples, or on other tasks, before you report its value."
    )


def _records(history: History) -> Iterator[dict[str, object]]:
    """Yield one row per checkpoint and reading; the fields from `change` on are of the selected reading."""
    for point in history.checkpoints:
        for reading in READINGS:
            metric, change = point.metric(reading), point.change if reading == history.reading else None
            low, high = (metric.ci95 if metric else None) or (None, None)
            yield {
                "step": point.step,
                "run": point.run.short,
                "metric": history.metric,
                "group": history.group,
                "reading": reading,
                "value": metric and metric.value,
                "ci95_low": low,
                "ci95_high": high,
                "n": metric and metric.n,
                "change": change and change.value,
                "p": change and change.p_value,
                "p_corrected": change and change.corrected,
                "higher": None if change is None else len(change.risen),
                "lower": None if change is None else len(change.fallen),
            }
