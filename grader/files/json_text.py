"""Texts, paths and bounded lists of problems, as messages about files show them."""

from __future__ import annotations

import ast
import re
from collections import Counter
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

JsonPath = tuple[str | int, ...]

MAX_DEPTH = 100
"""Maximum nesting of a carried field, because later steps (msgspec, templates) recurse."""


class Flaw(msgspec.Struct, frozen=True, kw_only=True):
    """A valid JSON value that is not the expected one."""

    path: JsonPath
    """Relative to the record."""
    message: str


def quoted(text: str, limit: int = 60) -> str:
    """Return untrusted text for a message: bounded, with control characters escaped."""
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[:limit])
    mark = "'" if '"' in shown and "'" not in shown else '"'
    return f"{mark}{shown}{'...' if len(text) > limit else ''}{mark}"


def render_path(path: Sequence[str | int]) -> str:
    """Return `$[3].predictions[0]` for (3, "predictions", 0)."""
    return "$" + "".join(_step(part) for part in path)


def _step(part: str | int) -> str:
    if isinstance(part, int):
        return f"[{part}]"
    return f".{part}" if part.isidentifier() and part.isprintable() else f"[{quoted(part)}]"


def line_of(data: bytes, offset: int) -> int:
    """Return the line of a byte, counted from 1."""
    return data.count(b"\n", 0, offset) + 1


MOST = 1000
"""Maximum number of listed problems; a reader may stop when it has found this number."""
PLACES_SHOWN = 3
"""Number of places listed for the same problem; further places are only counted."""

_STEP = r"(?:\.\w++|\[\d++\]|\[(?:\"[^\"\n]*+\"|'[^'\n]*+')\])"
_PLACE = re.compile(rf"[^\n]*?:(?:\d++:)? (?:row \d++: )?(?:\${_STEP}*+: )?")
"""`preds.json:12: $[3].qid: `, `data.tsv:4: `, `data.parquet: row 4: `, `preds.json: `."""


def shown(problems: Iterable[str], most: int = MOST) -> list[str]:
    """Return the lines to show for `problems`, in the same order. Each problem is `place: what is wrong`.

    The same problem is listed for its first three places; the third line has the number of further places. After `most`
    lines, a last line has the number of omitted problems.
    """
    lines: list[tuple[str, str, int]] = []
    places: Counter[str] = Counter()
    total = 0
    for total, problem in enumerate(problems, 1):  # noqa: B007 - the number of all problems is used below
        message = _without_place(problem)
        if message not in places and len(lines) >= most:
            continue
        places[message] += 1
        if places[message] <= PLACES_SHOWN and len(lines) < most:
            lines.append((problem, message, places[message]))
    more = [places[message] - PLACES_SHOWN if nth == PLACES_SHOWN else 0 for _, message, nth in lines]
    listed = [problem + _elsewhere(count) for (problem, _, _), count in zip(lines, more, strict=True)]
    left_out = total - len(lines) - sum(more)
    return [*listed, f"... and {left_out:,} more"] if left_out else listed


def _without_place(problem: str) -> str:
    place = _PLACE.match(problem)
    return problem[place.end() :] if place else problem


def _elsewhere(count: int) -> str:
    return f" (and in {count:,} more place{'' if count == 1 else 's'})" if count else ""


_LONGEST_LIST = 100 << 20


def as_list(cell: object) -> object:
    """Return the list or object that a text cell has in the notation of Python or JSON; any other cell as it is."""
    if not isinstance(cell, str) or len(cell) > _LONGEST_LIST or cell[:1] + cell.rstrip()[-1:] not in ("[]", "{}"):
        return cell
    for read in (msgspec.json.decode, ast.literal_eval):
        try:
            return read(cell)
        except (msgspec.DecodeError, ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            continue
    return cell
