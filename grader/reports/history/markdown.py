"""A history in GitHub's Markdown, for example for a step summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.reports.comparison.texts import side
from grader.reports.history import texts
from grader.reports.history.table import bars
from grader.reports.markdown_text import code, prose

if TYPE_CHECKING:
    from grader.decisions.comparison import Flip
    from grader.decisions.history import History

MOST_FLIPS = 20
"""Items of the last step listed in each direction; the JSON lists all."""


def make(made: History) -> bytes:
    """Return the file."""
    heads = texts.heads(made)
    rows = [[cell.replace("*", "\\*").replace("<", "&lt;") for cell in texts.cells(made, p)] for p in made.checkpoints]
    lines = [
        f"## grade: {code(texts.heading(made))}",
        "",
        f"| {' | '.join(heads)} |",
        f"|{'--:|' * len(heads)}",
        *(f"| {' | '.join(row)} |" for row in rows),
        "",
        f"{made.reading}: `{bars(made)}`",
        "",
        *(f"- {prose(line)}" for line in texts.said(made)),
        "",
        *_last(made),
    ]
    return ("\n".join(lines).rstrip() + "\n").encode()


def _last(made: History) -> list[str]:
    """Return the items that changed at the last step."""
    last = made.checkpoints[-1]
    if last.change is None:
        return []
    before = made.checkpoints[-2].step
    title = f"{before} to {last.step}"
    return [*_flips(f"Higher from {title}", last.change.risen), *_flips(f"Lower from {title}", last.change.fallen)]


def _flips(title: str, flips: list[Flip]) -> list[str]:
    if not flips:
        return []
    rows = [f"| {code(flip.item, 80)} | {code(side(flip, 0))} | {code(side(flip, 1))} |" for flip in flips[:MOST_FLIPS]]
    left = len(flips) - MOST_FLIPS
    cut = [f"*… {left} more are in the .json.*"] if left > 0 else []
    return [f"**{title}:** {len(flips)}", "", "| item | before | after |", "|:--|:--|:--|", *rows, "", *cut, ""]
