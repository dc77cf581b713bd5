"""HTML pages: self-contained files that make no network requests and never execute a model output.

The data of a run are base64, and enter the document as text nodes only. The page of a document (a leaderboard, say) is
complete without a script. Names in pages are always escaped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.results import READINGS
from grader.scorers import declarations

if TYPE_CHECKING:
    from grader.reports.document import Document
    from grader.reports.interface import Gather
    from grader.reports.material import Material
    from grader.reports.web.sides import Side
    from grader.results import Report

_SCRIPTS = (
    *("core", "text", "views", "state", "theme", "widgets", "summary", "listing", "list", "item", "one"),
    *("differences", "about", "report", "main"),
)
"""The parts of the page's script, in order: later parts use definitions of earlier ones."""
_SCRIPTS_OF_SIDES = (
    *("core", "text", "sides_views", "state", "theme", "widgets", "listing", "item", "sides_plot"),
    *("sides_summary", "sides_list", "sides_item", "sides_report", "main"),
)
MOST_ROWS = 200
"""Rows of a list of items; the JSON has all."""


def of_runs(document: Document) -> bytes:
    """Return the page of a document."""
    from grader.reports.web import drawing, page

    return page.render(
        "runs.html.j2",
        styles=("style", "many"),
        scripts=("core", "theme", "static"),
        title=document.title,
        facts=document.facts,
        lead=document.lead,
        sections=[drawing.section(section) for section in document.sections],
        readings=READINGS,
        most=MOST_ROWS,
    )


def make(report: Report, material: Gather, *_: object, **__: object) -> bytes:
    """Return the page of one run; see `grader.reports.interface.Format`."""
    return render(report, material())


def render(report: Report, material: Material) -> bytes:
    """Return the page of one run with its material."""
    from grader.reports.web import page, payload

    name = declarations.name_of(report)
    packed = payload.build(report, material)
    return page.render(
        "page.html.j2",
        styles=("style",),
        scripts=_SCRIPTS,
        title=" · ".join(filter(None, (report.model, report.provenance.predictions, name, report.split))),
        heading=name,
        facts=_facts(report, material),
        first="Group",
        rows=[(metric.group or "all", metric) for metric in report.metrics],
        notes=report.notes,
        source=report.provenance.predictions or "a results file",
        index=packed.index,
        chunks=packed.chunks,
        images=packed.images,
    )


def _facts(report: Report, material: Material) -> list[str]:
    from grader.reports.web.payload import items_of

    samples, items = len(report.samples), len(items_of(report, material))
    return [
        *([f"model {report.model}"] if report.model else []),
        *([report.provenance.predictions] if report.provenance.predictions else []),
        f"split {report.split}",
        f"protocol {report.protocol}",
        f"{items:,} {material.unit}{'' if items == 1 else 's'}",
        *([f"{samples:,} samples"] if samples != items else []),
        *([f"{report.unscored:,} unscored"] if report.unscored else []),
    ]


def side_by_side(before: Side, after: Side) -> bytes:
    """Return the page of two runs of one benchmark, paired by item. Raises UsageError if they cannot be compared."""
    from markupsafe import Markup

    from grader.reports.web import page, sides

    runs = (before, after)
    packed = sides.build(before, after)
    first = before.report
    names, name = [run.name.short for run in runs], declarations.name_of(first)
    return page.render(
        "page.html.j2",
        styles=("style", "many", "sides"),
        scripts=_SCRIPTS_OF_SIDES,
        title=" · ".join([*names, name]),
        heading=f"{name}: two runs side by side",
        facts=[
            *(Markup('<b class="run run-{0}">{0}</b> {1}').format(*run) for run in zip("AB", names, strict=True)),
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
