"""The document of a comparison of two runs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

from grader.decisions.comparison import distinct_names
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
    marked,
    notes_below,
    p_value,
    place,
    signed,
)
from grader.reports.why import about_readings
from grader.results import Metric, other_reading
from grader.statistics.paired import detectable_in_words
from grader.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from grader.decisions.comparison import Comparison, Flip, RunName
    from grader.reports.document import Items
    from grader.reports.web.items import PageRun
    from grader.results import ReadingName
    from grader.scorers.pairing import Compared


def document(comparison: Comparison, sides: Callable[[], tuple[PageRun, PageRun]] | None = None) -> Document:
    """Return the metrics, the items that changed, and the notes.

    `sides` collects what the runs' items hold; it is called only if items are shown.
    """
    a, b = _short(comparison)
    overall, grouped = ([row for row in comparison.metrics if bool(row.group) is wanted] for wanted in (False, True))
    files = [f"{short}: {name}" for short, name in zip((a, b), comparison.names(), strict=True) if name]

    def items() -> Items:
        from grader.reports.web.items import build

        assert sides is not None
        return build(*sides())

    return Document(
        names=[comparison.benchmark, comparison.split, f"{comparison.protocol}: {a} to {b}"],
        facts=files,
        lead=about_readings([comparison.benchmark]),
        brief=_brief(comparison, has_items=sides is not None),
        sections=[
            Section(parts=[*_in_a_sentence(comparison), *files], where=TEXTS),
            Section(
                title=f"From {a} to {b}",
                lead=f"Values and tests are {comparison.reading}; changes are in points, of items scored in both runs.",
                parts=[
                    _table(comparison, "Metrics", "metric", [(row.name, row) for row in overall]),
                    *_power(comparison),
                ],
            ),
            *(_of_groups(comparison, grouped)),
            Section(
                title="Items that changed",
                parts=[
                    *_changed(
                        f"Higher in {b} ({comparison.reading})",
                        comparison,
                        comparison.risen,
                        has_items=sides is not None,
                    ),
                    *_changed(
                        f"Lower in {b} ({comparison.reading})",
                        comparison,
                        comparison.fallen,
                        has_items=sides is not None,
                    ),
                ],
            ),
            Section(
                title="Notes",
                parts=[
                    *comparison.notes,
                    *notes_below(
                        (letter, run.official_notes) for letter, run in ((a, comparison.a), (b, comparison.b))
                    ),
                ],
            ),
        ],
        records=lambda: _records(comparison),
        data=lambda: comparison,
        items=items if sides is not None else None,
    )


def _of_groups(comparison: Comparison, grouped: Sequence[Compared]) -> Iterator[Section]:
    if grouped:
        table = _table(comparison, "By group", "group", [(row.group or "", row) for row in grouped])
        yield Section(title=f"{grouped[0].name} by group", parts=[table])


def _table(comparison: Comparison, title: str, names: str, rows: Sequence[tuple[str, Compared]]) -> Table:
    """Return the table of these rows, which have the names that come first: a row for both readings of a metric."""
    pairs: dict[str, dict[ReadingName, Compared]] = {}
    for name, row in rows:
        pairs.setdefault(name, {})[row.reading] = row
    has_corrected = any(row.corrected is not None for _, row in rows)
    columns = [
        Column(name=names, kind="name"),
        Column(name="", kind="drawn", where=PAGES),
        *(Column(name=name) for name in (*_short(comparison), "change", "95 % interval", "p")),
        *([Column(name="p, corrected")] if has_corrected else []),
        Column(name="pairs"),
        Column(name=f"change ({other_reading(comparison.reading)})"),
    ]
    return Table(
        title=title,
        columns=columns,
        rows=[
            [Cell(text=name), *_cells(comparison, pair, has_corrected=has_corrected)] for name, pair in pairs.items()
        ],
        groups=list(dict.fromkeys(row.group for _, row in rows if row.group)),
    )


def _changed(title: str, comparison: Comparison, flips: Sequence[Flip], *, has_items: bool) -> Iterator[Table | str]:
    """Yield the table of items that changed."""
    if not flips:
        yield f"{title}: none."
        return
    tone: Literal["good", "bad"] = "good" if flips[0].after > flips[0].before else "bad"
    yield Table(
        title=f"{title}: {len(flips)}",
        columns=[Column(name=name, kind="name") for name in ("item", *_short(comparison))],
        rows=[
            [
                Cell(text=flip.item, link=place(tab="items", item=flip.item) if has_items else ""),
                Cell(text=_side(flip, 0)),
                Cell(text=_side(flip, 1), tone=tone),
            ]
            for flip in flips
        ],
        is_list=True,
    )


def _side(flip: Flip, which: int) -> str:
    """Return the outcome of an item in the first run (0) or the second (1), with the share of correct samples."""
    counts = Counter(flip.outcomes[which])
    words = ", ".join(name if number == 1 else f"{number} {name}" for name, number in counts.most_common())
    return words if sum(counts.values()) == 1 else f"{100 * (flip.before, flip.after)[which]:.0f} % ({words})"


def _cells(comparison: Comparison, pair: Mapping[ReadingName, Compared], *, has_corrected: bool) -> list[Cell]:
    """Return the cells of a metric: the values and the test of the comparison's reading, the change of the other."""
    row, other = pair.get(comparison.reading), pair.get(other_reading(comparison.reading))
    plot = Cell(metrics={reading: _change_as_metric(of) for reading, of in pair.items()})
    changed = Cell(text=_change(comparison, other), tone=_tone(other)) if other else Cell(text=NOTHING)
    if row is None:
        return [plot, *cells([NOTHING] * (6 + has_corrected)), changed]
    moved = row.difference
    corrected = NOTHING if row.corrected is None else p_value(row.corrected)
    return [
        plot,
        *(
            Cell(text=marked(f"{value:.1f}", row.reading, run.official_notes))
            for value, run in _values(comparison, row)
        ),
        Cell(text=_change(comparison, row), tone=_tone(row)),
        *cells([_between(row), p_value(moved.p_value), *([corrected] if has_corrected else []), str(moved.n)]),
        changed,
    ]


def _values(comparison: Comparison, row: Compared) -> list[tuple[float, RunName]]:
    return [(row.before, comparison.a), (row.after, comparison.b)]


def _change(comparison: Comparison, row: Compared) -> str:
    """Return a change as text, marked if there is a note on one of the values."""
    return marked(
        signed(row.difference.value), row.reading, [*comparison.a.official_notes, *comparison.b.official_notes]
    )


def _change_as_metric(row: Compared) -> Metric:
    moved = row.difference
    return Metric(name=row.name, reading=row.reading, value=moved.value, ci95=moved.ci95, n=moved.n)


def _tone(row: Compared) -> Literal["", "strong"]:
    return "strong" if row.is_significant else ""


def _between(row: Compared) -> str:
    return " to ".join(map(signed, row.difference.ci95))


def _short(comparison: Comparison) -> tuple[str, str]:
    """Return the names of the runs: those that the user gave, if there are some."""
    a, b = distinct_names([comparison.a, comparison.b])
    return a.short, b.short


def _first(comparison: Comparison, reading: ReadingName) -> Compared | None:
    return next((row for row in comparison.metrics if row.reading == reading and row.group is None), None)


def _in_a_sentence(comparison: Comparison) -> list[str]:
    """Return what changed in the first metric, and whether it is more than chance."""
    row = _first(comparison, comparison.reading)
    if row is None:
        return []
    a, b = _short(comparison)
    moved = row.difference
    how = "is the same" if signed(moved.value) == "0.0" else "is higher" if moved.value > 0 else "is lower"
    values = f"{row.before:.1f} in {a}, {row.after:.1f} in {b}"
    change = f"change {signed(moved.value)} points, 95 % interval {_between(row)}"
    chance = "this is more than chance" if row.is_significant else "chance can explain this"
    return [f"{row.name} ({row.reading}) {how}: {values}; {change}; {chance} (p {_equals(moved.p_value)})."]


def _equals(number: float) -> str:
    text = p_value(number)
    return text if text.startswith("<") else f"= {text}"


def _brief(comparison: Comparison, *, has_items: bool) -> Brief | None:
    row, other = _first(comparison, comparison.reading), _first(comparison, other_reading(comparison.reading))
    if row is None:
        return None
    _, b = _short(comparison)
    moved = (("lower", "down", comparison.fallen), ("higher", "up", comparison.risen))
    return Brief(
        number=signed(row.difference.value),
        sentence=_in_a_sentence(comparison)[0],
        beside=[(f"{other.reading}, change", signed(other.difference.value))] if other else [],
        look=[
            (f"{counted(len(flips), 'item')} {word} in {b}.", place(tab="items", moved=how, reading=comparison.reading))
            for word, how, flips in moved
            if flips and has_items
        ],
    )


def _power(comparison: Comparison) -> list[str]:
    first = next((row for row in comparison.metrics if row.reading == comparison.reading), None)
    if first is None:
        return []
    test = first.difference.test
    how = "no item differs" if test == "no difference to test" else f"{test} test, item by item"
    power = detectable_in_words(first.difference)
    return [f"{first.name} ({first.reading}): {how}{f'; {power}' if power else ''}."]


def _records(comparison: Comparison) -> Iterator[dict[str, object]]:
    a, b = comparison.names()
    for row in comparison.metrics:
        moved = row.difference
        yield {
            "metric": row.name,
            "reading": row.reading,
            "group": row.group,
            "a_run": a,
            "b_run": b,
            "a": row.before,
            "b": row.after,
            "change": moved.value,
            "ci95_low": moved.ci95[0],
            "ci95_high": moved.ci95[1],
            "p": moved.p_value,
            "p_corrected": row.p_value,
            "test": moved.test,
            "n": moved.n,
            "differing": moved.differing,
        }
