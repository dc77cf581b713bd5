"""The document of a comparison of two runs. The HTML page of a comparison is `grader.reports.html.side_by_side`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

from grader.reports.document import Cell, Column, Document, Section, Table, marked, notes_below, p_value
from grader.statistics.paired import detectable_in_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.decisions.comparison import Comparison, Flip
    from grader.scorers.pairing import Compared

_COLUMNS = [
    Column(name="reading", kind="word"),
    *(Column(name=name) for name in ("A", "B", "change", "95 % interval", "p", "pairs")),
]


def document(made: Comparison) -> Document:
    """Return the metrics, the items that changed, and the notes."""
    a, b = made.names()
    overall, grouped = ([row for row in made.metrics if bool(row.group) is wanted] for wanted in (False, True))
    parts = [
        *(f"{letter}: {name}" for letter, name in (("A", a), ("B", b)) if name),
        _table(made, "Metrics", "metric", [(row.name, row) for row in overall]),
        *(
            [_table(made, f"{grouped[0].name} by group", "group", [(row.group or "", row) for row in grouped])]
            if grouped
            else []
        ),
        *_power(made),
        *_changed(f"Higher in B ({made.reading})", made.risen),
        *_changed(f"Lower in B ({made.reading})", made.fallen),
        *made.notes,
        *notes_below((letter, run.official_notes) for letter, run in (("A", made.a), ("B", made.b))),
    ]
    return Document(
        title=f"{made.benchmark} · {made.split} · {made.protocol}: A to B",
        sections=[Section(title="", parts=parts)],
        records=lambda: _records(made),
        data=lambda: made,
    )


def _table(made: Comparison, title: str, names: str, rows: Sequence[tuple[str, Compared]]) -> Table:
    """Return the table of these rows, which have the names that come first."""
    return Table(
        title=title,
        columns=[Column(name=names, kind="name"), *_COLUMNS],
        rows=[[Cell(text=name), *_cells(made, row)] for name, row in rows],
        groups=list(dict.fromkeys(row.group for _, row in rows if row.group)),
    )


def _changed(title: str, flips: Sequence[Flip]) -> Iterator[Table | str]:
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
                Cell(text=flip.item),
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
    texts = [
        row.reading,
        *(marked(f"{value:.1f}", row.reading, run.official_notes) for value, run in sides),
        f"{moved.value:+.1f}",
        *(f"{moved.ci95[0]:+.1f} to {moved.ci95[1]:+.1f}", p_value(row.p_value), str(moved.n)),
    ]
    return [Cell(text=text, tone="strong" if at == 3 and row.is_significant else "") for at, text in enumerate(texts)]


def _power(made: Comparison) -> list[str]:
    first = next((row for row in made.metrics if row.reading == made.reading), None)
    if first is None:
        return []
    test = first.difference.test
    how = "no item differs" if test == "no difference to test" else f"{test} test, paired by item"
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
