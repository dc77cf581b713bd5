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
    interval,
    place,
    signed,
    value,
)
from grader.results import observation_counts, reading_change
from grader.scorers import aggregates

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from grader.reports.findings import Findings
    from grader.results import Metric, Pair, Report
    from grader.scorers.registry import AnyScorer

_DRAWN = Column(name="", kind="drawn", where=PAGES, is_whole=True)


def overall(run: Findings) -> Table:
    """Return the table of the metrics over all samples."""
    rows = [
        [Cell(text=name, title=_meaning(run.scorer, name)), *_values(run.report, pair)]
        for name, pair in run.overall.items()
    ]
    return _table(run, "Metrics in both readings", [Column(name="metric", kind="name")], rows)


def _meaning(scorer: AnyScorer, name: str) -> str:
    """Return the description of a metric; `pass@*` is for every k."""
    glossary = {**aggregates.GLOSSARY, **scorer.words.glossary}
    of_any_k = re.sub(r"(?<=[@^])[0-9]+$", "*", name)
    return glossary.get(name) or glossary.get(of_any_k) or aggregates.SET * name.endswith("_accuracy")


def _table(run: Findings, title: str, names: list[Column], rows: list[list[Cell]], groups: Sequence[str] = ()) -> Table:
    """Return a table of metrics, whose rows begin with these names. `groups`: the group of each row, if it has one."""
    columns = [
        *names,
        _DRAWN,
        Column(name=f"official {OFFICIAL_MARK}" if run.official_notes else "official"),
        Column(name="careful"),
        Column(
            name="careful \N{MINUS SIGN} official",
            where=PAGES,
            title="In points; – if unscored samples are excluded from one of them",
        ),
        Column(name="95 % interval (careful)", where=TEXTS),
        Column(name="n", title="Number of observations (official and careful, if they differ)"),
    ]
    return Table(title=title, columns=columns, rows=rows, groups=groups)


def _values(report: Report, pair: Pair) -> list[Cell]:
    """Return the cells of a metric, after its names."""
    official, careful = pair
    one = next(metric for metric in pair if metric is not None)
    chance = report.baselines.get(one.group or "all", {}).get("chance") if one.name == "accuracy" else None
    moved = reading_change(official, careful)
    text = NOTHING if moved is None else signed(moved)
    return [
        Cell(metrics={"official": official, "careful": careful}, chance=chance),
        Cell(text=value(official), below=_below(official)),
        Cell(text=value(careful), below=_below(careful)),
        Cell(text=text, tone="faint" if text in (NOTHING, "0.0") else ""),
        Cell(text=interval(careful)),
        Cell(text=observation_counts(official, careful)),
    ]


def _below(metric: Metric | None) -> str:
    if metric is None or metric.value is None:
        return ""
    bounds = metric.bounds
    between = "" if bounds is msgspec.UNSET else f"between {bounds[0]:.1f} and {bounds[1]:.1f}"
    return "\n".join(filter(None, (interval(metric), between)))


def by_group(run: Findings) -> Iterator[Section]:
    """Yield the values by group: for files one table, else a table a field, of the first metric before the others."""
    grouped = {key: pair for key, pair in run.pairs.items() if key[1] is not None}
    names = list(dict.fromkeys(name for name, _ in run.pairs))
    for name in names:
        fields: dict[str, dict[str, Pair]] = {}
        for (metric, group), pair in grouped.items():
            if metric == name and group is not None:
                fields.setdefault(group.partition("=")[0], {})[group] = pair
        if fields:
            is_first = name == names[0]
            yield Section(
                title=f"{name} by {' and by '.join(fields)}",
                lead=_meaning(run.scorer, name) if not is_first else "",
                parts=[_of_field(run, field, pairs) for field, pairs in fields.items()],
                is_folded=not is_first,
                where=("terminal", "page") if is_first else PAGES,
            )
    rows = [
        [Cell(text=name), Cell(text=_abbreviated(run.report, group or "")), *_values(run.report, pair)]
        for (name, group), pair in sorted(grouped.items(), key=lambda row: names.index(row[0][0]))
    ]
    columns = [Column(name="metric", kind="name"), Column(name="group", kind="name")]
    if rows:
        made = _table(run, "By group", columns, rows)
        yield Section(title=f"By group ({len(rows)})", parts=[made], is_folded=True, where=FILES)


def _of_field(run: Findings, field: str, pairs: Mapping[str, Pair]) -> Table:
    rows = [
        [
            Cell(text=_abbreviated(run.report, group.partition("=")[2]), link=place(tab="items", group=group)),
            *_values(run.report, pair),
        ]
        for group, pair in pairs.items()
    ]
    return _table(run, f"By {field}", [Column(name=field, kind="name")], rows, groups=list(pairs))


def _abbreviated(report: Report, group: str) -> str:
    short = report.abbreviations.get(group.rpartition("=")[2])
    return f"{group} ({short})" if short else group
