"""Texts, paths and bounded lists of problems, as messages about files show them."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from grader.files.python_source import literal_from

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


def kind(value: object) -> str:  # noqa: PLR0911 - one line a type
    """Name a JSON value's type, and the value if it is short."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return f"the integer {value}" if abs(value) < 10**18 else "an integer"
        case float():
            return f"the number {value}" if math.isfinite(value) else "NaN or Infinity"
        case str():
            return f"the string {quoted(value, 20)}"
        case list():
            return "a list"
        case _:
            return "an object"


def not_utf8(position: int, byte: int) -> str:
    """Return what is wrong with a byte of a text, and what can be done."""
    return (
        f"byte {position} of the file (0x{byte:02x}) is not UTF-8; if Excel or Windows wrote it, convert it: "
        "iconv -f cp1252 -t UTF-8"
    )


def line_of(data: bytes, offset: int) -> int:
    """Return the line of a byte, counted from 1."""
    return data.count(b"\n", 0, offset) + 1


MOST = 1000
"""Number of problems after which a reader stops."""
SHOWN = 20
"""Maximum number of listed problems; the others are counted."""
PLACES_SHOWN = 3
"""Number of places listed for the same problem; further places are only counted."""

_STEP = r"(?:\.\w++|\[\d++\]|\[(?:\"[^\"\n]*+\"|'[^'\n]*+')\])"
_PLACE = re.compile(rf"[^\n]*?:(?:\d++:)? (?:row \d++: )?(?:\${_STEP}*+: )?")
"""`preds.json:12: $[3].qid: `, `data.tsv:4: `, `data.parquet: row 4: `, `preds.json: `."""


def shown(problems: Iterable[str], most: int = SHOWN) -> list[str]:
    """Return the lines to show for `problems`, in the same order. Each problem is `place: what is wrong`.

    The same problem is one line, with its first places and the number of all others. After `most` lines, a last line
    has the number of omitted problems.
    """
    places: dict[str, list[str]] = {}
    counts: Counter[str] = Counter()
    left_out = 0
    for problem in problems:
        place = _PLACE.match(problem)
        message = problem[place.end() :] if place else problem
        if message not in places and len(places) >= most:
            left_out += 1
            continue
        counts[message] += 1
        if counts[message] <= PLACES_SHOWN:
            places.setdefault(message, []).append(place[0] if place else "")
    listed = [f"{found[0]}{message}{_elsewhere(found, counts[message])}" for message, found in places.items()]
    return [*listed, f"... and {left_out:,} more"] if left_out else listed


def _elsewhere(places: Sequence[str], count: int) -> str:
    """Return the places of a problem after its first one: some by name, in another file with its name, and a count."""
    file = places[0].partition(":")[0] + ":"
    named = (place.removeprefix(file).strip().removesuffix(":").removesuffix(": $") for place in places[1:])
    parts = [re.sub(r"^(?=\d)", "line ", place) for place in named if place]
    left = count - 1 - len(parts)
    parts += [f"{left:,} more place{'' if left == 1 else 's'}"] if left else []
    return f" (also at {', '.join(parts[:-1])}{' and ' if parts[:-1] else ''}{parts[-1]})" if parts else ""


_LONGEST_LIST = 100 << 20


def as_list(cell: object) -> object:
    """Return the list or object that a text cell has in the notation of Python or JSON; any other cell as it is."""
    if not isinstance(cell, str) or len(cell) > _LONGEST_LIST or cell[:1] + cell.rstrip()[-1:] not in ("[]", "{}"):
        return cell
    for read in (msgspec.json.decode, literal_from):
        try:
            return read(cell)
        except (msgspec.DecodeError, ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            continue
    return cell
