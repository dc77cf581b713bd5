"""A history as CSV, for spreadsheets and data frames: one row per checkpoint and reading; unrounded values."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from grader.reports.csv import guarded
from grader.results import READINGS

if TYPE_CHECKING:
    from grader.decisions.history import Checkpoint, History
    from grader.results import ReadingName

COLUMNS = [
    *("step", "run", "metric", "group", "reading", "value", "ci95_low", "ci95_high", "n"),
    *("change", "p", "p_corrected", "higher", "lower"),
]


def make(made: History) -> bytes:
    """Return the file. The columns from `change` on are only filled for the selected reading."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for point in made.checkpoints:
        writer.writerows(_row(made, point, reading) for reading in READINGS)
    return text.getvalue().encode()


def _row(made: History, point: Checkpoint, reading: ReadingName) -> list[object]:
    metric = point.metric(reading)
    low, high = (metric.ci95 if metric else None) or ("", "")
    what = [point.step, guarded(point.run.short), guarded(made.metric), guarded(made.group or ""), reading]
    value = "" if metric is None or metric.value is None else repr(metric.value)
    change = point.change if reading == made.reading else None
    moved: list[object] = [""] * 5
    if change is not None:
        moved = [change.value, change.p_value, change.corrected, len(change.risen), len(change.fallen)]
    return [*what, value, low, high, metric.n if metric else "", *moved]
