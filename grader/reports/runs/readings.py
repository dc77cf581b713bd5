"""The document of one prediction file under every published reading."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.predictions.record import counted
from grader.reports.document import NOTHING, Column, Document, Section, Table, cells

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from grader.decisions.readings import Readings, ReadItem

MOST_ITEMS = 20


def document(found: Readings, alike: Mapping[str, Sequence[str]]) -> Document:
    """Return the value under each reading, and the answers of the samples whose credit depends on the reading.

    `alike`: first name -> names of the published readings that read every sample alike, which are one row.
    """
    shown = [found.rows[0].reader, *alike]
    heads = (found.metric, "without an answer", "differs from careful")
    table = Table(
        title=f"{found.predictions} under every reading, without a judge",
        columns=[Column(name="reading", kind="name"), *(Column(name=head) for head in heads)],
        rows=[
            cells(
                (
                    " = ".join(alike.get(row.reader, [row.reader])),
                    NOTHING if row.value is None else f"{row.value:.1f}",
                    *map(str, (row.unread, row.differing)),
                )
            )
            for row in found.rows
            if row.reader in shown
        ],
    )
    left = len(found.items) - MOST_ITEMS
    items = Table(
        title=f"The credit depends on the reading: {counted(len(found.items), 'sample')}",
        columns=[Column(name=name, kind="name") for name in ("sample", "answer", "by")],
        rows=[cells(row) for item in found.items[:MOST_ITEMS] for row in _rows(item, shown)],
        note=f"... {left} more; -o FILE.json has all." if left > 0 else "",
    )
    parts = [table, items if found.items else "The credit of no sample depends on the reading."]
    return Document(title=table.title, sections=[Section(title="", parts=parts)], data=lambda: found)


def _rows(item: ReadItem, shown: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield each answer to an item, with the readings that give it; right ones are marked."""
    said: dict[str, list[str]] = {}
    for name, answer in ((name, item.answers[name]) for name in shown):
        mark = " (correct)" if name in item.right else ""
        said.setdefault((answer or "none") + mark, []).append(name)
    for place, (answer, names) in enumerate(said.items()):
        yield "" if place else item.qid, answer, ", ".join(names)
