"""The report of several files as text for a terminal: one row per file and metric."""

from __future__ import annotations

import io
from pathlib import PurePath
from typing import TYPE_CHECKING

from grader.reports.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.reports.together import GradedFile
    from grader.results import Metric, Report

HEAD = ("file", "metric", "official", "careful", "95 % interval (careful)", "n", "gates")
STATES = ("failed", "unscored", "inconclusive", "met")
"""The states of a gate, the worst first."""
WORDS = {"failed": "not met", "unscored": "open", "inconclusive": "inconclusive", "met": "met"}


def render(files: Sequence[GradedFile], *, width: int = 100, colour: bool = False) -> str:
    """Return the table as text."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    for name in HEAD:
        table.add_column(name, justify="right" if name in HEAD[2:6] else "left")
    for row in rows(files):
        table.add_row(*map(clean, row))
    text = io.StringIO()
    console = Console(file=text, width=width, force_terminal=colour, highlight=False, emoji=False, markup=False)
    console.print(table)
    return text.getvalue()


def rows(files: Sequence[GradedFile]) -> Iterator[tuple[str, ...]]:
    """Yield the cells of each row; a file's name and its gates are in its first row."""
    for one, shown in zip(files, _shown([one.file for one in files]), strict=True):
        if one.report is None:
            yield shown, "not graded", "", "", "", "", _first_line(one.problem)
            continue
        names = dict.fromkeys(metric.name for metric in one.report.metrics if metric.group is None)
        for place, name in enumerate(names):
            first = place == 0
            yield (shown if first else "", *_cells(one.report, name), gates_of(one) if first else "")
        if not names:
            yield shown, "", "", "", "", "", gates_of(one)


def _shown(names: list[str]) -> list[str]:
    """Return the files' names, without folders if the names are still unique."""
    short = [PurePath(name).name for name in names]
    return short if len(set(short)) == len(short) else names


def gates_of(one: GradedFile) -> str:
    """Return the worst state of a file's gates as text, or the problem with the file."""
    states = {gate.state for gate in one.gates}
    return next((WORDS[state] for state in STATES if state in states), _first_line(one.problem))


def _cells(report: Report, name: str) -> tuple[str, ...]:
    official, careful = report.metric(name, "official"), report.metric(name, "careful")
    one = careful or official
    assert one is not None
    interval = "" if one.ci95 is None else f"{one.ci95[0]:.1f} to {one.ci95[1]:.1f}"
    return name, _value(official), _value(careful), interval, str(one.n)


def _value(metric: Metric | None) -> str:
    return "–" if metric is None or metric.value is None else f"{metric.value:.1f}"


def _first_line(text: str) -> str:
    return text.partition("\n")[0]
