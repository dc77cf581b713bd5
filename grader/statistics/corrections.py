"""Many comparisons at once: corrected p values, groups that do not differ, the lead of the best."""

from __future__ import annotations

import math
from itertools import count, islice
from statistics import NormalDist
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p values corrected with Holm's step-down method (Scandinavian Journal of Statistics 6, 1979, 65-70).

    A corrected value below 0.05 is a significant difference: the probability of one or more false positives among all
    of them is at most 5 %, for any dependence between the tests.
    """
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for passed, at in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - passed) * p_values[at]))
        corrected[at] = highest
    return corrected


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Return p values corrected for the false discovery rate: of the values below 0.05, 5 % are false on average."""
    corrected = [0.0] * len(p_values)
    lowest = 1.0
    falling = sorted(range(len(p_values)), key=p_values.__getitem__, reverse=True)
    for rank, at in zip(range(len(p_values), 0, -1), falling, strict=True):
        corrected[at] = lowest = min(lowest, p_values[at] * len(p_values) / rank)
    return corrected


def shares_differ(first: tuple[int, int], second: tuple[int, int], *, tests: int) -> bool:
    """Whether two shares (part, whole) differ at the 5 % level, as one of `tests` (z test, Bonferroni)."""
    if not (first[1] and second[1]):
        return False
    pooled = (first[0] + second[0]) / (first[1] + second[1])
    deviation = math.sqrt(pooled * (1 - pooled) * (1 / first[1] + 1 / second[1]))
    difference = abs(first[0] / first[1] - second[0] / second[1])
    return difference > deviation * NormalDist().inv_cdf(1 - 0.025 / tests)


def groups_of(members: Sequence[int], different: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Return the maximal groups without a pair of different members, in the order of the members.

    This is the compact letter display (Piepho, Journal of Computational and Graphical Statistics 13, 2004, 456-466):
    two members share a group if and only if they are not different.
    """
    found: list[frozenset[int]] = [frozenset(members)] if members else []
    for one, other in different:
        parts: list[frozenset[int]] = []
        for group in found:
            parts += [group - {one}, group - {other}] if one in group and other in group else [group]
        unique = dict.fromkeys(parts)
        found = [part for part in unique if not any(part < wider for wider in unique)]
    place = {member: at for at, member in enumerate(members)}
    ordered = [sorted(group, key=place.__getitem__) for group in found]
    return sorted(ordered, key=lambda group: [place[member] for member in group])


def letters(number: int) -> list[str]:
    """Return the names of `number` groups: a, b, ..., z, aa, ab, ..."""
    return list(islice((_letters(at) for at in count()), number))


def _letters(at: int) -> str:
    left, last = divmod(at, len(LETTERS))
    return (_letters(left - 1) if left else "") + LETTERS[last]
