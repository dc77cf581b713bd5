"""The document of a comparison of two runs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from grader.decisions.comparison import item_values
from grader.reports.document import (
    NOTHING,
    PAGES,
    TEXTS,
    Brief,
    Cell,
    Column,
    Document,
    Section,
    Table,
    cells,
    items_link,
    official_note_lines,
    p_value_text,
    with_official_mark,
)
from grader.reports.why import metrics_lead
from grader.results import READINGS, Metric, other_reading
from grader.statistics.paired import detectable_in_words
from grader.wording import counted, decimal, signed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from grader.decisions.comparison import Comparison, Flip
    from grader.reports.document import Items
    from grader.reports.web.items import PageRun
    from grader.results import ReadingName
    from grader.scorers.pairing import MetricComparison


def document(
    comparison: Comparison,
    sides: Callable[[], tuple[PageRun, PageRun]] | None = None,
    outcome_names: Mapping[str, str] | None = None,
) -> Document:
    """Return the metrics, the items that changed, and the notes.

    `sides` collects what the runs' items hold; it is called only if items are shown. `outcome_names`: the scorer's.
    """
    a, b = comparison.a.short, comparison.b.short
    overall = [row for row in comparison.metrics if not row.group]
    by_group = [row for row in comparison.metrics if row.group]
    files = [f"{short}: {run.file}" for short, run in ((a, comparison.a), (b, comparison.b)) if run.file]
    has_items = sides is not None

    def items() -> Items:
        from grader.reports.web.items import build

        assert sides is not None
        runs = sides()
        before, after = (run.report for run in runs)
        pairs = [item_values(before, after, reading) for reading in READINGS]
        return build(*runs, values=[dict(zip(READINGS, values, strict=True)) for values in zip(*pairs, strict=True)])

    return Document(
        names=[comparison.benchmark, comparison.split, f"{comparison.protocol}: {a} to {b}"],
        facts=files,
        lead=metrics_lead([comparison.benchmark]),
        brief=_brief(comparison, has_items=has_items),
        sections=[
            Section(parts=[_headline_sentence(comparison), *files], media=TEXTS),
            Section(
                title=f"From {a} to {b}",
                lead=f"Values and tests are {comparison.reading}; changes are in points, of items scored in both runs.",
                parts=[
                    _table(comparison, "Metrics", "metric", [(row.name, row) for row in overall]),
                    _test_sentence(comparison),
                ],
            ),
            *_group_sections(comparison, by_group),
            Section(
                title="Items that changed",
                parts=[
                    _flips_table(
                        f"{word} in {b} ({comparison.reading})",
                        comparison,
                        [_with_outcome_names(flip, outcome_names or {}) for flip in flips],
                        has_items=has_items,
                    )
                    for word, flips in (("Higher", comparison.risen), ("Lower", comparison.fallen))
                ],
            ),
            Section(
                title="Notes",
                parts=[
                    *comparison.notes,
                    *official_note_lines([(a, comparison.a.official_notes), (b, comparison.b.official_notes)]),
                ],
            ),
        ],
        records=lambda: _records(comparison),
        data=lambda: comparison,
        items=items if has_items else None,
    )


def _group_sections(comparison: Comparison, rows: Sequence[MetricComparison]) -> Iterator[Section]:
    if rows:
        table = _table(comparison, "By group", "group", [(row.group or "", row) for row in rows])
        yield Section(title=f"{rows[0].name} by group", parts=[table])


def _table(
    comparison: Comparison, title: str, name_heading: str, rows: Sequence[tuple[str, MetricComparison]]
) -> Table:
    """Return a table with a row for each metric or group, which has both readings. `rows`: (name, one reading)."""
    pairs: dict[str, dict[ReadingName, MetricComparison]] = {}
    for name, row in rows:
        pairs.setdefault(name, {})[row.reading] = row
    has_corrected = any(row.corrected is not None for _, row in rows)
    test_columns = [comparison.a.short, comparison.b.short, "change", "95 % interval", "p"]
    test_columns += ["p, corrected", "pairs"] if has_corrected else ["pairs"]
    table_rows = []
    for name, pair in pairs.items():
        metrics = {reading: _change_as_metric(row) for reading, row in pair.items()}
        main, other = pair.get(comparison.reading), pair.get(other_reading(comparison.reading))
        if main is None:
            test_cells = cells([NOTHING] * len(test_columns))
        else:
            test_cells = _test_cells(comparison, main, has_corrected=has_corrected)
        other_cell = _change_cell(comparison, other) if other else Cell(text=NOTHING)
        table_rows.append([Cell(text=name), Cell(metrics=metrics), *test_cells, other_cell])
    return Table(
        title=title,
        columns=[
            Column(name=name_heading, kind="name"),
            Column(name="", kind="plot", media=PAGES),
            *(Column(name=name) for name in test_columns),
            Column(name=f"change ({other_reading(comparison.reading)})"),
        ],
        rows=table_rows,
        groups=list(dict.fromkeys(row.group for _, row in rows if row.group)),
    )


def _flips_table(title: str, comparison: Comparison, flips: Sequence[Flip], *, has_items: bool) -> Table | str:
    """Return the table of items that changed, or a sentence if none did."""
    if not flips:
        return f"{title}: none."
    return Table(
        title=f"{title}: {len(flips)}",
        columns=[Column(name=name, kind="name") for name in ("item", comparison.a.short, comparison.b.short)],
        rows=[_flip_cells(flip, comparison.reading, has_items=has_items) for flip in flips],
        is_list=True,
    )


def _with_outcome_names(flip: Flip, names: Mapping[str, str]) -> Flip:
    before, after = ([names.get(outcome, outcome) for outcome in outcomes] for outcomes in flip.outcomes)
    return msgspec.structs.replace(flip, outcomes=(before, after))


def _flip_cells(flip: Flip, reading: ReadingName, *, has_items: bool) -> list[Cell]:
    """Return the cells of an item, whose link opens it in the reading in which it changed."""
    outcomes_before, outcomes_after = flip.outcomes
    return [
        Cell(text=flip.item, link=items_link(tab="items", item=flip.item, reading=reading) if has_items else ""),
        Cell(text=_outcomes_text(outcomes_before, flip.before)),
        Cell(text=_outcomes_text(outcomes_after, flip.after), tone="good" if flip.after > flip.before else "bad"),
    ]


def _outcomes_text(outcomes: Sequence[str], value: float) -> str:
    """Return the outcome of an item in one run; of several samples the share that is correct, and each outcome."""
    counts = Counter(outcomes)
    words = ", ".join(name if number == 1 else f"{number} {name}" for name, number in counts.most_common())
    return words if len(outcomes) == 1 else f"{100 * value:.0f} % ({words})"


def _test_cells(comparison: Comparison, row: MetricComparison, *, has_corrected: bool) -> list[Cell]:
    """Return the values of both runs, the change, its interval, p values, and the number of pairs."""
    difference = row.difference
    values = [(row.before, comparison.a), (row.after, comparison.b)]
    p_values = [p_value_text(difference.p_value)]
    if has_corrected:
        p_values.append(NOTHING if row.corrected is None else p_value_text(row.corrected))
    return [
        *(Cell(text=with_official_mark(decimal(value), row.reading, run.official_notes)) for value, run in values),
        _change_cell(comparison, row),
        *cells([_interval_text(row), *p_values, str(difference.n)]),
    ]


def _change_cell(comparison: Comparison, row: MetricComparison) -> Cell:
    """Return a change, with a mark if there is a note on one of the values."""
    notes = [*comparison.a.official_notes, *comparison.b.official_notes]
    text = with_official_mark(signed(row.difference.value), row.reading, notes)
    return Cell(text=text, tone="strong" if row.is_significant else "")


def _change_as_metric(row: MetricComparison) -> Metric:
    """Return a change in the form in which pages draw values with intervals."""
    difference = row.difference
    return Metric(name=row.name, reading=row.reading, value=difference.value, ci95=difference.ci95, n=difference.n)


def _interval_text(row: MetricComparison) -> str:
    return " to ".join(map(signed, row.difference.ci95))


def _first_metric(comparison: Comparison, reading: ReadingName) -> MetricComparison | None:
    return next((row for row in comparison.metrics if row.reading == reading and row.group is None), None)


def _headline_sentence(comparison: Comparison) -> str:
    """Return what changed in the first metric, and whether it is more than chance; empty without such a metric."""
    row = _first_metric(comparison, comparison.reading)
    if row is None:
        return ""
    a, b = comparison.a.short, comparison.b.short
    change, p_value = signed(row.difference.value), p_value_text(row.p_value)
    direction = "is higher" if row.difference.value > 0 else "is lower"
    verb = "is the same" if change == "0.0" else direction
    conclusion = "this is more than chance" if row.is_significant else "chance can explain this"
    equals = "" if p_value.startswith("<") else "= "
    return (
        f"{row.name} ({row.reading}) {verb}: {decimal(row.before)} in {a}, {decimal(row.after)} in {b}; "
        f"change {change} points, 95 % interval {_interval_text(row)}; {conclusion} (p {equals}{p_value})."
    )


def _brief(comparison: Comparison, *, has_items: bool) -> Brief | None:
    row = _first_metric(comparison, comparison.reading)
    other = _first_metric(comparison, other_reading(comparison.reading))
    if row is None:
        return None
    b = comparison.b.short
    directions = (("lower", "down", comparison.fallen), ("higher", "up", comparison.risen))
    return Brief(
        number=signed(row.difference.value),
        sentence=_headline_sentence(comparison),
        facts=[(f"{other.reading}, change", signed(other.difference.value))] if other else [],
        hints=[
            (
                f"{counted(len(flips), 'item')} {word} in {b}.",
                items_link(tab="items", moved=direction, reading=comparison.reading),
            )
            for word, direction, flips in directions
            if flips and has_items
        ],
    )


def _test_sentence(comparison: Comparison) -> str:
    """Return the test of the first metric, and the change that it would detect; empty without a metric."""
    row = next((row for row in comparison.metrics if row.reading == comparison.reading), None)
    if row is None:
        return ""
    test = row.difference.test
    test_words = "no item differs" if test == "no difference to test" else f"{test} test, item by item"
    power = detectable_in_words(row.difference)
    return f"{row.name} ({row.reading}): {'; '.join(filter(None, (test_words, power)))}."


def _records(comparison: Comparison) -> Iterator[dict[str, object]]:
    """Yield a record for each metric, group and reading. `p_corrected` is `p` if nothing is corrected."""
    a, b = comparison.names()
    for row in comparison.metrics:
        difference = row.difference
        yield {
            "metric": row.name,
            "reading": row.reading,
            "group": row.group,
            "a_run": a,
            "b_run": b,
            "a": row.before,
            "b": row.after,
            "change": difference.value,
            "ci95_low": difference.ci95[0],
            "ci95_high": difference.ci95[1],
            "p": difference.p_value,
            "p_corrected": row.p_value,
            "test": difference.test,
            "n": difference.n,
            "differing": difference.differing,
        }
