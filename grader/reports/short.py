"""A report in a few lines of plain text: what `print(report)` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.results import Metric, Report

MOST_METRICS = 20
MOST_CHARACTERS = 60
HEAD = ("metric", "official", "careful", "95 % interval (careful)", "n")


def table(report: Report) -> str:
    """Return the overall metrics in both readings, and how many samples stand behind them."""
    names = [name for name in (report.benchmark, report.split, report.protocol, report.model) if name]
    found = list(dict.fromkeys(metric.name for metric in report.metrics if metric.group is None))
    rows = [HEAD, *(_row(report, name) for name in found[:MOST_METRICS])]
    lines = [" · ".join(map(_cut, names)), *_aligned(rows)]
    if len(found) > MOST_METRICS:
        lines.append(f"... and {len(found) - MOST_METRICS} more metrics")
    return "\n".join([*lines, _counts(report)])


def line(report: Report) -> str:
    """Return what a report is, in one bounded line."""
    which = (report.benchmark, report.split, report.protocol)
    what = f"{len(report.metrics)} metrics, {len(report.samples)} samples, {report.unscored} unscored"
    return f"<Report {' '.join(map(_cut, which))}: {what}>"


def _row(report: Report, name: str) -> tuple[str, ...]:
    official, careful = report.metric(name, "official"), report.metric(name, "careful")
    one = careful or official
    assert one is not None
    interval = "" if one.ci95 is None else f"{one.ci95[0]:.1f} to {one.ci95[1]:.1f}"
    return _cut(name), _value(official), _value(careful), interval, str(one.n)


def _value(metric: Metric | None) -> str:
    return "–" if metric is None or metric.value is None else f"{metric.value:.1f}"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.rjust(width) if at else cell.ljust(width) for at, (cell, width) in enumerate(pairs)).rstrip()
        for pairs in (list(zip(row, widths, strict=True)) for row in rows)
    ]


def _counts(report: Report) -> str:
    different = len(report.differences())
    said = f"{len(report.samples)} samples; official and careful differ on {different}"
    return f"{said}; {report.unscored} unscored" if report.unscored else said


def _cut(text: str) -> str:
    short = text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 1]}…"
    # As `grader.reports.text.clean` does; records import nothing of the reports but this module.
    return "".join(c if c.isprintable() else " " for c in short)
