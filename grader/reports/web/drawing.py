"""What a page draws: tables with their scales, and curves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Self

import msgspec

from grader.reports.document import Plot, Table
from grader.results import READINGS
from grader.wording import decimal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.reports.document import Part, Section
    from grader.results import Metric, ReadingName

_STEPS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 25, 50, 100)
_MOST_MARKS = 5


_SCALE_WIDTH, _SCALE_MARGIN = 300, 8
"""In units of the template's drawings; the margin is free at both ends."""


class Scale(msgspec.Struct, frozen=True, kw_only=True):
    """Values from `low` to `high` on a line, with a mark at each `step`."""

    low: float
    high: float
    step: float

    @classmethod
    def of(cls, values: Sequence[float], *, floor: float = 0.0) -> Self:
        """Return a scale for these values, between `floor` and 100, with round numbers at its ends."""
        low, high = (min(values), max(values)) if values else (0.0, 100.0)
        span = max(high - low, 1.0)
        step = next((step for step in _STEPS if span / step <= _MOST_MARKS - 1), _STEPS[-1])
        round_low, round_high = step * math.floor(low / step), step * math.ceil(high / step)
        return cls(low=max(floor, round_low), high=min(100.0, max(round_high, round_low + step)), step=step)

    def at(self, value: float) -> float:
        """Return the position of a value on the line."""
        share = (value - self.low) / (self.high - self.low)
        return round(_SCALE_MARGIN + share * (_SCALE_WIDTH - 2 * _SCALE_MARGIN), 2)

    @property
    def marks(self) -> list[float]:
        """The round values with a mark."""
        return [self.low + self.step * n for n in range(int((self.high - self.low) / self.step + 1e-9) + 1)]

    def label(self, value: float) -> str:
        """Return a mark's label."""
        return decimal(value, 0 if self.step >= 1 else 1)


def section_values(section: Section, parts: Sequence[Part]) -> dict[str, object]:
    """Return a section as the template takes it. `parts`: those for a page."""
    tables = [part for part in parts if isinstance(part, Table)]
    return {
        "title": section.title,
        "sign": section.sign,
        "lead": section.lead,
        "is_folded": section.is_folded,
        "tables": [(table, _scale_of(table)) for table in tables if not table.is_card],
        "cards": [(table, _scale_of(table)) for table in tables if table.is_card],
        "curves": [curve_drawing(part) for part in parts if isinstance(part, Plot)],
        "sentences": [part for part in parts if isinstance(part, str)],
        "has_legend": any(column.kind == "plot" for table in tables for column in table.columns),
        "has_chance": any(cell.chance for table in tables for row in table.rows for cell in row),
    }


def _scale_of(table: Table) -> Scale:
    """Return the scale of a table's plots: 0 to 100 if a column asks for it, else as wide as their values.

    Values may be changes, from -100 to 100. If one is negative, 0 is on the scale, too.
    """
    metrics = [metric for row in table.rows for cell in row for metric in cell.metrics.values()]
    values = [value for metric in metrics for value in _drawn_values(metric)]
    floor = -100.0 if min(values, default=0) < 0 else 0.0
    if any(column.has_percent_scale for column in table.columns):
        return Scale.of([floor, 100.0], floor=floor)
    return Scale.of([*values, 0.0] if floor else values, floor=floor)


def _drawn_values(metric: Metric | None) -> list[float]:
    """Return the value and the ends of its interval; nothing without a value."""
    return [] if metric is None or metric.value is None else [metric.value, *(metric.ci95 or ())]


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """The curve of one reading, in units of the drawing."""

    reading: str
    points: list[tuple[float, float, str]]
    """(x, y, tooltip)."""
    ranges: list[tuple[float, float, float]]
    """(x, y of the lower end, y of the upper end) of the values that have intervals."""
    label_y: float
    """Where the name of the reading stands, beside the last point."""


class Curve(msgspec.Struct, frozen=True, kw_only=True):
    """A plot as the template takes it."""

    plot: Plot
    label: str
    """The plot in words, for those who do not see it."""
    lines: list[Line]
    x_ticks: list[tuple[float, int]]
    y_ticks: list[tuple[float, int]]


WIDTH, HEIGHT = 440, 250
_LEFT, _RIGHT, _TOP, _BOTTOM = 34, 66, 12, 40
"""Margins of the plot; the right one has the names of the readings."""
_LABEL_HEIGHT = 15
"""Names of readings closer than this would overlap."""
_RANGE_OFFSETS: dict[ReadingName, int] = {"official": -2, "careful": 3}
"""How far the intervals of a reading are beside their points, so that those of both can be seen."""
_MOST_X_TICKS = 8


def _x(k: int, largest: int) -> float:
    """Return the position of a number of samples, from 1 to `largest`."""
    return round(_LEFT + (k - 1) / max(1, largest - 1) * (WIDTH - _LEFT - _RIGHT), 1)


def _y(percent: float) -> float:
    """Return the position of a value; positions grow downwards."""
    return round(_TOP + (1 - percent / 100) * (HEIGHT - _TOP - _BOTTOM), 1)


def curve_drawing(plot: Plot) -> Curve:
    """Return a plot with the positions of all its parts."""
    ks = plot.curve.k
    lines, sentences = [], []
    for reading in READINGS:
        values = [
            (k, value, n) for k, (value, n) in zip(ks, getattr(plot.curve, reading), strict=True) if value is not None
        ]
        if values:
            lines.append(_line(plot, reading, values))
            (first_k, first, _), (last_k, last, _) = values[0], values[-1]
            sentences.append(f"{reading} rises from {first:.1f} at k = {first_k} to {last:.1f} at k = {last_k}")
    return Curve(
        plot=plot,
        label=f"{plot.curve.title}: {'; '.join(sentences)}",
        lines=_with_labels_apart(lines),
        x_ticks=_x_ticks(ks),
        y_ticks=[(_y(percent), percent) for percent in (0, 25, 50, 75, 100)],
    )


def _line(plot: Plot, reading: ReadingName, values: Sequence[tuple[int, float, int]]) -> Line:
    """Return the curve of one reading. `values`: (number of samples k, value, number of tasks)."""
    prefix, ks = plot.curve.prefix, plot.curve.k
    intervals = {
        int(metric.name.removeprefix(prefix)): metric.ci95
        for metric in plot.metrics
        if metric.reading == reading and metric.ci95 and metric.name.startswith(prefix)
    }
    return Line(
        reading=reading,
        points=[
            (_x(k, ks[-1]), _y(value), f"{reading}: {prefix}{k} = {value:.1f} over {n} {plot.unit}s")
            for k, value, n in values
        ],
        ranges=[
            (_x(k, ks[-1]) + _RANGE_OFFSETS[reading], _y(low), _y(high))
            for k, (low, high) in intervals.items()
            if k in ks
        ],
        label_y=_y(values[-1][1]),
    )


def _x_ticks(ks: Sequence[int]) -> list[tuple[float, int]]:
    """Return the marks of the axis of k: at equal distances from 1, and the last k, which no other mark is close to."""
    last = ks[-1]
    step = math.ceil(last / _MOST_X_TICKS)
    return [(_x(k, last), k) for k in ks if k == last or ((k - 1) % step == 0 and last - k >= step / 2)]


def _with_labels_apart(lines: list[Line]) -> list[Line]:
    """Move the names of two readings apart if they would overlap; the upper one moves up."""
    if len(lines) < 2 or abs(lines[0].label_y - lines[1].label_y) >= _LABEL_HEIGHT:
        return lines
    up, down = -7, 8  # together a label's height
    shifts = (up, down) if lines[0].label_y <= lines[1].label_y else (down, up)
    return [
        msgspec.structs.replace(line, label_y=line.label_y + shift) for line, shift in zip(lines, shifts, strict=True)
    ]
