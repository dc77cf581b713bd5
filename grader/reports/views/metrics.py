"""A run's metrics in both readings, as tables: over all samples, and by group."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from grader.reports.document import (
    FILES,
    NOTHING,
    OFFICIAL_MARK,
    PAGES,
    TEXTS,
    Cell,
    Column,
    Section,
    Table,
    interval_text,
    items_link,
    value_text,
)
from grader.results import observation_counts, reading_change
from grader.scorers import aggregates, pass_at_k
from grader.wording import decimal, signed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from grader.reports.findings import Findings
    from grader.results import Metric, Pair, Report
    from grader.scorers.registry import AnyScorer

_PLOT = Column(name="", kind="plot", media=PAGES, has_percent_scale=True)


def overall(run: Findings) -> Table:
    """Return the table of the metrics over all samples."""
    rows = [
        [Cell(text=name, title=_meaning(run.scorer, name)), *_metric_cells(run.report, pair)]
        for name, pair in run.overall.items()
    ]
    return _table(run, "Metrics in both readings", [Column(name="metric", kind="name")], rows)


def _meaning(scorer: AnyScorer, name: str) -> str:
    """Return the description of a metric: one for all `pass@k`, one for all accuracies of sets (`pair_accuracy`)."""
    glossary = {**aggregates.GLOSSARY, **pass_at_k.GLOSSARY, **scorer.words.glossary}
    for_every_k = re.sub(r"(?<=[@^])[0-9]+$", "*", name)
    of_sets = aggregates.SET if name.endswith("_accuracy") else ""
    return glossary.get(name) or glossary.get(for_every_k) or of_sets


def _table(run: Findings, title: str, names: list[Column], rows: list[list[Cell]], groups: Sequence[str] = ()) -> Table:
    """Return a table of metrics, whose rows begin with these names. `groups`: the group of each row, if it has one."""
    columns = [
        *names,
        _PLOT,
        Column(name=f"official {OFFICIAL_MARK}" if run.official_notes else "official"),
        Column(name="careful"),
        Column(
            name="careful \N{MINUS SIGN} official",
            media=PAGES,
            title="In points; – if one of the two values excludes unscored samples",
        ),
        Column(name="95 % interval (careful)", media=TEXTS),
        Column(name="n", title="Number of observations (official and careful, if they differ)"),
    ]
    return Table(title=title, columns=columns, rows=rows, groups=groups)


def _metric_cells(report: Report, pair: Pair) -> list[Cell]:
    """Return the cells of a metric, after its names."""
    official, careful = pair
    metric = next(metric for metric in pair if metric is not None)
    # Baselines are accuracies: group, or `all` -> name of the baseline -> value.
    chance = report.baselines.get(metric.group or "all", {}).get("chance") if metric.name == "accuracy" else None
    return [
        Cell(metrics={"official": official, "careful": careful}, chance=chance),
        Cell(text=value_text(official), below=_interval_and_bounds(official)),
        Cell(text=value_text(careful), below=_interval_and_bounds(careful)),
        change_cell(official, careful),
        Cell(text=interval_text(careful)),
        Cell(text=observation_counts(official, careful)),
    ]


def change_cell(official: Metric | None, careful: Metric | None) -> Cell:
    """Return the cell of careful minus official."""
    change = reading_change(official, careful)
    text = NOTHING if change is None else signed(change)
    return Cell(text=text, tone="faint" if text in (NOTHING, "0.0") else "")


def _interval_and_bounds(metric: Metric | None) -> str:
    """Return the lines below a value on pages; empty without a value."""
    if metric is None or metric.value is None:
        return ""
    lines = [interval_text(metric)]
    if metric.bounds is not msgspec.UNSET:
        lines.append(f"between {' and '.join(map(decimal, metric.bounds))}")
    return "\n".join(filter(None, lines))


def by_group(run: Findings) -> Iterator[Section]:
    """Yield the metrics of groups.

    A terminal shows those of the first metric, a page those of every metric in a section of its own. Files have one
    table with all.
    """
    names = list(dict.fromkeys(name for name, _ in run.pairs))
    for name in names:
        yield from _sections_of_metric(run, name, is_first=name == names[0])
    yield from _sections_of_files(run, names)


def _sections_of_metric(run: Findings, name: str, *, is_first: bool) -> Iterator[Section]:
    """Yield a section with a table for each category field; none if the metric has no groups."""
    fields: dict[str, dict[str, Pair]] = {}
    for (metric, group), pair in run.pairs.items():
        if metric == name and group is not None:
            fields.setdefault(group.partition("=")[0], {})[group] = pair
    if fields:
        yield Section(
            title=f"{name} by {' and by '.join(fields)}",
            lead=_meaning(run.scorer, name) if not is_first else "",
            parts=[_field_table(run, field, pairs) for field, pairs in fields.items()],
            is_folded=not is_first,
            media=("terminal", "page") if is_first else PAGES,
        )


def _sections_of_files(run: Findings, names: list[str]) -> Iterator[Section]:
    """Yield a section with one table of all metrics and groups, in the order of the metrics' `names`."""
    pairs = [(name, group, pair) for (name, group), pair in run.pairs.items() if group is not None]
    rows = [
        [Cell(text=name), Cell(text=_with_abbreviation(group, group, run.report)), *_metric_cells(run.report, pair)]
        for name, group, pair in sorted(pairs, key=lambda row: names.index(row[0]))
    ]
    if rows:
        columns = [Column(name="metric", kind="name"), Column(name="group", kind="name")]
        table = _table(run, "By group", columns, rows)
        yield Section(title=f"By group ({len(rows)})", parts=[table], is_folded=True, media=FILES)


def _field_table(run: Findings, field: str, pairs: Mapping[str, Pair]) -> Table:
    """Return one metric by the groups of a category field. `pairs`: group (`field=label`) -> its values."""
    rows = [
        [
            Cell(
                text=_with_abbreviation(group.partition("=")[2], group, run.report),
                link=items_link(tab="items", group=group),
            ),
            *_metric_cells(run.report, pair),
        ]
        for group, pair in pairs.items()
    ]
    return _table(run, f"By {field}", [Column(name=field, kind="name")], rows, groups=list(pairs))


def _with_abbreviation(text: str, group: str, report: Report) -> str:
    """Return a text followed by the official abbreviation of a group's label, if it has one. `group`: `field=label`."""
    abbreviation = report.abbreviations.get(group.partition("=")[2])
    return f"{text} ({abbreviation})" if abbreviation else text
