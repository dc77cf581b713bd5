"""A report in each format, in one call, as the commands make it."""

from typing import Any

from grader.decisions.comparison import compare, run_name
from grader.reports.formats import format_of, html, markdown, terminal
from grader.reports.material import Material, Replies
from grader.reports.views import comparison, run
from grader.reports.web.items import PageRun
from grader.results import ReadingName, Report


def on_terminal(report: Report, replies: Replies | None = None, **settings: Any) -> str:
    return terminal.render(run.document(report, replies=lambda: replies or {}), **settings)


def as_markdown(report: Report, gates: Any = ()) -> bytes:
    return markdown.make(run.document(report, gates=gates))


def as_page(report: Report, material: Material) -> bytes:
    return html.make(run.document(report, lambda: material))


def as_file(name: str, report: Report, gates: Any = (), **settings: Any) -> bytes:
    return format_of(name)(run.document(report, Material, gates, **settings))


def side_by_side(before: PageRun, after: PageRun, *, reading: ReadingName = "careful") -> bytes:
    a, b = run_name(before.report, "a.json", before.name), run_name(after.report, "b.json", after.name)
    made = compare(before.report, after.report, reading=reading, names=(a, b))
    return html.make(comparison.document(made, lambda: (before, after)))
