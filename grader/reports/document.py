"""What a view makes and a format shows: sections with tables, sentences and plots, as data.

A view (`views/`) is a function from reports to a `Document`, a format (`formats/`) one from a `Document` to bytes.
Neither knows the other: a view says on which kind of medium a part is shown, not in which format. A format of text
takes the sections with `Document.for_medium`, one of data takes `data`, `records` or `suites`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote, urlencode

from grader.results import in_percent
from grader.wording import decimal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from grader.reports.questions import Gap
    from grader.results import Metric, Note, ReadingName
    from grader.scorers.interface import CurveBlock

NOTHING = "–"
Medium = Literal["terminal", "file", "page"]
"""A terminal has 80 columns; a file of text is read in a pull request; a page has room, draws, and can be clicked."""
Media = tuple[Medium, ...]
EVERYWHERE: Media = ("terminal", "file", "page")
TEXTS: Media = ("terminal", "file")
PAGES: Media = ("page",)
FILES: Media = ("file",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell of a table. All texts may be untrusted."""

    text: str = ""
    below: str = ""
    """A second line on pages."""
    title: str = ""
    """A tooltip on pages."""
    tone: Literal["", "strong", "good", "bad", "faint"] = ""
    link: str = ""
    """Where a page leads to."""
    metrics: Mapping[ReadingName, Metric | None] = field(default_factory=dict)
    """The values that a page draws in this cell."""
    chance: float | None = None
    """Beside these values: what a guess would get."""


def cells(texts: Iterable[str]) -> list[Cell]:
    """Return one cell for each text."""
    return [Cell(text=text) for text in texts]


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column: its heading, and how its cells are shown."""

    name: str
    kind: Literal["name", "sentence", "word", "number", "plot"] = "number"
    """`name` is an untrusted text; a `sentence` may quote such texts. Only these two may be broken.

    `plot` draws the `metrics` of its cells, which have no text, and belongs on pages only.
    """
    media: Media = EVERYWHERE
    title: str = ""
    has_percent_scale: bool = False
    """A plot whose scale is that of percentages, not that of its values."""


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
    media: Media = EVERYWHERE

    def for_medium(self, medium: Medium) -> Table:
        """Return the table with the columns of a medium."""
        indexes = [index for index, column in enumerate(self.columns) if medium in column.media]
        rows = [[row[index] for index in indexes] for row in self.rows]
        return replace(self, columns=[self.columns[index] for index in indexes], rows=rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """A curve of both readings. Pages draw it; other media have a table of its values."""

    curve: CurveBlock
    unit: str
    """What is counted for each of its values."""
    metrics: Sequence[Metric]
    """Those of its values that have intervals."""

    def for_medium(self, medium: Medium) -> Plot | Table:
        """Return what a medium shows: the curve, or its values in a table."""
        if medium == "page":
            return self
        curve = self.curve
        table_ks = _table_ks(curve.k)
        indexes = [index for index, k in enumerate(curve.k) if k in table_ks]
        rows = []
        for reading, points in (("official", curve.official), ("careful", curve.careful)):
            values = [value for value, _ in points]
            texts = [NOTHING if (value := values[index]) is None else decimal(value) for index in indexes]
            rows.append(cells([reading, *texts]))
        columns = [Column(name=f"{curve.prefix}{curve.k[index]}") for index in indexes]
        return Table(title=curve.title, columns=[Column(name="reading", kind="word"), *columns], rows=rows)


_MOST_KS = 8
"""Columns that fit on 80 characters beside the name of the reading."""


def _table_ks(ks: Sequence[int]) -> list[int]:
    """Return the numbers of samples that a table shows: of many those at 1, 2, 5, 10, 20, 50, ..., and the last."""
    if len(ks) <= _MOST_KS:
        return list(ks)
    return [k for k in ks if str(k).rstrip("0") in ("1", "2", "5") or k == ks[-1]]


Part = Table | Plot | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading with tables and sentences below it."""

    title: str = ""
    sign: str = ""
    """A sign before the title, of the grader's own."""
    lead: str = ""
    """A sentence below the title."""
    parts: Sequence[Part]
    """An empty sentence is left out."""
    is_folded: bool = False
    """Pages and files show its title first, and the rest on request."""
    media: Media = EVERYWHERE

    def for_medium(self, medium: Medium) -> list[Part]:
        """Return the parts for a medium."""
        parts = (part for part in self.parts if part and (not isinstance(part, Table) or medium in part.media))
        return [part if isinstance(part, str) else part.for_medium(medium) for part in parts]


def shows_title(parts: Sequence[Part], index: int) -> bool:
    """Whether a format shows the title of this table.

    The section's title stands for that of its first part, except for the first of several lists: one section has both
    the items that rose and the items that fell.
    """
    part = parts[index]
    return index > 0 or (isinstance(part, Table) and part.is_list and len(parts) > 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What became of one item, for readers of test results."""

    name: str
    class_name: str
    """The dotted name of its group, which readers of JUnit show like the class of a test."""
    seconds: float = 0
    state: Literal["passed", "failed", "error", "skipped"]
    kind: str = ""
    message: str = ""
    details: str = ""
    remarks: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """Cases of one group."""

    name: str
    properties: Sequence[tuple[str, str]] = ()
    cases: Sequence[Case]


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """Packed data of items, which a page's script unpacks and shows."""

    data: str
    """Packed: all that lists and searches need."""
    packs: Sequence[str]
    """Packed: items with questions, outputs and programs."""
    images: Sequence[str]
    """Data URLs."""
    gaps: Sequence[Gap]
    """What cannot be shown."""
    runs: int
    """The number of runs: 1 or 2."""
    reading: str
    """The reading with which two runs open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """What somebody needs who decides: one number in a sentence, facts beside it, and what to look at."""

    number: str
    sentence: str
    facts: Sequence[tuple[str, str]]
    """(What, value), beside the number."""
    hints: Sequence[tuple[str, str]]
    """At most three things to look at: (a sentence, where a page leads to)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What a format gets."""

    names: Sequence[str]
    """The parts of its title."""
    heading: str = ""
    """What a page has in place of this title."""
    facts: Sequence[str] = ()
    """What was measured, in short parts."""
    lead: str = ""
    """How its numbers are to be read."""
    brief: Brief | None = None
    """What a page begins with; the sections have the same facts."""
    sections: Sequence[Section]
    data: Callable[[], object]
    """Returns the whole record, which msgspec can encode (JSON)."""
    records: Callable[[], Iterable[Mapping[str, object]]] = tuple
    """Returns rows of unrounded values, for programs (CSV); rows may have different columns."""
    columns: Sequence[str] = ()
    """The columns of the records if there are none."""
    suites: Callable[[], Iterable[Suite]] | None = None
    """Returns a verdict for each item (JUnit); None: the document is not about items."""
    evidence: Callable[[], Table | None] = lambda: None
    """Returns the evidence for every verdict."""
    items: Callable[[], Items] | None = None
    """Collects what a page shows of each item; None: it shows no items."""
    source: str = ""
    """The file it was made from, which pages name."""

    @property
    def title(self) -> str:
        """The title in one line."""
        return " · ".join(self.names)

    def for_medium(self, medium: Medium) -> list[tuple[Section, list[Part]]]:
        """Return the sections that have something for a medium, each with its parts."""
        sections = ((section, section.for_medium(medium)) for section in self.sections if medium in section.media)
        return [(section, parts) for section, parts in sections if parts or section.lead]


def items_link(**filters: str) -> str:
    """Return the link to items of a document on its page: `items_link(tab="items", careful="wrong")`."""
    return f"#{urlencode(filters, errors='replace')}"


def page_of(results: str, folder: Path | None) -> str:
    """Return the address, from `folder`, of a run's page (`NAME.html` beside `NAME_results.json`).

    Empty if there is no such page.
    """
    stem = results.removesuffix("_results.json")
    page = Path(f"{stem}.html")
    if folder is None or stem == results or not page.is_file():
        return ""
    return quote(os.path.relpath(page, folder))


OFFICIAL_MARK = "\N{DAGGER}"
"""The mark of official values, and of the notes on them."""


def value_text(metric: Metric | None, official_notes: Sequence[str] = ()) -> str:
    """Return a value with one decimal, a star if unscored samples are excluded from it, and the mark of a note on it.

    `official_notes`: the notes on the official values of its run.
    """
    if metric is None or metric.value is None:
        return in_percent(metric)
    star = "*" if metric.is_partial else ""
    return with_official_mark(f"{in_percent(metric)}{star}", metric.reading, official_notes)


def with_official_mark(text: str, reading: ReadingName, official_notes: Sequence[str]) -> str:
    """Return a value as text, with the mark of the notes on official values if it is one."""
    return f"{text}{OFFICIAL_MARK}" if reading == "official" and official_notes else text


def official_note_lines(runs: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    """Return each note on official values once, after the names of the runs that have it if others do not.

    `runs`: (name, notes).
    """
    names_of: dict[str, list[str]] = {}
    for name, notes in runs:
        for note in notes:
            names_of.setdefault(note, []).append(name)
    lines = []
    for note, names in names_of.items():
        prefix = "" if len(names) == len(runs) else f"{', '.join(names)}: "
        lines.append(f"{OFFICIAL_MARK} {prefix}{note}")
    return lines


def note_text(note: Note) -> str:
    """Return a note as text; one on the official values has their mark."""
    return f"{OFFICIAL_MARK} {note.text}" if note.kind == "official" and note.text.strip() else note.text


def interval_text(metric: Metric | None) -> str:
    """Return the 95 % interval as text."""
    return "" if metric is None or metric.ci95 is None else " to ".join(map(decimal, metric.ci95))


def p_value_text(number: float) -> str:
    """Return a p value as tables show it."""
    return "<0.001" if number < 0.001 else f"{number:.3f}"
