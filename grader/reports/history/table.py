"""A history as text for a terminal."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from grader.reports.history import texts
from grader.reports.text import clean

if TYPE_CHECKING:
    from grader.decisions.history import History

BARS = "▁▂▃▄▅▆▇█"
GAP = " "


def render(made: History, *, width: int = 100, colour: bool = False) -> str:
    """Return the history as text: a table, a line of bars, and notes."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    text = io.StringIO()
    console = Console(file=text, width=width, force_terminal=colour, highlight=False, emoji=False, markup=False)
    table = Table(title=clean(texts.heading(made)), box=box.SIMPLE_HEAD, title_justify="left")
    for name in texts.heads(made):
        table.add_column(name, justify="right", no_wrap=True)
    for point in made.checkpoints:
        table.add_row(*texts.cells(made, point), style="bold" if point.is_below else None)
    console.print(table)
    console.print(f"{made.reading}: {bars(made)}", soft_wrap=True)
    for line in texts.said(made):
        console.print(clean(line), soft_wrap=True)
    return text.getvalue()


def bars(made: History) -> str:
    """Return one bar per checkpoint; the lowest value has the lowest bar, the highest value the highest."""
    values = [made.value(at) for at in range(len(made.checkpoints))]
    known = [value for value in values if value is not None]
    if not known:
        return ""
    low, span = min(known), max(known) - min(known)
    return "".join(
        GAP if value is None else BARS[round((value - low) / span * (len(BARS) - 1)) if span else 0] for value in values
    )
