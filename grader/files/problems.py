"""Bounded lists of problems: a problem that occurs in many places is listed only a few times.

Every list of problems that `grade` shows goes through `shown`.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

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
