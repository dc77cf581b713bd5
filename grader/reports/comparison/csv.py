"""The metrics of a comparison as CSV, for spreadsheets."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from grader.reports.csv import guarded

if TYPE_CHECKING:
    from grader.decisions.comparison import Comparison


def make(comparison: Comparison) -> bytes:
    """Return the file: one row per metric, group and reading."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    first, second = comparison.names()
    head = "metric reading group a_run b_run a b change ci95_low ci95_high p test n differing"
    writer.writerow(head.split())
    for row in comparison.metrics:
        moved = row.difference
        names = [guarded(row.name), row.reading, guarded(row.group or ""), guarded(first), guarded(second)]
        values = [row.before, row.after, moved.value, *moved.ci95, moved.p_value]
        writer.writerow([*names, *map(repr, values), moved.test, moved.n, moved.differing])
    return text.getvalue().encode()
