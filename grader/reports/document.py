"""The document of several runs: what a comparison or a leaderboard shows, in any format.

`comparison.py` and `leaderboard.py` make documents; there is one more module per format.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote

import msgspec

from grader.results import in_percent
from grader.scorers.interface import OFFICIAL_MARK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from grader.results import Metric, ReadingName

NOTHING = "–"
Where = Literal["everywhere", "pages", "texts"]
"""`pages`: only in HTML, which has room and draws. `texts`: everywhere else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell of a table. All texts may be untrusted."""

    text: str = ""
    letters: str = ""
    """The groups of a value, which stand beside it."""
    reading: ReadingName = "careful"
    """The reading of the letters."""
    below: str = ""
    """A second line on pages."""
    title: str = ""
    """A tooltip on pages."""
    tone: Literal["", "strong", "good", "bad", "faint"] = ""
    link: str = ""
    """Where a page leads to."""
    metrics: Mapping[ReadingName, Metric | None] = field(default_factory=dict)
    """The values that a page draws in this cell."""


def cells(texts: Iterable[str]) -> list[Cell]:
    """Return one cell for each text."""
    return [Cell(text=text) for text in texts]


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column: its heading, and how its cells are shown."""

    name: str
    kind: Literal["name", "word", "number", "drawn"] = "number"
    """`name` is an untrusted text, which may be broken. `word` and `number` are never broken."""
    where: Where = "everywhere"
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A titled table."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    """A sentence below it."""
    is_list: bool = False
    """A list of items, of which a format may show the first ones."""
    groups: Sequence[str] = ()
    """The groups (`field=value`) that it is about; a terminal shows many of them only on request."""
    is_card: bool = False
    """Of less weight: pages show it as a card."""
    where: Where = "everywhere"

    def in_texts(self) -> Table:
        """Return the table with the columns of all formats but HTML."""
        return self._only("texts")

    def on_pages(self) -> Table:
        """Return the table with the columns of HTML."""
        return self._only("pages")

    def _only(self, where: Where) -> Table:
        at = [place for place, column in enumerate(self.columns) if column.where in ("everywhere", where)]
        rows = [[row[place] for place in at] for row in self.rows]
        return replace(self, columns=[self.columns[place] for place in at], rows=rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading with tables and sentences below it."""

    title: str
    facts: Sequence[str] = ()
    """What a page shows below the title."""
    parts: Sequence[Table | str]

    def texts(self) -> list[Table | str]:
        """Return the parts that are not only for pages."""
        shown = [part for part in self.parts if not isinstance(part, Table) or part.where != "pages"]
        return [part.in_texts() if isinstance(part, Table) else part for part in shown]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What a format gets."""

    title: str
    facts: Sequence[str] = ()
    lead: str = ""
    sections: Sequence[Section]
    data: Callable[[], object]
    """Returns what JSON has."""
    records: Callable[[], Iterable[Mapping[str, object]]] = tuple
    """Returns the rows of a CSV file, unrounded."""


def page_of(results: str, folder: Path | None) -> str:
    """Return the address, from `folder`, of a run's page (`NAME.html` beside `NAME_results.json`).

    Empty if there is no such page.
    """
    stem = results.removesuffix("_results.json")
    page = Path(f"{stem}.html")
    if folder is None or stem == results or not page.is_file():
        return ""
    return quote(os.path.relpath(page, folder))


def value(metric: Metric | None, official_notes: Sequence[str] = ()) -> str:
    """Return a value with one decimal, a star if unscored samples are excluded from it, and the mark of a note on it.

    `official_notes`: the notes on the official values of its run.
    """
    if metric is None or metric.value is None:
        return in_percent(metric)
    starred = "*" if metric.bounds is not msgspec.UNSET else ""
    return marked(f"{in_percent(metric)}{starred}", metric.reading, official_notes)


def marked(text: str, reading: ReadingName, official_notes: Sequence[str]) -> str:
    """Return a value as text, with the mark of the notes on official values if it is one."""
    return f"{text}{OFFICIAL_MARK}" if reading == "official" and official_notes else text


def notes_below(runs: Iterable[tuple[str, Sequence[str]]]) -> list[str]:
    """Return the notes on the official values of runs, given as (name, notes). A note on some of them names these."""
    names: dict[str, list[str]] = {}
    every = dict(runs)
    for name, notes in every.items():
        for note in notes:
            names.setdefault(note, []).append(name)
    return [
        note
        if len(of) == len(every)
        else f"{OFFICIAL_MARK} {', '.join(of)}: {note.removeprefix(OFFICIAL_MARK).strip()}"
        for note, of in names.items()
    ]


def interval(metric: Metric | None) -> str:
    """Return the 95 % interval as text."""
    return "" if metric is None or metric.ci95 is None else f"{metric.ci95[0]:.1f} to {metric.ci95[1]:.1f}"


def signed(number: float) -> str:
    """Return a change as text, with its sign and one decimal."""
    return "0.0" if abs(number) < 0.05 else f"{number:+.1f}".replace("-", "\N{MINUS SIGN}")


def p_value(number: float) -> str:
    """Return a p value as tables show it."""
    return "<0.001" if number < 0.001 else f"{number:.3f}"
