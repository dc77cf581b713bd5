"""The names of the comparisons of printed texts. The comparisons are in `grade_sandbox/tests/comparisons.py`."""

from __future__ import annotations

import math

from grader.errors import UsageError

EVALPLUS = "evalplus"
"""EvalPlus' comparison of values that functions return; printed texts are then compared as by `lines`."""
PLAIN, TOLERANT = ("exact", "lines", "numbers", "tokens", "trimmed"), ("float", "near")
VALUES = "same values", "near values"
"""The comparisons of values that functions return: officially LiveCodeBench's, and carefully."""
CAREFUL = {"lines": "numbers", "tokens": "numbers", "exact": "trimmed"}
"""Official comparison -> the careful one, for which blanks make no difference. Others are used in both readings.

Careful never accepts a number that differs a little, unless the protocol says so (`compare_careful = "near:1e-6"`).
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
