"""Compare two Mr-Ben runs, paired by question. MR-Score and its parts are not means, but their difference nearly is.

A question's effect on a metric is computed with all other questions halfway between the two runs. The effects add up
to the difference except for a small rest (no rest if the metric is a share). So the effects are tested like the
changes of a mean, see `grader.statistics.paired`. Resampling questions would often miss a few changes: a gate on it
would pass a third of the runs that it should reject.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from grader.scorers.mr_ben.figures import Counts, Weights, counts_by_question, vector_figures
from grader.statistics.paired import Difference, difference_from_changes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from grader.scorers.mr_ben.figures import RowFacts

    Rows = Mapping[str, Sequence[tuple[str, RowFacts]]]
    Matrix = NDArray[np.float64]

_Kinds = Counter[tuple[Counts, Counts]]


def difference(before: Rows, after: Rows, name: str, weights: Weights, subject: str | None = None) -> Difference:
    """Compare one metric of two runs; `before` and `after` are subject -> (question, row's facts).

    Questions that only one run has are left out. Raises ValueError if none is left.
    """
    pairs = _subjects(before, after, subject)
    reach = 200 if name == "mcc" else 100  # the largest possible change of the metric
    value = math.fsum(_change(kinds, name, weights) for kinds in pairs) / len(pairs)
    total = sum(kinds.total() for kinds in pairs)
    effects = [
        (total / len(pairs) * effect, number)  # all subjects have the same weight
        for kinds in pairs
        for effect, number in _effects(kinds, name, weights)
    ]
    # With few questions, the effect of one can exceed the metric's range, because the metric is not linear.
    scale = max(reach, *(abs(effect) for effect, _ in effects))
    changes = [change for effect, number in effects for change in [round(effect / scale, 12)] * number]
    return difference_from_changes(
        changes,
        value=value / 100,
        scale=scale / 100,
        n=total,
        differing=sum(change != 0 for change in changes),
        largest=reach / 100,
    )


def levels(before: Rows, after: Rows, name: str, weights: Weights, subject: str | None = None) -> tuple[float, float]:
    """Return the metric before and after, on the questions that both runs have; raises ValueError if there is none."""
    pairs = _subjects(before, after, subject)
    sides = [[float(_metric_values(sums, name, weights)[0]) for sums in _totals(kinds)[1:]] for kinds in pairs]
    first, second = (math.fsum(side) / len(pairs) for side in zip(*sides, strict=True))
    return first, second


def _subjects(before: Rows, after: Rows, subject: str | None) -> list[_Kinds]:
    pairs = [_pairs(before.get(key, ()), after.get(key, ())) for key in ([subject] if subject else before)]
    pairs = [kinds for kinds in pairs if kinds]
    if not pairs:
        raise ValueError("nothing to compare")
    return pairs


def _pairs(before: Sequence[tuple[str, RowFacts]], after: Sequence[tuple[str, RowFacts]]) -> _Kinds:
    """Count the scored questions by their counts in both runs: questions with equal counts are interchangeable.

    A row is scored in both runs or in none.
    """
    first, second = counts_by_question(before), counts_by_question(after)
    scored = [question for question, counts in first.items() if question in second and any(counts[:4])]
    return Counter((first[question], second[question]) for question in scored)


def _change(kinds: _Kinds, name: str, weights: Weights) -> float:
    """Return the change of a subject's metric."""
    _, before, after = _totals(kinds)
    return float(_metric_values(after, name, weights)[0] - _metric_values(before, name, weights)[0])


def _effects(kinds: _Kinds, name: str, weights: Weights) -> list[tuple[float, int]]:
    """Return, for each kind of question, its effect on the subject's metric and the number of such questions."""
    ordered, before, after = _totals(kinds)
    middle = (before + after) / 2
    half = (_matrix([b for _, b in ordered]) - _matrix([a for a, _ in ordered])) / 2
    effects = _metric_values(middle + half, name, weights) - _metric_values(middle - half, name, weights)
    return [(float(effect), kinds[kind]) for effect, kind in zip(effects, ordered, strict=True)]


def _totals(kinds: _Kinds) -> tuple[list[tuple[Counts, Counts]], Matrix, Matrix]:
    ordered = sorted(kinds)
    sizes = _matrix([kinds[kind] for kind in ordered])
    before, after = (sizes @ _matrix([kind[side] for kind in ordered]) for side in (0, 1))
    return ordered, before[None, :], after[None, :]


def _matrix(rows: Sequence[object]) -> Matrix:
    import numpy as np

    return np.array(rows, dtype=np.float64)


def _metric_values(sums: Matrix, name: str, weights: Weights) -> Matrix:
    return vector_figures(sums, weights)[name]
