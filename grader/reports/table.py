"""The report as a person reads it on a terminal."""

from __future__ import annotations

import io
from collections import Counter
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from grader.results import Metric, Report, SampleResult

SHOWN_DIFFERENCES = 10
_HIDDEN_GROUPS = 24
"""With more group rows than this, the table keeps to the overall figures."""


def render(report: Report, *, width: int = 100, colour: bool = False) -> str:
    """Return the report as text: a table of both readings, then what differs, then what to know."""
    from rich.console import Console

    text = io.StringIO()
    console = Console(file=text, width=width, force_terminal=colour, highlight=False, emoji=False, markup=False)
    console.print(_table(report))
    for line in (*_differences(report), *_unscored(report), *report.notes):
        console.print(line, soft_wrap=True)
    return text.getvalue()


def _table(report: Report) -> object:
    from rich import box
    from rich.table import Table

    title = f"{report.benchmark} · {report.split} · {report.protocol}"
    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left")
    table.add_column("metric")
    for name in ("official", "careful"):
        table.add_column(name, justify="right")
    table.add_column("95 % interval (careful)", justify="right")
    table.add_column("n", justify="right")
    for official, careful in _pairs(report):
        name = official.name if official.group is None else f"  {official.name} · {official.group}"
        style = None if abs(official.value - careful.value) < 1e-9 else "bold"
        table.add_row(name, _figure(official), _figure(careful), _interval(careful), str(careful.n), style=style)
    return table


def _pairs(report: Report) -> list[tuple[Metric, Metric]]:
    careful = {(m.name, m.group): m for m in report.metrics if m.reading == "careful"}
    pairs = [(m, careful.get((m.name, m.group), m)) for m in report.metrics if m.reading == "official"]
    groups = [pair for pair in pairs if pair[0].group is not None]
    return pairs if len(groups) <= _HIDDEN_GROUPS else [pair for pair in pairs if pair[0].group is None]


def _figure(metric: Metric) -> str:
    return f"{metric.value:.1f}"


def _interval(metric: Metric) -> str:
    return "" if metric.ci95 is None else f"{metric.ci95[0]:.1f} to {metric.ci95[1]:.1f}"


def _differences(report: Report) -> list[str]:
    different = report.differences()
    total = len(report.samples)
    if not different:
        return [f"Official and careful agree on all {total} samples."]
    lines = [f"Official and careful differ on {len(different)} of {total} samples:"]
    lines += [_difference(sample) for sample in different[:SHOWN_DIFFERENCES]]
    if len(different) > SHOWN_DIFFERENCES:
        counts = Counter((s.official.outcome, s.careful.outcome) for s in different)
        kinds = ", ".join(f"{n} {a} -> {b}" for (a, b), n in counts.most_common())
        lines.append(f"  ... {len(different) - SHOWN_DIFFERENCES} more ({kinds}); all are in the results file.")
    return lines


def _difference(sample: SampleResult) -> str:
    official, careful = (
        f"{reading.answer} ({reading.outcome})" if reading.answer else str(reading.outcome)
        for reading in (sample.official, sample.careful)
    )
    why = clean(sample.careful.detail)[:160]
    return f"  {clean(sample.qid)} #{sample.sample}: {official} -> {careful}{f'  ({why})' if why else ''}"


def _unscored(report: Report) -> list[str]:
    if not report.unscored:
        return []
    lines = [f"{report.unscored} of {len(report.samples)} samples are unscored (infrastructure), and in no figure:"]
    for metric in report.metrics:
        if metric.group is None and metric.bounds is not msgspec.UNSET:
            low, high = metric.bounds
            lines.append(f"  {metric.name} ({metric.reading}) lies between {low:.1f} and {high:.1f}")
    return lines


def clean(text: str) -> str:
    """Make untrusted text harmless on a terminal: one line, no control characters."""
    return "".join(c if c.isprintable() else " " for c in text)
