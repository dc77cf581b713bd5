"""Two Mr-Ben runs, paired by question: MR-Score and its parts are no means, so their difference is resampled.

The interval is the paired percentile bootstrap over questions (both runs' rows of a question are drawn together, within
each subject); the test swaps the two runs question by question.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from grader.paired import LEVEL, Difference, detectable
from grader.scoring.mr_score_figures import Counts, Weights, counts_by_question, vector_figures

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from grader.scoring.mr_score_figures import RowFacts

    Rows = Mapping[str, Sequence[tuple[str, RowFacts]]]
    Matrix = NDArray[np.float64]

RESAMPLES = 9_999
SEED = 0


def difference(before: Rows, after: Rows, name: str, weights: Weights, subject: str | None = None) -> Difference:
    """Compare one figure of two runs; `before` and `after` are subject -> (question, row's facts).

    Questions that only one of them has are left out. Raises ValueError where none is left.
    """
    import numpy as np

    pairs = [_pairs(before.get(key, ()), after.get(key, ())) for key in ([subject] if subject else before)]
    pairs = [found for found in pairs if found]
    if not pairs:
        raise ValueError("nothing to compare")
    rng = np.random.default_rng(SEED)
    observed = _mean([_change(_whole(found), name, weights) for found in pairs])[0]
    drawn = _mean([_change(_resampled(found, rng), name, weights) for found in pairs])
    swapped = _mean([_change(_swapped(found, rng), name, weights) for found in pairs])
    low95, low90, high90, high95 = np.quantile(drawn, [LEVEL / 2, LEVEL, 1 - LEVEL, 1 - LEVEL / 2])
    extreme = int(np.sum(np.abs(swapped) >= abs(observed) - 1e-9))
    differing = sum(number for found in pairs for (a, b), number in found.items() if a != b)
    return Difference(
        value=float(observed),
        ci95=(float(low95), float(high95)),
        ci90=(float(low90), float(high90)),
        p_value=(1 + extreme) / (1 + RESAMPLES),
        test="paired permutation" if differing else "no difference to test",
        n=sum(sum(found.values()) for found in pairs),
        differing=differing,
        detectable=detectable(float(low95), float(high95)),
    )


_Kinds = Counter[tuple[Counts, Counts]]


def _pairs(before: Sequence[tuple[str, RowFacts]], after: Sequence[tuple[str, RowFacts]]) -> _Kinds:
    """Return how many questions have the same counts in both runs: they are interchangeable."""
    first, second = counts_by_question(before), counts_by_question(after)
    return Counter((first[question], second[question]) for question in first if question in second)


def _vectors(kinds: _Kinds) -> tuple[Matrix, Matrix, Matrix]:
    import numpy as np

    ordered = sorted(kinds)
    return (
        np.array([kinds[kind] for kind in ordered], dtype=np.float64),
        np.array([a for a, _ in ordered], dtype=np.float64),
        np.array([b for _, b in ordered], dtype=np.float64),
    )


def _whole(kinds: _Kinds) -> tuple[Matrix, Matrix]:
    sizes, before, after = _vectors(kinds)
    return (sizes @ before)[None, :], (sizes @ after)[None, :]


def _resampled(kinds: _Kinds, rng: np.random.Generator) -> tuple[Matrix, Matrix]:
    sizes, before, after = _vectors(kinds)
    drawn = rng.multinomial(int(sizes.sum()), sizes / sizes.sum(), size=RESAMPLES)
    return drawn @ before, drawn @ after


def _swapped(kinds: _Kinds, rng: np.random.Generator) -> tuple[Matrix, Matrix]:
    sizes, before, after = _vectors(kinds)
    swaps = rng.binomial(sizes.astype(int), 0.5, size=(RESAMPLES, len(sizes)))
    kept = sizes - swaps
    return kept @ before + swaps @ after, swaps @ before + kept @ after


def _change(sums: tuple[Matrix, Matrix], name: str, weights: Weights) -> Matrix:
    before, after = (vector_figures(side, weights)[name] for side in sums)
    return after - before


def _mean(by_subject: list[Matrix]) -> Matrix:
    import numpy as np

    mean: Matrix = np.mean(by_subject, axis=0)
    return mean
