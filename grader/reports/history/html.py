"""A history as a self-contained page: a chart with intervals and threshold, a table, and the items that changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from grader.reports.comparison.texts import side
from grader.reports.history import texts
from grader.reports.web import page
from grader.reports.web.scale import Scale
from grader.results import READINGS, ReadingName

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.decisions.comparison import Flip
    from grader.decisions.history import Checkpoint, History

WIDTH, HEIGHT = 760, 300
LEFT, RIGHT, TOP, BOTTOM = 44, 20, 14, 40
MOST_FLIPS = 200
"""Items listed for each step and direction; the JSON lists all."""
MOST_LABELS = 10


class Dot(msgspec.Struct, frozen=True, kw_only=True):
    """One value in the chart."""

    x: float
    y: float
    title: str
    is_below: bool


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One reading in the chart."""

    reading: ReadingName
    points: str
    band: str
    """The outline of the band of 95 % intervals."""
    dots: list[Dot]


class Chart(msgspec.Struct, frozen=True, kw_only=True):
    """The data of the chart."""

    width: int
    height: int
    lines: list[Line]
    marks: list[tuple[float, str]]
    """(y, label) of the horizontal grid lines."""
    steps: list[tuple[float, str]]
    """(x, label) of the labelled steps."""
    gate: float | None
    left: int
    right: int
    words: str


class Moved(msgspec.Struct, frozen=True, kw_only=True):
    """The items that changed at one step."""

    title: str
    rows: list[tuple[str, str, str, bool]]
    """(Item, before, after, whether its value rose)."""
    left_out: int


def make(made: History) -> bytes:
    """Return the page."""
    order: list[ReadingName] = [reading for reading in READINGS if reading != made.reading] + [made.reading]
    return page.render(
        "history.html.j2",
        styles=("style", "many"),
        scripts=("core", "theme", "static"),
        title=made.title,
        metric=made.metric.replace("_", " "),
        facts=[f"split {made.split}", f"protocol {made.protocol}", f"{len(made.checkpoints)} checkpoints"]
        + ([made.group] if made.group else []),
        reading=made.reading,
        readings=READINGS,
        line=made.line,
        chart=chart(made, order),
        heads=texts.heads(made),
        rows=[(texts.cells(made, point), bool(point.is_below), point.run.short) for point in made.checkpoints],
        said=texts.said(made),
        moved=[_moved(made, at) for at in range(1, len(made.checkpoints))],
    )


def chart(made: History, order: list[ReadingName]) -> Chart:
    """Return the chart; the x axis is proportional to the steps."""
    ends = [end for point in made.checkpoints for reading in order for end in _ends(point, reading)]
    scale = Scale.of([*ends, *([made.line] if made.line is not None else [])], width=HEIGHT - TOP - BOTTOM, margin=0)
    xs = _places([point.step for point in made.checkpoints])

    def y(value: float) -> float:
        return round(HEIGHT - BOTTOM - scale.at(value), 2)

    lines = [_line(made, reading, xs, y) for reading in order]
    every = -(-len(xs) // MOST_LABELS)
    named = [(x, str(p.step)) for at, (x, p) in enumerate(zip(xs, made.checkpoints, strict=True)) if at % every == 0]
    values = ", ".join(f"step {p.step}: {texts.value(p.metric(made.reading))}" for p in made.checkpoints)
    return Chart(
        width=WIDTH,
        height=HEIGHT,
        lines=lines,
        marks=[(y(mark), scale.named(mark)) for mark in scale.marks],
        steps=named,
        gate=None if made.line is None else y(made.line),
        left=LEFT,
        right=WIDTH - RIGHT,
        words=f"{made.metric}, {made.reading}: {values}",
    )


def _ends(point: Checkpoint, reading: ReadingName) -> list[float]:
    metric = point.metric(reading)
    return [] if metric is None or metric.value is None else [metric.value, *(metric.ci95 or ())]


def _places(steps: list[int]) -> list[float]:
    low, span = steps[0], steps[-1] - steps[0]
    room = WIDTH - LEFT - RIGHT - 24
    return [round(LEFT + 12 + (room * (step - low) / span if span else room / 2), 2) for step in steps]


def _line(made: History, reading: ReadingName, xs: list[float], y: Callable[[float], float]) -> Line:
    found = [
        (x, point, metric)
        for x, point in zip(xs, made.checkpoints, strict=True)
        if (metric := point.metric(reading)) is not None and metric.value is not None
    ]
    dots = [
        Dot(
            x=x,
            y=y(metric.number),
            title=f"step {point.step}, {reading}: {texts.value(metric)} ({texts.interval(metric)})",
            is_below=reading == made.reading and bool(point.is_below),
        )
        for x, point, metric in found
    ]
    upper = [f"{x},{y(metric.ci95[1])}" for x, _, metric in found if metric.ci95]
    lower = [f"{x},{y(metric.ci95[0])}" for x, _, metric in found if metric.ci95]
    return Line(
        reading=reading,
        points=" ".join(f"{dot.x},{dot.y}" for dot in dots),
        band=" ".join([*upper, *reversed(lower)]),
        dots=dots,
    )


def _moved(made: History, at: int) -> Moved:
    point = made.checkpoints[at]
    risen, fallen = (point.change.risen, point.change.fallen) if point.change else ([], [])
    rows = [*_rows(fallen, is_higher=False), *_rows(risen, is_higher=True)]
    counts = f"{len(risen)} higher, {len(fallen)} lower"
    return Moved(
        title=f"Step {made.checkpoints[at - 1].step} to {point.step}: {counts}",
        rows=rows,
        left_out=len(risen) + len(fallen) - len(rows),
    )


def _rows(flips: list[Flip], *, is_higher: bool) -> list[tuple[str, str, str, bool]]:
    return [(flip.item, side(flip, 0), side(flip, 1), is_higher) for flip in flips[:MOST_FLIPS]]
