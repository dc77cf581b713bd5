"""The document of a comparison of two runs. The HTML page of a comparison is `grader.reports.html.side_by_side`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

from grader.reports.document import Cell, Column, Document, Section, Table, p_value, page_of
from grader.statistics.paired import detectable_in_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from grader.decisions.comparison import Comparison, Flip
    from grader.scorers.pairing import Compared

_COLUMNS = [
    Column(name="metric", kind="name"),
    Column(name="group", kind="name"),
    Column(name="reading", kind="word"),
    *(Column(name=name) for name in ("A", "B", "change", "95 % interval", "p", "pairs")),
]


def document(made: Comparison) -> Document:
    """Return the metrics, the items that changed, and the notes."""
    a, b = made.names()
    has_groups = any(row.group for row in made.metrics)
    columns = [column for column in _COLUMNS if has_groups or column.name != "group"]
    rows = [
        [cell for cell, column in zip(_cells(row), _COLUMNS, strict=True) if column in columns] for row in made.metrics
    ]
    parts = [
        *(f"{letter}: {name}" for letter, name in (("A", a), ("B", b)) if name),
        Table(title="Metrics", columns=columns, rows=rows),
        *_power(made),
        *changed(f"Higher in B ({made.reading})", made.risen, ("A", "B")),
        *changed(f"Lower in B ({made.reading})", made.fallen, ("A", "B")),
        *made.notes,
    ]
    return Document(
        title=f"{made.benchmark} · {made.split} · {made.protocol}: A to B",
        sections=[Section(title="", parts=parts)],
        records=lambda: _records(made),
        data=lambda: made,
        reading=made.reading,
    )


def changed(
    title: str, flips: Sequence[Flip], sides: tuple[str, str], results: str = "", folder: Path | None = None
) -> Iterator[Table | str]:
    """Yield the table of items that changed. `results`: the run whose page they link to from `folder`."""
    if not flips:
        yield f"{title}: none."
        return
    tone: Literal["good", "bad"] = "good" if flips[0].after > flips[0].before else "bad"
    yield Table(
        title=f"{title}: {len(flips)}",
        columns=[Column(name=name, kind="name") for name in ("item", *sides)],
        rows=[
            [
                Cell(text=flip.item, link=page_of(results, folder, flip.item)),
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


def _cells(row: Compared) -> list[Cell]:
    moved = row.difference
    texts = [
        *(row.name, row.group or "", row.reading, f"{row.before:.1f}", f"{row.after:.1f}", f"{moved.value:+.1f}"),
        *(f"{moved.ci95[0]:+.1f} to {moved.ci95[1]:+.1f}", p_value(row.p_value), str(moved.n)),
    ]
    return [Cell(text=text, tone="strong" if at == 5 and row.is_significant else "") for at, text in enumerate(texts)]


def _power(made: Comparison) -> list[str]:
    first = next((row for row in made.metrics if row.reading == made.reading), None)
    if first is None:
        return []
    test = first.difference.test
    how = "no item differs" if test == "no difference to test" else f"{test} test, paired by item"
    power = detectable_in_words(first.difference)
    return [f"{first.name}: {how}{f'; {power}' if power else ''}."]


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
