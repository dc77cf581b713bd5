"""What a page draws: tables with their scales, and curves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Self

import msgspec

from grader.reports.document import Plot, Table
from grader.results import READINGS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.reports.document import Part, Section
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

    def label(self, value: float) -> str:
        """Return a mark's label."""
        return f"{value:.0f}" if self.step >= 1 else f"{value:.1f}"


def section(shown: Section, parts: Sequence[Part]) -> dict[str, object]:
    """Return a section as the template takes it."""
    tables = [part for part in parts if isinstance(part, Table)]
    return {
        "title": shown.title,
        "sign": shown.sign,
        "lead": shown.lead,
        "is_folded": shown.is_folded,
        "tables": [_with_scale(table) for table in tables if not table.is_card],
        "cards": [_with_scale(table) for table in tables if table.is_card],
        "curves": [curve(part) for part in parts if isinstance(part, Plot)],
        "sentences": [part for part in parts if isinstance(part, str)],
        "has_legend": any(column.kind == "drawn" for table in tables for column in table.columns),
        "has_chance": any(cell.chance for table in tables for row in table.rows for cell in row),
    }


def _with_scale(table: Table) -> tuple[Table, Scale]:
    """Return a table and the scale of its drawn column."""
    metrics = [metric for row in table.rows for cell in row for metric in cell.metrics.values()]
    ends = [end for metric in metrics for end in _ends(metric)]
    floor = -100.0 if min(ends, default=0) < 0 else 0.0
    if any(column.is_whole for column in table.columns):
        return table, Scale.of([floor, 100.0], floor=floor)
    return table, Scale.of([*ends, 0.0] if floor else ends, floor=floor)


def _ends(metric: Metric | None) -> list[float]:
    return [] if metric is None or metric.value is None else [metric.value, *(metric.ci95 or ())]


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """The curve of one reading, in units of the drawing."""

    reading: str
    points: list[tuple[float, float, str]]
    """(x, y, what is said on it)."""
    ranges: list[tuple[float, float, float]]
    """(x, lower end, upper end) of the values that have intervals."""
    end: float
    """Where the name of the reading stands."""


class Curve(msgspec.Struct, frozen=True, kw_only=True):
    """A plot as the template takes it."""

    plot: Plot
    label: str
    lines: list[Line]
    across: list[tuple[float, int]]
    down: list[tuple[float, int]]


WIDE, HIGH = 440, 250
_LEFT, _RIGHT, _TOP, _BOTTOM = 34, 66, 12, 40
_NEAR = 15
"""Names of readings closer than this would overlap."""


def curve(plot: Plot) -> Curve:
    """Return a plot with all its places."""
    k = plot.curve.k

    def x(number: int) -> float:
        return round(_LEFT + (number - 1) / max(1, k[-1] - 1) * (WIDE - _LEFT - _RIGHT), 1)

    def y(value: float) -> float:
        return round(_TOP + (1 - value / 100) * (HIGH - _TOP - _BOTTOM), 1)

    lines, words = [], []
    for at, reading in enumerate(READINGS):
        values = [(number, *pair) for number, pair in zip(k, getattr(plot.curve, reading), strict=True)]
        known = [(number, value, n) for number, value, n in values if value is not None]
        if not known:
            continue
        words.append(f"{reading} rises from {known[0][1]:.1f} at k = 1 to {known[-1][1]:.1f} at k = {k[-1]}")
        ends = {
            int(metric.name.removeprefix(plot.curve.prefix)): metric.ci95
            for metric in plot.metrics
            if metric.reading == reading and metric.ci95 and metric.name.startswith(plot.curve.prefix)
        }
        lines.append(
            Line(
                reading=reading,
                points=[
                    (x(number), y(value), f"{reading}: {plot.curve.prefix}{number} = {value:.1f} over {n} {plot.unit}s")
                    for number, value, n in known
                ],
                ranges=[
                    (x(number) + 5 * at - 2, y(low), y(high)) for number, (low, high) in ends.items() if number in k
                ],
                end=y(known[-1][1]),
            )
        )
    every = math.ceil(k[-1] / 8)
    return Curve(
        plot=plot,
        label=f"{plot.curve.title}: {'; '.join(words)}",
        lines=_moved_apart(lines),
        across=[(x(n), n) for n in k if n == k[-1] or ((n - 1) % every == 0 and k[-1] - n >= every / 2)],
        down=[(y(value), value) for value in (0, 25, 50, 75, 100)],
    )


def _moved_apart(lines: list[Line]) -> list[Line]:
    """Move the names of readings apart that would stand on each other; the higher line keeps the upper place."""
    if len(lines) < 2 or abs(lines[0].end - lines[1].end) >= _NEAR:
        return lines
    up, down = (-7, 8) if lines[0].end <= lines[1].end else (8, -7)
    return [msgspec.structs.replace(line, end=line.end + by) for line, by in zip(lines, (up, down), strict=True)]
