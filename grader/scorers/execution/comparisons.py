"""The names of the comparisons of printed texts. The comparisons are in `grade_sandbox/tests/comparisons.py`."""

from __future__ import annotations

import math

from grader.errors import UsageError

EVALPLUS = "evalplus"
PLAIN, TOLERANT = ("exact", "lines", "numbers", "tokens", "trimmed"), ("float", "near")
VALUES = "same values", "near values"
"""The comparisons of values that functions return: officially LiveCodeBench's, and carefully."""
CAREFUL = {"lines": "numbers", "tokens": "numbers", "exact": "trimmed"}
"""Comparison -> that of the careful reading, for which blanks make no difference; others are their own.

That a number may differ a little is for the task to say (`compare_careful = "near:1e-6"`): where a benchmark has one
exact text for it, others are wrong.
"""


def readings_of(compare: str, compare_careful: str) -> tuple[str, str]:
    """Return the comparisons of printed texts in both readings, by a protocol's fields; raises UsageError."""
    official = "lines" if compare == EVALPLUS else compare
    return _checked(official), _checked(compare_careful or CAREFUL.get(official, official))


def _checked(name: str) -> str:
    kind, colon, number = name.partition(":")
    if colon and kind in TOLERANT:
        try:
            tolerance = float(number)
        except ValueError:
            tolerance = -1.0
        if not 0 <= tolerance < math.inf:
            raise UsageError(f"compare = {name!r}: the largest difference has to follow, as in `float:1e-6`.")
    elif name not in PLAIN:
        names = sorted((*PLAIN, EVALPLUS, *(f"{kind}:1e-6" for kind in TOLERANT)))
        raise UsageError(f"compare = {name!r}: unknown comparison; the comparisons are {', '.join(names)}.")
    return name
