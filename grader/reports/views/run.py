"""The document of one run: its metrics in both readings, where these differ, what is unscored, and how it was made."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

from grader.reports.document import (
    FILES,
    PAGES,
    TEXTS,
    Cell,
    Column,
    Document,
    Plot,
    Section,
    Table,
    items_link,
)
from grader.reports.findings import findings_of
from grader.reports.text import cut
from grader.reports.views import gates as gate_views
from grader.reports.views import metrics as metric_views
from grader.reports.views.brief import brief_of
from grader.reports.views.cases import suites
from grader.reports.views.sample_rows import COLUMNS, evidence_of, output_of, records_of
from grader.reports.why import (
    about_readings,
    bounds_in_words,
    distinguishing_facts,
    outcome_name,
    why_readings_differ,
)
from grader.results import (
    OTHER_ANSWERS,
    READINGS,
    Outcome,
    other_answers_in_words,
)
from grader.wording import all_of, counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from grader.decisions.gate import GateResult
    from grader.reports.document import Items
    from grader.reports.findings import Findings
    from grader.reports.material import Material, RawOutputs
    from grader.results import Reading, ReadingName, Report, SampleResult
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
    run = findings_of(report)
    plots = _curve(run)

    def items() -> Items:
        from grader.reports.web.items import PageRun, build

        assert material is not None
        return build(PageRun(name=run.name, findings=run, material=material(run.report)))

    return Document(
        names=_names(run.report),
        heading=run.name,
        facts=_facts(run),
        lead=about_readings([run.report.benchmark]),
        brief=brief_of(run),
        sections=[
            *([gate_views.section(gates)] if gates else []),
            Section(title="Metrics", parts=[metric_views.overall(run) if run.pairs else "This run has no metrics."]),
            *metric_views.by_group(run),
            *_differences(run, outputs),
            *(Section(title=plot.curve.title, parts=[plot], where=TEXTS) for plot in plots),
            Section(parts=[*plots, *_cards(run)], where=PAGES),
            *_unscored(run),
            *_notes(run),
            *_provenance(run),
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


# --- samples ----------------------------------------------------------------------------------------------------


def _differences(run: Findings, outputs: Callable[[Report], RawOutputs]) -> Iterator[Section]:
    if other_answers := other_answers_in_words(run.report.samples):
        yield Section(parts=[f"{other_answers}. They have the flag `{OTHER_ANSWERS}`."])
    different, total = run.differing_samples, len(run.report.samples)
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
    golds = [run.scorer.sample_details(sample).gold for sample in different]
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
    said = [
        _reading_text(scorer, sample.reading(name), more) for name, more in distinguishing_facts(scorer, sample).items()
    ]
    why = [cut(" ".join(why_readings_differ(scorer, sample, output).split()), LONGEST_REASON)]
    if (first := sample.explaining_call(sample.careful)) is not None:
        call, returned, expected = (
            cut(text.strip(), LONGEST_VALUE) for text in (first.call, first.returned or "nothing", first.expected)
        )
        why.append(f"{call} returned {returned}, expected {expected}")
    return [Cell(text=text) for text in (*said, "; ".join(filter(None, why)))]


def _reading_text(scorer: AnyScorer, reading: Reading, more: str) -> str:
    text = ", ".join(filter(None, (outcome_name(scorer, reading), more)))
    return f"{text}: {reading.answer}" if reading.answer else text


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
            link=items_link(tab="items", **chosen) if number else "",
        )

    def name_of(name: str) -> str:
        return scorer.words.outcomes.get(name, name)

    rows = [
        [Cell(text=name_of(one)), *(cell(pairs[one, other], one, other) for other in across), cell(officials[one], one)]
        for one in order
        if one in officials
    ]
    total = [Cell(text="all"), *(cell(carefuls[other], careful=other) for other in across), cell(len(report.samples))]
    return Table(
        title="Outcomes",
        note="Samples by their official outcome (rows) and careful outcome (columns).",
        columns=[
            Column(name="official ↓ careful →", kind="name"),
            *(Column(name=name_of(name)) for name in across),
            Column(name="all"),
        ],
        rows=[*rows, total],
        is_card=True,
    )


def _unscored(run: Findings) -> Iterator[Section]:
    report = run.report
    if not report.unscored:
        return
    bounded = [metric for metric in report.metrics if metric.group is None and metric.is_partial]
    columns = [
        Column(name="metric", kind="name"),
        Column(name="reading", kind="word"),
        Column(name="worst to best case", kind="sentence"),
    ]
    rows = [
        [Cell(text=metric.name), Cell(text=metric.reading), Cell(text=bounds_in_words(metric))] for metric in bounded
    ]
    cases = Table(
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
        lead=f"Why: {run.why_unscored}. Excluded from {run.metrics_without_unscored}{f' ({shown})' if shown else ''}, "
        "counted neither as correct nor as wrong.",
        parts=[cases] if bounded else [],
    )


def _notes(run: Findings) -> Iterator[Section]:
    if notes := [note for note in (*run.between_readings, *run.notes) if note.strip()]:
        yield Section(title="Notes", parts=notes)
    if run.summary.lines:
        yield Section(parts=run.summary.lines, where=TEXTS)


def _provenance(run: Findings) -> Iterator[Section]:
    facts = {key: value for key, value in run.provenance.items() if not _is_large(value)}
    columns = [Column(name="fact", kind="name"), Column(name="value", kind="name")]
    rows = [[Cell(text=key), Cell(text=_value_text(value))] for key, value in facts.items()]
    if rows:
        table = Table(title="How it was made", columns=columns, rows=rows)
        yield Section(title="How it was made", parts=[table], is_folded=True, where=FILES)


def _is_large(value: object) -> bool:
    """Return whether a value is a large table, which only the results file shows."""
    return isinstance(value, dict) and (len(value) > 6 or any(isinstance(part, dict | list) for part in value.values()))


def _value_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
