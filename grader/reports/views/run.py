"""The document of one run: its metrics in both readings, where these differ, what is unscored, and how it was made."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from grader.decisions import readings
from grader.predictions.record import all_of, counted
from grader.reports import provenance
from grader.reports.document import (
    FILES,
    NOTHING,
    OFFICIAL_MARK,
    PAGES,
    TEXTS,
    Cell,
    Column,
    Document,
    Plot,
    Section,
    Table,
    interval,
    noted,
    place,
    signed,
    value,
)
from grader.reports.findings import Findings
from grader.reports.text import cut
from grader.reports.views import gates as gate_views
from grader.reports.views.brief import brief_of
from grader.reports.views.cases import suites
from grader.reports.views.sample_rows import COLUMNS, evidence_of, output_of, records_of
from grader.reports.why import (
    about_readings,
    also_found,
    bounds_in_words,
    outcome,
    readings_differ,
    why_unscored,
)
from grader.results import (
    ALIKE,
    READINGS,
    Outcome,
    answers_otherwise,
    change,
    excluded_from,
    observations,
)
from grader.scorers import aggregates, declarations
from grader.scorers.registry import scorer_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from grader.decisions.gate import GateResult
    from grader.reports.document import Items
    from grader.reports.material import Material, RawOutputs
    from grader.results import Metric, Pair, Reading, ReadingName, Report, SampleResult
    from grader.scorers.interface import TableBlock
    from grader.scorers.registry import AnyScorer

MOST_KINDS = 6
LONGEST_REASON = 300
"""Characters of why the readings of a sample differ."""
LONGEST_VALUE = 60
"""Characters of a call, and of what it returned."""


def document(
    report: Report,
    material: Callable[[Report], Material] | None = None,
    gates: Sequence[GateResult] = (),
    *,
    outputs: Callable[[Report], RawOutputs] = lambda _: {},
    reading: ReadingName = "careful",
) -> Document:
    """Return the document. `material` collects what a report does not hold; it is called only if items are shown.

    `outputs` returns the raw outputs by qid, as far as they are known; it is called only if they are quoted.
    `reading`: that of the verdicts of test cases.
    """
    scorer = scorer_of(report)
    run = Findings(
        report=report,
        scorer=scorer,
        name=declarations.name_of(report),
        summary=scorer.summary(report),
        pairs=report.pairs(),
        different=report.differences(),
        excluded_from=excluded_from(report),
        official_notes=report.official_notes(),
        between_readings=readings.in_words(report),
        notes=[noted(note) for note in report.notes],
        made=provenance.made_with(report),
        why_unscored=why_unscored(report),
    )
    plots = _curve(run)

    def items() -> Items:
        from grader.reports.web.items import PageRun, build

        assert material is not None
        return build(PageRun(name=run.name, report=run.report, material=material(run.report)))

    return Document(
        names=_names(run.report),
        heading=run.name,
        facts=_facts(run),
        lead=about_readings([run.report.benchmark]),
        brief=brief_of(run),
        sections=[
            *([gate_views.section(gates)] if gates else []),
            Section(title="Metrics", parts=[_metrics(run) if run.pairs else "This run has no metrics."]),
            *_groups(run),
            *_differences(run, outputs),
            *(Section(title=plot.curve.title, parts=[plot], where=TEXTS) for plot in plots),
            Section(parts=[*plots, *_cards(run)], where=PAGES),
            *_unscored(run),
            *_notes(run),
            *_made(run),
        ],
        data=lambda: run.report,
        records=lambda: records_of(run.report),
        columns=COLUMNS,
        suites=lambda: suites(run.report, gates, reading),
        evidence=lambda: evidence_of(run, outputs(run.report)),
        items=items if material is not None else None,
        source=run.report.provenance.predictions or "a results file",
    )


def _names(report: Report) -> list[str]:
    """Return what the run is of, for the first line: its benchmark, and how much of it."""
    part = [f"only {report.part.in_words()}"] if report.part is not None else []
    return [report.benchmark, report.split, report.protocol, *part]


def _facts(run: Findings) -> list[str]:
    report = run.report
    samples, items = len(report.samples), len(run.items)
    return [
        *([f"model {report.model}"] if report.model else []),
        *([report.provenance.predictions] if report.provenance.predictions else []),
        f"split {report.split}",
        f"protocol {report.protocol}",
        counted(items, "item" if run.scorer.has_units else "task"),
        *([counted(samples, "sample")] if samples != items else []),
    ]


# --- metrics ------------------------------------------------------------------------------------------


_DRAWN = Column(name="", kind="drawn", where=PAGES, is_whole=True)


def _metrics(run: Findings) -> Table:
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


def _table(run: Findings, title: str, names: list[Column], rows: list[list[Cell]], **more: object) -> Table:
    """Return a table of metrics, whose rows begin with these names."""
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
    return Table(title=title, columns=columns, rows=rows, **more)  # type: ignore[arg-type]


def _values(report: Report, pair: Pair) -> list[Cell]:
    """Return the cells of a metric, after its names."""
    official, careful = pair
    one = next(metric for metric in pair if metric is not None)
    chance = report.baselines.get(one.group or "all", {}).get("chance") if one.name == "accuracy" else None
    moved = change(official, careful)
    text = NOTHING if moved is None else signed(moved)
    return [
        Cell(metrics={"official": official, "careful": careful}, chance=chance),
        Cell(text=value(official), below=_below(official)),
        Cell(text=value(careful), below=_below(careful)),
        Cell(text=text, tone="faint" if text in (NOTHING, "0.0") else ""),
        Cell(text=interval(careful)),
        Cell(text=observations(official, careful)),
    ]


def _below(metric: Metric | None) -> str:
    if metric is None or metric.value is None:
        return ""
    bounds = metric.bounds
    between = "" if bounds is msgspec.UNSET else f"between {bounds[0]:.1f} and {bounds[1]:.1f}"
    return "\n".join(filter(None, (interval(metric), between)))


def _groups(run: Findings) -> Iterator[Section]:
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


# --- samples ----------------------------------------------------------------------------------------------------


def _differences(run: Findings, outputs: Callable[[Report], RawOutputs]) -> Iterator[Section]:
    if otherwise := answers_otherwise(run.report.samples):
        yield Section(parts=[f"{otherwise}. They have the flag `{ALIKE}`."])
    different, total = run.different, len(run.report.samples)
    if not different:
        judged = sum(sample.careful.outcome is not Outcome.NOT_JUDGED for sample in run.report.samples)
        which = " that both judge" if judged < total else ""
        agreed = [f"Official and careful agree on {all_of(judged, 'sample')}{which}."] if judged else []
        yield Section(parts=agreed)
        return
    kinds = list(run.differences.items())
    listed = [f"{number:,} {kind}" for kind, number in kinds[:MOST_KINDS]]
    rest = sum(number for _, number in kinds[MOST_KINDS:])
    passes = dict(_passes(run))
    golds = [run.scorer.marks(sample).gold for sample in different]
    names = ("sample", *(["gold"] if any(golds) else []), *READINGS)
    columns = [*(Column(name=name, kind="name") for name in names), Column(name="why", kind="sentence")]
    texts = outputs(run.report) if any(isinstance(sample.careful.span, tuple) for sample in different) else {}
    yield Section(
        title=f"Official and careful differ on {len(different):,} of {counted(total, 'sample')}",
        lead=", ".join([*listed, *([f"{rest:,} of other kinds"] if rest else [])]) + ".",
        parts=[
            Table(
                title="Samples on which the readings differ",
                columns=columns,
                rows=[
                    [
                        Cell(text=passes.get(sample.qid, sample.qid) + (f" #{sample.sample}" if sample.sample else "")),
                        *([Cell(text=cut(gold, LONGEST_VALUE))] if any(golds) else []),
                        *_difference(run.scorer, sample, output_of(texts, sample)),
                    ]
                    for sample, gold in zip(different, golds, strict=True)
                ],
                is_list=True,
                where=TEXTS,
            )
        ],
    )


def _passes(run: Findings) -> Iterator[tuple[str, str]]:
    """Yield (task, its name) of tasks that are judged together: `13, pass 2 of 4`."""
    for name, members in run.items.items():
        qids = list(dict.fromkeys(sample.qid for sample in members))
        if len(qids) > 1:
            yield from ((qid, f"{name}, pass {at} of {len(qids)}") for at, qid in enumerate(qids, 1))


def _difference(scorer: AnyScorer, sample: SampleResult, output: str | None) -> list[Cell]:
    """Return the cells of both readings, and why they differ."""
    said = [_said(scorer, sample.reading(name), more) for name, more in also_found(scorer, sample).items()]
    why = [cut(" ".join(readings_differ(scorer, sample, output).split()), LONGEST_REASON)]
    if (first := sample.other_call(sample.careful)) is not None:
        call, returned, expected = (
            cut(text.strip(), LONGEST_VALUE) for text in (first.call, first.returned or "nothing", first.expected)
        )
        why.append(f"{call} returned {returned}, expected {expected}")
    return [Cell(text=text) for text in (*said, "; ".join(filter(None, why)))]


def _said(scorer: AnyScorer, reading: Reading, more: str) -> str:
    named = ", ".join(filter(None, (outcome(scorer, reading), more)))
    return f"{named}: {reading.answer}" if reading.answer else named


def _curve(run: Findings) -> list[Plot]:
    curve = run.summary.curve
    overall = [metric for metric in run.report.metrics if metric.group is None]
    return [] if curve is None else [Plot(curve=curve, unit="task", metrics=overall)]


def _cards(run: Findings) -> Iterator[Table]:
    if run.report.samples:
        yield _outcomes(run.report, run.scorer)
    yield from map(_block, run.summary.tables)


def _block(block: TableBlock) -> Table:
    columns = [Column(name=name, kind="number" if at else "name") for at, name in enumerate(block.columns)]
    rows = [[Cell(text=text) for text in row] for row in block.rows]
    return Table(title=block.title, note=block.lead, columns=columns, rows=rows, is_card=True)


def _outcomes(report: Report, scorer: AnyScorer) -> Table:
    """Return the number of samples by official outcome (rows) and careful outcome (columns)."""
    pairs = Counter((sample.official.outcome.value, sample.careful.outcome.value) for sample in report.samples)
    officials, carefuls = (
        Counter(sample.reading(name).outcome.value for sample in report.samples) for name in READINGS
    )
    order = [name for name, _ in (officials + carefuls).most_common()]
    across = [name for name in order if name in carefuls]

    def cell(number: int, official: str = "", careful: str = "") -> Cell:
        chosen = {name: text for name, text in (("official", official), ("careful", careful)) if text}
        return Cell(
            text=f"{number:,}" if number else "·",
            tone="" if number else "faint",
            link=place(tab="items", **chosen) if number else "",
        )

    def named(name: str) -> str:
        return scorer.words.outcomes.get(name, name)

    rows = [
        [Cell(text=named(down)), *(cell(pairs[down, to], down, to) for to in across), cell(officials[down], down)]
        for down in order
        if down in officials
    ]
    total = [Cell(text="all"), *(cell(carefuls[to], careful=to) for to in across), cell(len(report.samples))]
    return Table(
        title="Outcomes",
        note="Samples by their official outcome (rows) and careful outcome (columns).",
        columns=[
            Column(name="official ↓ careful →", kind="name"),
            *(Column(name=named(name)) for name in across),
            Column(name="all"),
        ],
        rows=[*rows, total],
        is_card=True,
    )


def _unscored(run: Findings) -> Iterator[Section]:
    report = run.report
    if not report.unscored:
        return
    bounded = [metric for metric in report.metrics if metric.group is None and metric.bounds is not msgspec.UNSET]
    columns = [
        Column(name="metric", kind="name"),
        Column(name="reading", kind="word"),
        Column(name="worst to best case", kind="sentence"),
    ]
    rows = [
        [Cell(text=metric.name), Cell(text=metric.reading), Cell(text=bounds_in_words(metric))] for metric in bounded
    ]
    made = Table(
        title="Worst and best case",
        columns=columns,
        rows=rows,
        note="The worst case is all of them wrong, the best case all of them correct.",
    )
    stars = any(metric.value is not None for metric in bounded)
    ranges = any(metric.value is None for metric in bounded)
    shown = " and ".join([*(["values with *"] if stars else []), *(["ranges"] if ranges else [])])
    yield Section(
        title=f"{report.unscored:,} of {counted(len(report.samples), 'sample')} unscored",
        lead=f"Why: {run.why_unscored}. Excluded from {run.excluded_from}{f' ({shown})' if shown else ''}, "
        "counted neither as correct nor as wrong.",
        parts=[made] if bounded else [],
    )


def _notes(run: Findings) -> Iterator[Section]:
    if notes := [note for note in (*run.between_readings, *run.notes) if note.strip()]:
        yield Section(title="Notes", parts=notes)
    if run.summary.lines:
        yield Section(parts=run.summary.lines, where=TEXTS)


def _made(run: Findings) -> Iterator[Section]:
    facts = {key: made for key, made in run.made.items() if not _is_large(made)}
    columns = [Column(name="fact", kind="name"), Column(name="value", kind="name")]
    rows = [[Cell(text=key), Cell(text=_shown(made))] for key, made in facts.items()]
    if rows:
        table = Table(title="How it was made", columns=columns, rows=rows)
        yield Section(title="How it was made", parts=[table], is_folded=True, where=FILES)


def _is_large(made: object) -> bool:
    """Return whether a value is a large table, which only the results file shows."""
    return isinstance(made, dict) and (len(made) > 6 or any(isinstance(part, dict | list) for part in made.values()))


def _shown(made: object) -> str:
    return made if isinstance(made, str) else json.dumps(made, ensure_ascii=False, default=str)
