"""The report as text for a terminal."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from grader.predictions.record import all_of, counted
from grader.reports import provenance
from grader.reports.document import Cell, Column, Table, interval
from grader.reports.terminal import drawn, groups_hidden
from grader.reports.text import clean, cut
from grader.reports.why import also_found, bounds_in_words, outcome, readings_differ, why_unscored
from grader.results import excluded_from, in_percent, is_same, observations
from grader.scorers.registry import scorer_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.results import Metric, Pair, Report, SampleResult
    from grader.scorers.registry import AnyScorer

SHOWN_DIFFERENCES = 10
LONGEST_REASON = 200


def render(report: Report, *, width: int = 100, colour: bool = False, groups: bool = False) -> str:
    """Return the report as text: a table of both readings, then the groups, the differences, and notes.

    `groups`: show all groups, however many there are.
    """
    title = f"{report.benchmark} · {report.split} · {report.protocol}"
    scorer = scorer_of(report)
    lines = [
        *drawn(_table(report, title, "metric", report.overall()), title, width, colour=colour),
        *_groups(report, width, colour=colour, everything=groups),
        *_differences(report, scorer),
        *_unscored(report),
        *map(clean, (*scorer.summary(report).lines, *provenance.notes(report))),
    ]
    return "\n".join([*lines, ""])


def _groups(report: Report, width: int, *, colour: bool, everything: bool) -> list[str]:
    """Return a table of the first metric for each field of groups, or how to get them if there are many."""
    headline = report.metrics[0].name if report.metrics else ""
    fields: dict[str, dict[str, Pair]] = {}
    for (name, group), pair in report.pairs().items():
        if group is not None and name == headline:
            field, _, label = group.partition("=")
            short = report.abbreviations.get(label)
            fields.setdefault(field, {})[f"{label} ({short})" if short else label] = pair
    hidden = groups_hidden([f"{field}={label}" for field, pairs in fields.items() for label in pairs])
    if hidden and not everything:
        return hidden
    tables = (_table(report, f"{headline} by {field}", "", pairs) for field, pairs in fields.items())
    return [line for table in tables for line in drawn(table, table.title, width, colour=colour)]


def _table(report: Report, title: str, names: str, pairs: Mapping[str, Pair]) -> Table:
    """Return a table of metrics."""
    mark = provenance.official_mark(report)
    heads = (f"official{mark}", "careful", "95 % interval (careful)", "n")
    columns = [Column(name=names, kind="name"), *(Column(name=head) for head in heads)]
    rows = []
    for name, (official, careful) in pairs.items():
        is_bold = official is not None and careful is not None and not is_same(official, careful)
        texts = (name, _figure(official), _figure(careful), interval(careful), observations(official, careful))
        rows.append([Cell(text=text, tone="strong" if is_bold else "") for text in texts])
    return Table(title=title, columns=columns, rows=rows)


def _figure(metric: Metric | None) -> str:
    """Return a value as text, with a star if unscored samples are excluded from it; a dash if there is none."""
    starred = metric is not None and metric.value is not None and metric.bounds is not msgspec.UNSET
    return f"{'* ' if starred else ''}{in_percent(metric)}"


def _differences(report: Report, scorer: AnyScorer) -> list[str]:
    different = report.differences()
    total = len(report.samples)
    if not different:
        return [] if not total else [f"Official and careful agree on {all_of(total, 'sample')}."]
    lines = [f"Official and careful differ on {len(different):,} of {counted(total, 'sample')}:"]
    lines += [_difference(scorer, sample) for sample in different[:SHOWN_DIFFERENCES]]
    if len(different) > SHOWN_DIFFERENCES:
        counts = Counter((outcome(scorer, s.official), outcome(scorer, s.careful)) for s in different)
        kinds = ", ".join(f"{n} {a} -> {b}" for (a, b), n in counts.most_common())
        more = len(different) - SHOWN_DIFFERENCES
        lines.append(f"  ... {more:,} more; all are in the results file. Of all {len(different):,}: {kinds}.")
    return lines


def _difference(scorer: AnyScorer, sample: SampleResult) -> str:
    official, careful = (
        f"{clean(reading.answer)} ({named})" if reading.answer else named
        for name, more in also_found(scorer, sample).items()
        for reading in [sample.reading(name)]
        for named in [", ".join(filter(None, (outcome(scorer, reading), clean(more))))]
    )
    why = cut(readings_differ(scorer, sample), LONGEST_REASON)
    return f"  {clean(sample.qid)} #{sample.sample}: {official} -> {careful}{f'  ({why})' if why else ''}"


def _unscored(report: Report) -> list[str]:
    if not report.unscored:
        return []
    overall = [metric for metric in report.metrics if metric.group is None]
    bounded = [metric for metric in overall if metric.bounds is not msgspec.UNSET]
    star = " (*)" if any(metric.value is not None for metric in bounded) else ""
    return [
        f"{report.unscored:,} of {counted(len(report.samples), 'sample')} unscored ({why_unscored(report)}): excluded "
        f"from {excluded_from(report)}{star}.{' Worst and best case:' if bounded else ''}",
        *(f"  {metric.name} ({metric.reading}): {bounds_in_words(metric)}" for metric in bounded),
    ]


def because(report: Report, sample: SampleResult) -> str:
    """Return in one line what the scorer knows of a sample that lost credit: a failing test, another answer."""
    if sample.official.credit == sample.careful.credit == 1:
        return ""
    return "; ".join(f"{name} {' '.join(value.split())}" for name, value in scorer_of(report).marks(sample).facts)
