"""A comparison in GitHub's Markdown, for pull requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.decisions.paired import detectable_in_words
from grader.reports.comparison.texts import p_value, side
from grader.reports.markdown_text import code, prose

if TYPE_CHECKING:
    from grader.decisions.comparison import Comparison, Flip
    from grader.decisions.paired import Compared

MOST_FLIPS = 50
"""Items listed in each direction; the JSON lists all."""


def make(comparison: Comparison) -> bytes:
    """Return the file, in GitHub's Markdown."""
    first, second = comparison.names()
    lines = [
        f"## grade: {code(comparison.benchmark)} · {code(comparison.split)} · {code(comparison.protocol)}, A to B",
        "",
        f"- **A**: {code(first) or 'first run'}",
        f"- **B**: {code(second) or 'second run'}",
        "",
        "| metric | reading | group | A | B | change | 95 % interval | p | pairs |",
        "|:--|:--|:--|--:|--:|--:|--:|--:|--:|",
        *map(_row, comparison.metrics),
        "",
        *_power(comparison),
        *_flips(f"Higher in B ({comparison.reading})", comparison.risen),
        *_flips(f"Lower in B ({comparison.reading})", comparison.fallen),
        *(f"- {prose(note)}" for note in comparison.notes),
    ]
    return ("\n".join(lines).rstrip() + "\n").encode()


def _row(row: Compared) -> str:
    moved = row.difference
    change = f"{moved.value:+.1f}"
    cells = [
        str(code(row.name)),
        row.reading,
        str(code(row.group or "")),
        f"{row.before:.1f}",
        f"{row.after:.1f}",
        f"**{change}**" if moved.p_value < 0.05 else change,
        f"{moved.ci95[0]:+.1f} to {moved.ci95[1]:+.1f}",
        p_value(moved.p_value).replace("<", "&lt;"),
        str(moved.n),
    ]
    return f"| {' | '.join(cells)} |"


def _power(comparison: Comparison) -> list[str]:
    first = next((row for row in comparison.metrics if row.reading == comparison.reading), None)
    words = "" if first is None else detectable_in_words(first.difference)
    return [f"{code(first.name)}: {words}", ""] if first is not None and words else []


def _flips(title: str, flips: list[Flip]) -> list[str]:
    if not flips:
        return [f"**{title}:** none", ""]
    rows = [f"| {code(flip.item, 80)} | {code(side(flip, 0))} | {code(side(flip, 1))} |" for flip in flips[:MOST_FLIPS]]
    left = len(flips) - MOST_FLIPS
    cut = [f"*… {left} more are in the .json.*"] if left > 0 else []
    return [f"**{title}:** {len(flips)}", "", "| item | A | B |", "|:--|:--|:--|", *rows, "", *cut, ""]
