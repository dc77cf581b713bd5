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
    printable = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[:limit])
    quote = "'" if '"' in printable and "'" not in printable else '"'
    return f"{quote}{printable}{'...' if len(text) > limit else ''}{quote}"


def render_path(path: Sequence[str | int]) -> str:
    """Return `$[3].predictions[0]` for (3, "predictions", 0)."""
    return "$" + "".join(_step(part) for part in path)


def _step(part: str | int) -> str:
    if isinstance(part, int):
        return f"[{part}]"
    return f".{part}" if part.isidentifier() and part.isprintable() else f"[{quoted(part)}]"


def describe_value(value: object) -> str:  # noqa: PLR0911 - one line a type
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


def not_utf8_message(position: int, byte: int) -> str:
    """Return what is wrong with a byte of a text, and what can be done."""
    return (
        f"byte {position} of the file (0x{byte:02x}) is not UTF-8; if Excel or Windows wrote it, convert it: "
        "iconv -f cp1252 -t UTF-8"
    )


def line_of(data: bytes, offset: int) -> int:
    """Return the line of a byte, counted from 1."""
    return data.count(b"\n", 0, offset) + 1


MAX_PROBLEMS = 1000
"""Number of problems after which a reader stops."""
LISTED_PROBLEMS = 20
"""Maximum number of listed problems; the others are counted."""
LISTED_LOCATIONS = 3
"""Number of locations listed for the same problem; further ones are only counted."""

_STEP = r"(?:\.\w++|\[\d++\]|\[(?:\"[^\"\n]*+\"|'[^'\n]*+')\])"
_LOCATION = re.compile(rf"[^\n]*?:(?:\d++:)? (?:row \d++: )?(?:\${_STEP}*+: )?")
"""`preds.json:12: $[3].qid: `, `data.tsv:4: `, `data.parquet: row 4: `, `preds.json: `."""


def problem_lines(problems: Iterable[str]) -> list[str]:
    """Return the lines to show for `problems`, in the same order. Each problem is `location: what is wrong`.

    The same problem is one line, with its first locations and the number of all others. After `LISTED_PROBLEMS` lines,
    a last line has the number of omitted problems.
    """
    locations: dict[str, list[str]] = {}
    counts: Counter[str] = Counter()
    omitted = 0
    for problem in problems:
        location = _LOCATION.match(problem)
        message = problem[location.end() :] if location else problem
        if message not in locations and len(locations) >= LISTED_PROBLEMS:
            omitted += 1
            continue
        counts[message] += 1
        if counts[message] <= LISTED_LOCATIONS:
            locations.setdefault(message, []).append(location[0] if location else "")
    lines = [
        f"{first}{message}{_more_locations(first, others, counts[message])}"
        for message, (first, *others) in locations.items()
    ]
    return [*lines, f"... and {omitted:,} more"] if omitted else lines


def _more_locations(first: str, others: Sequence[str], count: int) -> str:
    """Return where a problem is besides its first location: ` (also at line 2: $[2], b.tsv:7 and 4 more places)`.

    The locations are as `_LOCATION` matches them; `others` are the next ones, and `count` is the number of all. One in
    the first one's file is without the file's name: `preds.json:2: $[2]: ` becomes `line 2: $[2]`.
    """
    file = first.partition(":")[0] + ":"
    parts = []
    for location in others:
        position = location.removeprefix(file).strip().removesuffix(":").removesuffix(": $")
        begins_with_line = location.startswith(file) and position[:1].isdecimal()
        if position:  # it is empty for the file as a whole
            parts.append(f"line {position}" if begins_with_line else position)
    if unlisted := count - 1 - len(parts):
        parts.append(f"{unlisted:,} more place{'' if unlisted == 1 else 's'}")
    if not parts:
        return ""
    *head, last = parts
    return f" (also at {', '.join(head)} and {last})" if head else f" (also at {last})"


def duplicate_columns(names: Iterable[str]) -> list[str]:
    """Return a problem for each name that several columns have; columns without a name may be many."""
    return [f"the column {quoted(name)} is a duplicate" for name, count in Counter(names).items() if name and count > 1]


_MAX_CELL = 100 << 20
"""Characters of a cell that is parsed: more would need gigabytes of memory."""


def cell_text(cell: object) -> str:
    """Return the text of a cell: empty for an empty one (NaN for pandas), digits for a number."""
    if isinstance(cell, str):
        return cell
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def parse_index(text: str) -> int | None:
    """Return the number that decimal digits are; None for any other text, and for more than 9 digits.

    Python raises ValueError for thousands of digits, which ids and answers of hostile files may have.
    """
    return int(text) if text.isdecimal() and len(text) < 10 else None


def parse_collection(cell: object) -> object:
    """Return the list or object that a text cell has in the notation of Python or JSON; any other cell as it is."""
    if not isinstance(cell, str) or len(cell) > _MAX_CELL or cell[:1] + cell.rstrip()[-1:] not in ("[]", "{}"):
        return cell
    for parse in (msgspec.json.decode, literal_from):
        try:
            return parse(cell)
        except (msgspec.DecodeError, ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            continue
    return cell
