"""What the page of several runs draws: its tables with their scales."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Self

import msgspec

from grader.reports.document import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.reports.document import Section
    from grader.results import Metric

_STEPS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 25, 50, 100)
_MOST_MARKS = 5


class Scale(msgspec.Struct, frozen=True, kw_only=True):
    """Values from `low` to `high` on a line of `width` units, with `margin` free at both ends."""

    low: float
    high: float
    step: float
    width: int = 300
    margin: int = 8

    @classmethod
    def of(cls, values: Sequence[float], *, width: int = 300, margin: int = 8, floor: float = 0.0) -> Self:
        """Return a scale for these values, between `floor` and 100."""
        low, high = (min(values), max(values)) if values else (0.0, 100.0)
        span = max(high - low, 1.0)
        step = next((step for step in _STEPS if span / step <= _MOST_MARKS - 1), _STEPS[-1])
        bottom, top = step * math.floor(low / step), step * math.ceil(high / step)
        return cls(
            low=max(floor, bottom), high=min(100.0, max(top, bottom + step)), step=step, width=width, margin=margin
        )

    def at(self, value: float) -> float:
        """Return the position of a value on the line."""
        share = (value - self.low) / (self.high - self.low)
        return round(self.margin + share * (self.width - 2 * self.margin), 2)

    @property
    def marks(self) -> list[float]:
        """The round values with a mark."""
        return [self.low + self.step * n for n in range(int((self.high - self.low) / self.step + 1e-9) + 1)]

    def named(self, value: float) -> str:
        """Return a mark's label."""
        return f"{value:.0f}" if self.step >= 1 else f"{value:.1f}"


def section(shown: Section) -> dict[str, object]:
    """Return a section as the template takes it."""
    tables = [part.on_pages() for part in shown.parts if isinstance(part, Table) and part.where != "texts"]
    return {
        "title": shown.title,
        "tables": [_drawn(table) for table in tables if not table.is_card],
        "cards": [_drawn(table) for table in tables if table.is_card],
        "sentences": [part for part in shown.parts if isinstance(part, str)],
        "has_legend": any(column.kind == "drawn" for table in tables for column in table.columns),
    }


def _drawn(table: Table) -> tuple[Table, Scale]:
    """Return a table and the scale of its drawn column."""
    metrics = [metric for row in table.rows for cell in row for metric in cell.metrics.values()]
    return table, Scale.of([end for metric in metrics for end in _ends(metric)])


def _ends(metric: Metric | None) -> list[float]:
    return [] if metric is None or metric.value is None else [metric.value, *(metric.ci95 or ())]
