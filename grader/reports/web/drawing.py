"""What the page of several runs draws: its tables with their scales, and charts over steps."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Self

import msgspec

from grader.reports.document import Chart, Table, interval, value
from grader.results import READINGS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from grader.reports.document import Section
    from grader.results import Metric, ReadingName

WIDTH, HEIGHT = 760, 310
LEFT, RIGHT, TOP, BOTTOM = 60, 20, 14, 50
"""Of a chart; its margins have room for the labels of a narrow page, whose letters are larger."""
MOST_LABELS = 10

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
    charts = [part for part in shown.parts if isinstance(part, Chart)]
    return {
        "title": shown.title,
        "charts": [_chart(chart) for chart in charts],
        "tables": [_drawn(table) for table in tables if not table.is_card],
        "cards": [_drawn(table) for table in tables if table.is_card],
        "sentences": [part for part in shown.parts if isinstance(part, str)],
        "has_legend": bool(charts) or any(column.kind == "drawn" for table in tables for column in table.columns),
    }


def _drawn(table: Table) -> tuple[Table, Scale]:
    """Return a table and the scale of its drawn column."""
    metrics = [metric for row in table.rows for cell in row for metric in cell.metrics.values()]
    return table, Scale.of([end for metric in metrics for end in _ends(metric)])


def _ends(metric: Metric | None) -> list[float]:
    return [] if metric is None or metric.value is None else [metric.value, *(metric.ci95 or ())]


def _chart(chart: Chart) -> dict[str, object]:
    """Return what the template draws; the x axis is proportional to the steps."""
    ends = [end for metrics in chart.lines.values() for metric in metrics for end in _ends(metric)]
    line = [] if chart.threshold is None else [chart.threshold]
    scale = Scale.of([*ends, *line], width=HEIGHT - TOP - BOTTOM, margin=0)

    def y(number: float) -> float:
        return round(HEIGHT - BOTTOM - scale.at(number), 2)

    xs = _places(chart.steps)
    every = -(-len(xs) // MOST_LABELS)
    order: list[ReadingName] = [*(name for name in READINGS if name != chart.reading), chart.reading]
    shown = zip(chart.steps, chart.lines[chart.reading], strict=True)
    return {
        "box": (WIDTH, HEIGHT, LEFT, WIDTH - RIGHT),
        "lines": [_line(chart, reading, xs, y) for reading in order],
        "marks": [(y(mark), scale.named(mark)) for mark in scale.marks],
        "steps": [(x, step) for at, (x, step) in enumerate(zip(xs, chart.steps, strict=True)) if at % every == 0],
        "threshold": chart.threshold,
        "gate": None if chart.threshold is None else y(chart.threshold),
        "words": f"{chart.name}, {chart.reading}: " + ", ".join(f"step {step}: {value(one)}" for step, one in shown),
    }


def _places(steps: Sequence[int]) -> list[float]:
    low, span = steps[0], steps[-1] - steps[0]
    room = WIDTH - LEFT - RIGHT - 24
    return [round(LEFT + 12 + (room * (step - low) / span if span else room / 2), 2) for step in steps]


def _line(chart: Chart, reading: ReadingName, xs: list[float], y: Callable[[float], float]) -> Mapping[str, object]:
    known = [
        (x, step, metric)
        for x, step, metric in zip(xs, chart.steps, chart.lines[reading], strict=True)
        if metric is not None and metric.value is not None
    ]
    upper = [f"{x},{y(metric.ci95[1])}" for x, _, metric in known if metric.ci95]
    lower = [f"{x},{y(metric.ci95[0])}" for x, _, metric in known if metric.ci95]
    is_shown = reading == chart.reading
    dots = [
        {
            "x": x,
            "y": y(metric.number),
            "title": f"step {step}, {reading}: {value(metric)} ({interval(metric)})",
            "is_below": is_shown and chart.threshold is not None and metric.number < chart.threshold,
        }
        for x, step, metric in known
    ]
    points = " ".join(f"{dot['x']},{dot['y']}" for dot in dots)
    return {"reading": reading, "dots": dots, "points": points, "band": " ".join([*upper, *reversed(lower)])}
