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
from grader.reports.findings import Findings
from grader.reports.text import truncate
from grader.reports.views import gates as gate_views
from grader.reports.views import metrics as metric_views
from grader.reports.views.brief import brief_of
from grader.reports.views.cases import suites
from grader.reports.views.sample_rows import COLUMNS, evidence_of, records_of, reply_of
from grader.reports.why import (
    bounds_in_words,
    distinguishing_facts,
    metrics_lead,
    outcome_name,
    why_readings_differ,
)
from grader.results import (
    OTHER_ANSWERS,
    READINGS,
    other_answers_in_words,
)
from grader.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from grader.decisions.gate import GateResult
    from grader.reports.document import Items
    from grader.reports.material import Material, Replies
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
    material: Callable[[], Material] | None = None,
    gates: Sequence[GateResult] = (),
    *,
    replies: Callable[[], Replies] = dict,
    reading: ReadingName = "careful",
) -> Document:
    """Return the document. `material` collects what a report does not hold; it is called only if items are shown.

    `replies` returns the raw replies by qid, as far as they are known; it is called only if they are quoted.
    `reading`: that of the verdicts of test cases.
    """
    run = Findings(report)
    plots = _curve_plots(run)

    def items() -> Items:
        from grader.reports.web.items import PageRun, build

        assert material is not None
        return build(PageRun(name=run.name, findings=run, material=material()))

    return Document(
        names=_names(run.report),
        heading=run.name,
        facts=_facts(run),
        lead=metrics_lead([run.report.benchmark]),
        brief=brief_of(run),
        sections=[
            *([gate_views.section(gates)] if gates else []),
            Section(title="Metrics", parts=[metric_views.overall(run) if run.pairs else "This run has no metrics."]),
            *metric_views.by_group(run),
            *_other_answers(run),
            _differences(run, replies) if run.differing_samples else Section(parts=[run.agreement]),
            *(Section(title=plot.curve.title, parts=[plot], media=TEXTS) for plot in plots),
            Section(parts=[*plots, *_cards(run)], media=PAGES),
            *_unscored(run),
            *_notes(run),
            *_provenance(run),
        ],
        data=lambda: run.report,
        records=lambda: records_of(run.report),
        columns=COLUMNS,
        suites=lambda: [*gate_views.suites(gates, run.report.benchmark), *suites(run.report, reading)],
        evidence=lambda: evidence_of(run, replies()),
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


def _other_answers(run: Findings) -> Iterator[Section]:
    """Yield how many programs pass with other answers than the reference, if some do."""
    if sentence := other_answers_in_words(run.report.samples):
        yield Section(parts=[f"{sentence} (flag `{OTHER_ANSWERS}`)."])


def _differences(run: Findings, replies: Callable[[], Replies]) -> Section:
    """Return the number of samples of each kind of difference, and a table of these samples."""
    samples = run.differing_samples
    kinds = list(run.differences.items())
    numbers = [f"{number:,} {kind}" for kind, number in kinds[:MOST_KINDS]]
    if others := sum(number for _, number in kinds[MOST_KINDS:]):
        numbers.append(f"{others:,} of other kinds")
    return Section(
        title=f"Official and careful differ on {len(samples):,} of {counted(len(run.report.samples), 'sample')}",
        lead=f"{', '.join(numbers)}.",
        parts=[_differences_table(run, samples, replies)],
    )


def _differences_table(run: Findings, samples: Sequence[SampleResult], replies: Callable[[], Replies]) -> Table:
    names = _names_in_units(run)
    golds = [run.scorer.sample_details(sample).gold for sample in samples]
    has_gold = any(golds)
    columns = ("sample", *(["gold"] if has_gold else []), *READINGS)
    quotes_replies = any(isinstance(sample.careful.span, tuple) for sample in samples)
    texts = replies() if quotes_replies else {}
    with_several_samples = {sample.qid for sample in run.report.samples if sample.sample > 0}
    rows = []
    for sample, gold in zip(samples, golds, strict=True):
        number = f" #{sample.sample}" if sample.qid in with_several_samples else ""
        name = Cell(text=f"{names.get(sample.qid, sample.qid)}{number}")
        gold_cells = [Cell(text=truncate(gold, LONGEST_VALUE))] if has_gold else []
        rows.append([name, *gold_cells, *_difference_cells(run.scorer, sample, reply_of(texts, sample))])
    return Table(
        title="Samples on which the readings differ",
        columns=[*(Column(name=name, kind="name") for name in columns), Column(name="why", kind="sentence")],
        rows=rows,
        is_list=True,
        media=TEXTS,
    )


def _names_in_units(run: Findings) -> dict[str, str]:
    """Return task -> name, of tasks that are judged as one unit: `13, pass 2 of 4` of the circular question `13`."""
    names: dict[str, str] = {}
    for unit, members in run.items.items():
        qids = list(dict.fromkeys(sample.qid for sample in members))
        if len(qids) > 1:
            names |= {qid: f"{unit}, pass {number} of {len(qids)}" for number, qid in enumerate(qids, 1)}
    return names


def _difference_cells(scorer: AnyScorer, sample: SampleResult, reply: str | None) -> list[Cell]:
    """Return a cell for the verdict of each reading, and one for why they differ."""
    verdicts = [
        _verdict_text(scorer, sample.reading(name), facts)
        for name, facts in distinguishing_facts(scorer, sample).items()
    ]
    reasons = [truncate(" ".join(why_readings_differ(scorer, sample, reply).split()), LONGEST_REASON)]
    if (call := sample.explaining_call(sample.careful)) is not None:
        texts = (call.call, call.returned or "nothing", call.expected)
        source, returned, expected = (truncate(text.strip(), LONGEST_VALUE) for text in texts)
        # "This" is the text that the reason before it quotes: it is whole there, and would be cut here.
        if len(call.returned) > LONGEST_VALUE and call.returned in reasons[0]:
            returned = "this"
        reasons.append(f"{source} returned {returned}, expected {expected}")
    return [Cell(text=text) for text in (*verdicts, "; ".join(filter(None, reasons)))]


def _verdict_text(scorer: AnyScorer, reading: Reading, facts: str) -> str:
    """Return the outcome of a reading, with further facts that tell it from the other one, and its answer."""
    text = ", ".join(filter(None, (outcome_name(scorer, reading), facts)))
    return f"{text}: {reading.answer}" if reading.answer else text


def _curve_plots(run: Findings) -> list[Plot]:
    curve = run.summary.curve
    overall = [metric for metric in run.report.metrics if metric.group is None]
    return [] if curve is None else [Plot(curve=curve, unit="task", metrics=overall)]


def _cards(run: Findings) -> Iterator[Table]:
    if run.report.samples:
        yield _outcomes_table(run.report, run.scorer)
    yield from map(_summary_table, run.summary.tables)


def _summary_table(block: TableBlock) -> Table:
    """Return a table of the scorer's own; its first column has names, the others have numbers."""
    columns = [Column(name=name, kind="number" if index else "name") for index, name in enumerate(block.columns)]
    rows = [[Cell(text=text) for text in row] for row in block.rows]
    return Table(title=block.title, note=block.lead, columns=columns, rows=rows, is_card=True)


def _outcomes_table(report: Report, scorer: AnyScorer) -> Table:
    """Return the number of samples by official outcome (rows) and careful outcome (columns), frequent ones first."""
    pairs = Counter((sample.official.outcome.value, sample.careful.outcome.value) for sample in report.samples)
    officials = Counter(sample.official.outcome.value for sample in report.samples)
    carefuls = Counter(sample.careful.outcome.value for sample in report.samples)
    frequent_first = [outcome for outcome, _ in (officials + carefuls).most_common()]
    row_outcomes = [outcome for outcome in frequent_first if outcome in officials]
    column_outcomes = [outcome for outcome in frequent_first if outcome in carefuls]
    names = {outcome: scorer.words.outcomes.get(outcome, outcome) for outcome in frequent_first}
    rows = [
        [
            Cell(text=names[official]),
            *(_count_cell(pairs[official, careful], official=official, careful=careful) for careful in column_outcomes),
            _count_cell(officials[official], official=official),
        ]
        for official in row_outcomes
    ]
    totals = [
        Cell(text="all"),
        *(_count_cell(carefuls[careful], careful=careful) for careful in column_outcomes),
        _count_cell(len(report.samples)),
    ]
    return Table(
        title="Outcomes",
        note="Samples by their official outcome (rows) and careful outcome (columns).",
        columns=[
            Column(name="official ↓ careful →", kind="name"),
            *(Column(name=names[careful]) for careful in column_outcomes),
            Column(name="all"),
        ],
        rows=[*rows, totals],
        is_card=True,
    )


def _count_cell(number: int, **outcomes: str) -> Cell:
    """Return a number of samples, with a link to those that have these outcomes."""
    if not number:
        return Cell(text="·", tone="faint")
    return Cell(text=f"{number:,}", link=items_link(tab="items", **outcomes))


def _unscored(run: Findings) -> Iterator[Section]:
    report = run.report
    if not report.unscored:
        return
    metrics = run.partial_metrics
    table = Table(
        title="Worst and best case",
        columns=[
            Column(name="metric", kind="name"),
            Column(name="reading", kind="word"),
            Column(name="worst to best case", kind="sentence"),
        ],
        rows=[
            [Cell(text=metric.name), Cell(text=metric.reading), Cell(text=bounds_in_words(metric))]
            for metric in metrics
        ],
        note="The worst case is all of them wrong, the best case all of them correct.",
    )
    # How the tables show these metrics (`value_text`): a value has a star; without a value, there is a range.
    signs = []
    if any(metric.value is not None for metric in metrics):
        signs.append("values with *")
    if any(metric.value is None for metric in metrics):
        signs.append("ranges")
    signs_text = f" ({' and '.join(signs)})" if signs else ""
    yield Section(
        title=f"{report.unscored:,} of {counted(len(report.samples), 'sample')} unscored",
        lead=f"Why: {run.why_unscored}. Excluded from {run.metrics_leaving_out_unscored}{signs_text}, counted neither "
        "as correct nor as wrong.",
        parts=[table] if metrics else [],
    )


def _notes(run: Findings) -> Iterator[Section]:
    """Yield the notes and, for texts alone, the scorer's lines: a page has the counts in its heading (`_facts`)."""
    if notes := [note for note in (*run.reading_difference_notes, *run.notes) if note.strip()]:
        yield Section(title="Notes", parts=notes)
    if run.summary.lines:
        yield Section(parts=run.summary.lines, media=TEXTS)


def _provenance(run: Findings) -> Iterator[Section]:
    facts = {key: value for key, value in run.provenance.items() if not _is_large(value)}
    columns = [Column(name="fact", kind="name"), Column(name="value", kind="name")]
    rows = [[Cell(text=key), Cell(text=_value_text(value))] for key, value in facts.items()]
    if rows:
        table = Table(title="How it was made", columns=columns, rows=rows)
        yield Section(title="How it was made", parts=[table], is_folded=True, media=FILES)


_MOST_PARTS = 6
"""Parts of a value that are read at a glance."""


def _is_large(value: object) -> bool:
    """Whether a value has too many or nested parts for one cell, so that only the results file has it."""
    if not isinstance(value, dict):
        return False
    return len(value) > _MOST_PARTS or any(isinstance(part, dict | list) for part in value.values())


def _value_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
