"""The HTML report of several runs of one benchmark, side by side and paired by item."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from grader.errors import UsageError
from grader.reports.web import page, sides
from grader.scorers import declarations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.reports.web.sides import Side

MOST_RUNS = 8
"""Maximum number of runs side by side."""
_SCRIPTS = (
    *("core", "text", "sides_views", "state", "theme", "widgets", "listing", "item", "sides_plot"),
    *("sides_summary", "sides_list", "sides_item", "sides_report", "main"),
)
"""The parts of the page's script, in order: later parts use definitions of earlier ones."""


def render(runs: Sequence[Side]) -> bytes:
    """Return the page. Raises UsageError if the runs cannot be compared, or are too many."""
    if not 2 <= len(runs) <= MOST_RUNS:
        raise UsageError(f"{len(runs)} runs: from 2 to {MOST_RUNS} fit side by side; `grade leaderboard` ranks more.")
    packed = sides.build(runs)
    first = runs[0].report
    names, name = [run.name.short for run in runs], declarations.name_of(first)
    return page.render(
        "page.html.j2",
        styles=("style", "many", "sides"),
        scripts=_SCRIPTS,
        title=" · ".join([*names, name]),
        heading=f"{name}: {len(names)} runs side by side",
        facts=[
            *(
                Markup('<b class="run run-{0}">{0}</b> {1}').format(*run)
                for run in zip("ABCDEFGH", names, strict=False)
            ),
            f"split {first.split}",
            f"protocol {first.protocol}",
        ],
        first="Run",
        notes=(),
        rows=[
            (run_name, metric)
            for run_name, run in zip(names, runs, strict=True)
            for metric in run.report.metrics
            if metric.group is None
        ],
        index=packed.index,
        chunks=packed.chunks,
        images=packed.images,
    )
