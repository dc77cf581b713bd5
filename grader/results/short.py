"""A report as a few lines of plain text, for `print(report)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_METRICS = 20
MOST_CHARACTERS = 60
HEAD = ("metric", "official", "careful", "95 % interval (careful)", "n")


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One metric in both readings, in percent."""

    name: str
    official: float | None
    careful: float | None
    ci95: tuple[float, float] | None
    """The interval of the careful value, or of the official one if there is no careful value."""
    n: int


def table(title: Sequence[str], metrics: Sequence[Row], counts: str) -> str:
    """Return a title, the metrics as a table, and a last line."""
    rows = [HEAD, *map(_cells, metrics[:MOST_METRICS])]
    lines = [" · ".join(map(_cut, title)), *_aligned(rows)]
    if len(metrics) > MOST_METRICS:
        lines.append(f"... and {len(metrics) - MOST_METRICS} more metrics")
    return "\n".join([*lines, counts])


def line(title: Sequence[str], counts: str) -> str:
    """Return one bounded line that identifies a report."""
    return f"<Report {' '.join(map(_cut, title))}: {counts}>"


def _cells(row: Row) -> tuple[str, ...]:
    interval = "" if row.ci95 is None else f"{row.ci95[0]:.1f} to {row.ci95[1]:.1f}"
    return _cut(row.name), _value(row.official), _value(row.careful), interval, str(row.n)


def _value(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.rjust(width) if at else cell.ljust(width) for at, (cell, width) in enumerate(pairs)).rstrip()
        for pairs in (list(zip(row, widths, strict=True)) for row in rows)
    ]


def _cut(text: str) -> str:
    shortened = text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 1]}…"
    # Like `grader.reports.text.clean`, which this lower layer must not import.
    return "".join(character if character.isprintable() else " " for character in shortened)
