"""The names of the comparisons of printed texts. The comparisons are in `grade_sandbox/judging/comparisons.py`."""

from __future__ import annotations

import math

EVALPLUS = "evalplus"
"""EvalPlus' comparison of values that functions return; printed texts are then compared as by `lines`."""
PLAIN, TOLERANT = ("exact", "lines", "numbers", "tokens", "trimmed"), ("float", "near")
VALUES = "same values", "near values"
"""The comparisons of values that functions return: officially LiveCodeBench's, and carefully."""
CAREFUL = {"lines": "numbers", "tokens": "numbers", "exact": "trimmed"}
"""Official comparison -> the careful one, for which blanks make no difference. Others are used in both readings.

Careful never accepts a number that differs a little, unless the protocol says so (`compare_careful = "near:1e-6"`).
"""


def comparisons_of(compare: str, compare_careful: str) -> tuple[str, str]:
    """Return the comparisons of printed texts in both readings, by a protocol's fields."""
    official = "lines" if compare == EVALPLUS else compare
    return official, compare_careful or CAREFUL.get(official, official)


def comparison_problem(name: str) -> str:
    """Return why there is no comparison of printed texts with this name; empty if there is one."""
    kind, colon, number = name.partition(":")
    if not colon or kind not in TOLERANT:
        # `EVALPLUS` compares no printed texts, but declarations may name it as the official comparison.
        names = sorted((*PLAIN, EVALPLUS, *(f"{kind}:1e-6" for kind in TOLERANT)))
        return "" if name in PLAIN else f"unknown comparison; the comparisons are {', '.join(names)}"
    try:
        is_tolerance = 0 <= float(number) < math.inf
    except ValueError:
        is_tolerance = False
    return "" if is_tolerance else "the largest difference has to follow, as in `float:1e-6`"
