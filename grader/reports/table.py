"""The report as text for a terminal."""

from __future__ import annotations

import io
from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from grader.reports import selftested
from grader.reports.text import clean
from grader.reports.unscored import in_words
from grader.results import READINGS, is_same
from grader.scorers.registry import scorer_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from grader.results import Metric, Report, SampleResult

SHOWN_DIFFERENCES = 10
OTHER_PYTHON = "†"
"""Marks official values that were measured with another Python than the official one."""
MAX_LABELS = 12
"""A breakdown with more labels than this is only in the results file."""


def render(report: Report, *, width: int = 100, colour: bool = False, now: datetime | None = None) -> str:
    """Return the report as text: a table of both readings, then the differences, then notes.

    `now`: the current time, if the run has just ended.
    """
    from rich.console import Console

    text = io.StringIO()
    console = Console(file=text, width=width, force_terminal=colour, highlight=False, emoji=False, markup=False)
    console.print(_table(report))
    for line in (
        *_differences(report),
        *_unscored(report),
        *map(clean, (*scorer_of(report).summary(report).lines, *selftested.notes(report, now))),
    ):
        console.print(line, soft_wrap=True)
    return text.getvalue()


def _table(report: Report) -> object:
    from rich import box
    from rich.padding import Padding
    from rich.table import Table

    title = clean(f"{report.benchmark} · {report.split} · {report.protocol}")
    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left")
    table.add_column("metric", overflow="fold")
    for reading in READINGS:
        mark = f" {OTHER_PYTHON}" if reading == "official" and is_marked(report) else ""
        table.add_column(reading + mark, justify="right")
    table.add_column("95 % interval (careful)", justify="right")
    pairs = _pairs(report)
    flaky = any(one is not None and one.with_flakes is not msgspec.UNSET for pair in pairs for one in pair)
    if flaky:
        table.add_column("with flakes", justify="right")
    table.add_column("n", justify="right")
    short = report.abbreviations
    for official, careful in pairs:
        one = careful or official
        assert one is not None
        # A long name that is broken keeps the indentation on every line.
        name = one.name if one.group is None else Padding(f"{one.name}, {_group(one.group, short)}", (0, 0, 0, 2))
        style = None if is_same(official, careful) else "bold"
        ranges = (_interval(one), *([_with_flakes(one)] if flaky else []))
        table.add_row(name, _figure(official), _figure(careful), *ranges, str(one.n), style=style)
    return table


def is_marked(report: Report) -> bool:
    """Return whether the official values were measured with another Python than the official one."""
    return report.provenance.sandbox is not None and report.provenance.sandbox.has_another_python


def _group(group: str, abbreviations: dict[str, str]) -> str:
    label = group.partition("=")[2]
    short = abbreviations.get(label)
    return clean(f"{group} ({short})" if short else group)


def _pairs(report: Report) -> list[tuple[Metric | None, Metric | None]]:
    """Return (official, careful) for each row: all overall metrics, and the groups of the first metric below it."""
    rows: dict[tuple[str, str | None], dict[str, Metric]] = {}
    for metric in report.metrics:
        rows.setdefault((metric.name, metric.group), {})[metric.reading] = metric
    headline = report.metrics[0].name if report.metrics else ""
    labels = Counter(group.partition("=")[0] for name, group in rows if group is not None and name == headline)
    shown = [
        (name, group)
        for name, group in rows
        if group is None or (name == headline and labels[group.partition("=")[0]] <= MAX_LABELS)
    ]
    # Groups follow their metric: elsewhere they would seem to belong to the metric above them.
    shown.sort(key=lambda row: (row[0] != headline, row[1] is not None))
    return [(rows[key].get("official"), rows[key].get("careful")) for key in shown]


def _figure(metric: Metric | None) -> str:
    """Return a value as text, with a star if unscored samples are excluded from it."""
    if metric is None:
        return "unscored"
    if metric.value is None:
        return "–"
    return f"{metric.value:.1f}" if metric.bounds is msgspec.UNSET else f"* {metric.value:.1f}"


def _interval(metric: Metric) -> str:
    """Return the interval; for a metric without a value, the worst and the best case."""
    if metric.value is None and metric.bounds is not msgspec.UNSET:
        return f"between {metric.bounds[0]:.1f} and {metric.bounds[1]:.1f}"
    return "" if metric.ci95 is None else f"{metric.ci95[0]:.1f} to {metric.ci95[1]:.1f}"


def _with_flakes(metric: Metric) -> str:
    return "" if metric.with_flakes is msgspec.UNSET else "{:.1f} to {:.1f}".format(*metric.with_flakes)


def _differences(report: Report) -> list[str]:
    different = report.differences()
    total = len(report.samples)
    if not different:
        return [] if not total else [f"Official and careful agree on all {total} samples."]
    lines = [f"Official and careful differ on {len(different)} of {total} samples:"]
    glossary = scorer_of(report).glossary
    lines += [_difference(sample, glossary) for sample in different[:SHOWN_DIFFERENCES]]
    if len(different) > SHOWN_DIFFERENCES:
        counts = Counter((s.official.outcome, s.careful.outcome) for s in different)
        kinds = ", ".join(f"{n} {a} -> {b}" for (a, b), n in counts.most_common())
        lines.append(f"  ... {len(different) - SHOWN_DIFFERENCES} more ({kinds}); all are in the results file.")
    return lines


def _difference(sample: SampleResult, glossary: Mapping[str, str]) -> str:
    official, careful = (
        f"{reading.answer} ({reading.outcome})" if reading.answer else str(reading.outcome)
        for reading in (sample.official, sample.careful)
    )
    why = clean(sample.careful.detail or _rules(sample, glossary))[:160]
    return f"  {clean(sample.qid)} #{sample.sample}: {official} -> {careful}{f'  ({why})' if why else ''}"


def _rules(sample: SampleResult, glossary: Mapping[str, str]) -> str:
    """Explain the rules of both readings, if they differ."""
    pairs = [(name, getattr(sample, name).rule) for name in READINGS]
    rules = {name: rule for name, rule in pairs if isinstance(rule, str)}
    if len(set(rules.values())) < 2:
        return ""
    return "; ".join(f"{name}: {_in_a_sentence(glossary.get(rule, rule))}" for name, rule in rules.items())


def _in_a_sentence(text: str) -> str:
    """Return a sentence as a part of another one: without its full stop, its first word in lower case."""
    first, _, rest = text.removesuffix(".").partition(" ")
    return f"{first[:1].lower() + first[1:] if first[1:].islower() else first} {rest}".strip()


def _unscored(report: Report) -> list[str]:
    if not report.unscored:
        return []
    lines = [
        f"{report.unscored} of {len(report.samples)} samples are unscored ({in_words(report)}) and excluded from all "
        "metrics (*). Worst and best case:"
    ]
    for metric in report.metrics:
        if metric.group is None and metric.bounds is not msgspec.UNSET:
            low, high = metric.bounds
            lines.append(f"  {metric.name} ({metric.reading}) lies between {low:.1f} and {high:.1f}")
    return lines
