"""The HTML report: a self-contained file that makes no network requests and never executes a model output.

Its data are base64, and enter the document as text nodes only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.scorers import declarations

if TYPE_CHECKING:
    from grader.reports.interface import Gather
    from grader.reports.material import Material
    from grader.results import Report

_SCRIPTS = (
    *("core", "text", "views", "state", "theme", "widgets", "summary", "listing", "list", "item", "one"),
    *("differences", "about", "report", "main"),
)
"""The parts of the page's script, in order: later parts use definitions of earlier ones."""


def make(report: Report, material: Gather, *_: object, **__: object) -> bytes:
    """Return the file; see `grader.reports.interface.Format`."""
    return render(report, material())


def render(report: Report, material: Material) -> bytes:
    """Return the report as a self-contained HTML file."""
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
