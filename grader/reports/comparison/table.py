"""A comparison of two runs as text for a terminal."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from grader.decisions.paired import detectable_in_words
from grader.reports.comparison.texts import p_value, side
from grader.reports.text import clean

if TYPE_CHECKING:
    from grader.decisions.comparison import Comparison, Flip
    from grader.decisions.paired import Compared

SHOWN_FLIPS = 10


def render(comparison: Comparison, *, width: int = 100, colour: bool = False) -> str:
    """Return the comparison as text: the metrics, then the items that changed, then notes."""
    from rich.console import Console

    text = io.StringIO()
    console = Console(file=text, width=width, force_terminal=colour, highlight=False, emoji=False, markup=False)
    for name, said in zip("AB", comparison.names(), strict=True):
        if said:
            console.print(f"{name}: {clean(said)}", soft_wrap=True)
    console.print(_table(comparison))
    lines = [
        *_flips(f"Higher in B ({comparison.reading})", comparison.risen),
        *_flips(f"Lower in B ({comparison.reading})", comparison.fallen),
        *_power(comparison),
        *map(clean, comparison.notes),
    ]
    for line in lines:
        console.print(line, soft_wrap=True)
    return text.getvalue()


def _table(comparison: Comparison) -> object:
    from rich import box
    from rich.table import Table

    title = clean(f"{comparison.benchmark} · {comparison.split} · {comparison.protocol}: A to B")
    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left")
    # On a narrow terminal names are broken, but values never: a value with an ellipsis would be useless.
    table.add_column("metric", overflow="fold")
    table.add_column("reading", no_wrap=True)
    for name in ("A", "B", "change", "95 % interval", "p", "pairs"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in comparison.metrics:
        table.add_row(*_cells(row), style="bold" if row.difference.p_value < 0.05 else None)
    return table


def _cells(row: Compared) -> list[str]:
    moved = row.difference
    return [
        row.name if row.group is None else f"  {clean(row.group)}",
        row.reading,
        f"{row.before:.1f}",
        f"{row.after:.1f}",
        f"{moved.value:+.1f}",
        f"{moved.ci95[0]:+.1f} to {moved.ci95[1]:+.1f}",
        p_value(moved.p_value),
        str(moved.n),
    ]


def _flips(title: str, flips: list[Flip]) -> list[str]:
    if not flips:
        return [f"{title}: none."]
    lines = [f"{title}: {len(flips)}"]
    lines += [f"  {clean(flip.item)}: {side(flip, 0)} -> {side(flip, 1)}" for flip in flips[:SHOWN_FLIPS]]
    if len(flips) > SHOWN_FLIPS:
        lines.append(f"  ... {len(flips) - SHOWN_FLIPS} more; -o FILE.json has all.")
    return lines


def _power(comparison: Comparison) -> list[str]:
    first = next((row for row in comparison.metrics if row.reading == comparison.reading), None)
    if first is None:
        return []
    test = first.difference.test
    how = "no item differs" if test == "no difference to test" else f"{test} test, paired by item"
    power = detectable_in_words(first.difference)
    return [f"{first.name}: {how}{f'; {power}' if power else ''}."]
