"""The document of a comparison of two runs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

from grader.reports.document import (
    PAGES,
    Cell,
    Column,
    Document,
    Section,
    Table,
    marked,
    notes_below,
    p_value,
    place,
)
from grader.reports.why import about_readings
from grader.results import Metric
from grader.statistics.paired import detectable_in_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from grader.decisions.comparison import Comparison, Flip
    from grader.reports.document import Items
    from grader.reports.web.items import Run
    from grader.scorers.pairing import Compared

_COLUMNS = [
    Column(name="reading", kind="word"),
    Column(name="", kind="drawn", where=PAGES),
    *(Column(name=name) for name in ("A", "B", "change", "95 % interval", "p", "pairs")),
]


def document(made: Comparison, sides: Callable[[], tuple[Run, Run]] | None = None) -> Document:
    """Return the metrics, the items that changed, and the notes.

    `sides` collects what the runs' items hold; it is called only if items are shown.
    """
    a, b = made.names()
    overall, grouped = ([row for row in made.metrics if bool(row.group) is wanted] for wanted in (False, True))
    names = [f"{letter}: {name}" for letter, name in (("A", a), ("B", b)) if name]

    def items() -> Items:
        from grader.reports.web.items import build

        assert sides is not None
        return build(*sides())

    return Document(
        names=[made.benchmark, made.split, f"{made.protocol}: A to B"],
        facts=names,
        lead=about_readings([made.benchmark]),
        sections=[
            Section(
                title="From A to B",
                lead="Change in points, of the items that are scored in both runs.",
                parts=[
                    *names,
                    _table(made, "Metrics", "metric", [(row.name, row) for row in overall]),
                    *_power(made),
                ],
            ),
            *(_of_groups(made, grouped)),
            Section(
                title="Items that changed",
                parts=[
                    *_changed(f"Higher in B ({made.reading})", made.risen, has_items=sides is not None),
                    *_changed(f"Lower in B ({made.reading})", made.fallen, has_items=sides is not None),
                ],
            ),
            Section(
                title="Notes",
                parts=[
                    *made.notes,
                    *notes_below((letter, run.official_notes) for letter, run in (("A", made.a), ("B", made.b))),
                ],
            ),
        ],
        records=lambda: _records(made),
        data=lambda: made,
        items=items if sides is not None else None,
    )


def _of_groups(made: Comparison, grouped: Sequence[Compared]) -> Iterator[Section]:
    if grouped:
        table = _table(made, "By group", "group", [(row.group or "", row) for row in grouped])
        yield Section(title=f"{grouped[0].name} by group", parts=[table])


def _table(made: Comparison, title: str, names: str, rows: Sequence[tuple[str, Compared]]) -> Table:
    """Return the table of these rows, which have the names that come first."""
    return Table(
        title=title,
        columns=[Column(name=names, kind="name"), *_COLUMNS],
        rows=[[Cell(text=name), *_cells(made, row)] for name, row in rows],
        groups=list(dict.fromkeys(row.group for _, row in rows if row.group)),
    )


def _changed(title: str, flips: Sequence[Flip], *, has_items: bool) -> Iterator[Table | str]:
    """Yield the table of items that changed."""
    if not flips:
        yield f"{title}: none."
        return
    tone: Literal["good", "bad"] = "good" if flips[0].after > flips[0].before else "bad"
    yield Table(
        title=f"{title}: {len(flips)}",
        columns=[Column(name=name, kind="name") for name in ("item", "A", "B")],
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
    counts = Counter(outcome.replace("_", " ") for outcome in flip.outcomes[which])
    words = ", ".join(name if number == 1 else f"{number} {name}" for name, number in counts.most_common())
    return words if sum(counts.values()) == 1 else f"{100 * (flip.before, flip.after)[which]:.0f} % ({words})"


def _cells(made: Comparison, row: Compared) -> list[Cell]:
    moved = row.difference
    sides = ((row.before, made.a), (row.after, made.b))
    drawn = Metric(name=row.name, reading=row.reading, value=moved.value, ci95=moved.ci95, n=moved.n)
    change = Cell(text=f"{moved.value:+.1f}", tone="strong" if row.is_significant else "")
    interval = f"{moved.ci95[0]:+.1f} to {moved.ci95[1]:+.1f}"
    return [
        Cell(text=row.reading),
        Cell(metrics={row.reading: drawn}),
        *(Cell(text=marked(f"{value:.1f}", row.reading, run.official_notes)) for value, run in sides),
        change,
        *(Cell(text=text) for text in (interval, p_value(row.p_value), str(moved.n))),
    ]


def _power(made: Comparison) -> list[str]:
    first = next((row for row in made.metrics if row.reading == made.reading), None)
    if first is None:
        return []
    test = first.difference.test
    how = "no item differs" if test == "no difference to test" else f"{test} test, item by item"
    power = detectable_in_words(first.difference)
    return [f"{first.name} ({first.reading}): {how}{f'; {power}' if power else ''}."]


def _records(made: Comparison) -> Iterator[dict[str, object]]:
    a, b = made.names()
    for row in made.metrics:
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
