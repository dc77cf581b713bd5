"""Compare two Mr-Ben runs, paired by question. MR-Score and its parts are not means, but their difference nearly is.

A question's effect on a metric is computed with all other questions halfway between the two runs. The effects add up
to the difference except for a small rest (no rest if the metric is a share). So the effects are tested like the
changes of a mean, see `grader.statistics.paired`. Resampling questions would often miss a few changes: a gate on it
would pass a third of the runs that it should reject.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple, Self

from grader.scorers.mr_ben.mr_score import Counts, Weights, counts_by_question, metric_arrays, value_range
from grader.statistics.paired import Difference, difference_from_changes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from grader.scorers.mr_ben.mr_score import RowFacts

    Rows = Mapping[str, Sequence[tuple[str, RowFacts]]]
    Matrix = NDArray[np.float64]

_Kinds = Counter[tuple[Counts, Counts]]
"""The counts of a question in the run before and after -> the number of such questions, of one subject."""


def difference(before: Rows, after: Rows, name: str, weights: Weights, subject: str | None = None) -> Difference:
    """Compare one metric of two runs; `before` and `after` are subject -> (question, row's facts).

    Questions that only one run has are left out. Raises ValueError if none is left.
    """
    subjects = _kinds_of_subjects(before, after, subject)
    pairs = [_metric_pair(kinds, name, weights) for kinds in subjects]
    value = math.fsum(later - earlier for earlier, later in pairs) / len(pairs)
    questions = sum(kinds.total() for kinds in subjects)
    # All subjects have the same weight. With this factor, the mean of all effects is the mean over subjects.
    effects = [
        (questions / len(subjects) * effect, repeats)
        for kinds in subjects
        for effect, repeats in _effects(kinds, name, weights)
    ]
    lowest, highest = value_range(name, weights)
    # The test needs changes in [-1, 1]. The effect of one of few questions can exceed the metric's range, because the
    # metric is not linear.
    scale = max(highest - lowest, *(abs(effect) for effect, _ in effects))
    changes: list[float] = []
    for effect, repeats in effects:
        # Rounded, so that equal effects that are computed in another order stay equal in the test.
        changes += [round(effect / scale, 12)] * repeats
    return difference_from_changes(
        changes,
        value=value / 100,
        scale=scale / 100,
        n=questions,
        differing=sum(change != 0 for change in changes),
        largest=(highest - lowest) / 100,
    )


def metric_values(
    before: Rows, after: Rows, name: str, weights: Weights, subject: str | None = None
) -> tuple[float, float]:
    """Return the metric before and after, on the questions that both runs have; raises ValueError if there is none."""
    pairs = [_metric_pair(kinds, name, weights) for kinds in _kinds_of_subjects(before, after, subject)]
    earlier, later = (math.fsum(values) / len(pairs) for values in zip(*pairs, strict=True))
    return earlier, later


def _kinds_of_subjects(before: Rows, after: Rows, subject: str | None) -> list[_Kinds]:
    """Return the kinds of questions of each subject, or of one; raises ValueError if the runs share no question."""
    keys = [subject] if subject else before
    subjects = [kinds for key in keys if (kinds := _question_kinds(before.get(key, ()), after.get(key, ())))]
    if not subjects:
        raise ValueError("nothing to compare")
    return subjects


def _question_kinds(before: Sequence[tuple[str, RowFacts]], after: Sequence[tuple[str, RowFacts]]) -> _Kinds:
    """Count the scored questions by their counts in both runs: questions with equal counts are interchangeable.

    A row is scored in both runs or in none: `facts_of_both` makes it unscored in both.
    """
    first, second = counts_by_question(before), counts_by_question(after)
    scored = [question for question, counts in first.items() if question in second and counts.scored_rows]
    return Counter((first[question], second[question]) for question in scored)


def _metric_pair(kinds: _Kinds, name: str, weights: Weights) -> tuple[float, float]:
    """Return a subject's metric before and after."""
    totals = _Totals.of_kinds(kinds)
    before, after = (float(metric_arrays(sums, weights)[name][0]) for sums in (totals.before, totals.after))
    return before, after


def _effects(kinds: _Kinds, name: str, weights: Weights) -> list[tuple[float, int]]:
    """Return, for each kind of question, its effect on the subject's metric and the number of such questions.

    An effect is the change of the metric when one question changes, with all others halfway between the runs.
    """
    totals = _Totals.of_kinds(kinds)
    halfway = (totals.before + totals.after) / 2
    # `halfway` has half of the question's own change: with the other half it is as after, without any as before.
    half_change = (_matrix([after for _, after in totals.kinds]) - _matrix([before for before, _ in totals.kinds])) / 2
    after, before = halfway + half_change, halfway - half_change
    effects = metric_arrays(after, weights)[name] - metric_arrays(before, weights)[name]
    return [(float(effect), kinds[kind]) for effect, kind in zip(effects, totals.kinds, strict=True)]


class _Totals(NamedTuple):
    """The sums of a subject's counts in both runs."""

    kinds: list[tuple[Counts, Counts]]
    before: Matrix
    """One row, with the fields of `Counts`."""
    after: Matrix

    @classmethod
    def of_kinds(cls, kinds: _Kinds) -> Self:
        """Add up the counts of a subject's questions. `kinds`: (counts before, counts after) -> number of questions."""
        ordered = sorted(kinds)
        repeats = _matrix([kinds[kind] for kind in ordered])
        before, after = (repeats @ _matrix([kind[side] for kind in ordered]) for side in (0, 1))
        return cls(ordered, before[None, :], after[None, :])


def _matrix(rows: Sequence[object]) -> Matrix:
    import numpy as np

    return np.array(rows, dtype=np.float64)
