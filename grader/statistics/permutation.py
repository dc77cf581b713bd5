"""The paired permutation test: how often changes of these sizes with random signs have a sum as large as observed.

The distribution of the sum is exact, not drawn: a p value of a drawn one ends at 1 / (number of draws), and a
leaderboard of 33 runs needs p values below 0.0001.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

LARGEST_DENOMINATOR = 1000
LARGEST_SUM = 40_000
"""In units of the lattice; more would be slow, and would change no p value that matters."""
PRECISION = 1e-9
SMALLEST = 1e-14
"""Rounding errors of the transform are smaller than this p value."""


def permutation(changes: Sequence[float]) -> float:
    """Return the two-sided p value of changes that are not 0.

    Changes that are multiples of one size (shares of m samples: 1/m) are counted in it. Others are rounded to a fine
    lattice first, which keeps the test exact: it is that of the rounded changes.
    """
    import numpy as np

    units = _units(np.asarray(changes, dtype=np.float64))
    reach, observed = int(np.abs(units).sum()), abs(int(units.sum()))
    if not observed:
        return 1.0
    tail = float(_distribution(np.abs(units), reach)[(reach + observed) // 2 :].sum())
    return min(1.0, max(2 * tail, SMALLEST))


def _units(changes: NDArray[np.float64]) -> NDArray[np.int64]:
    import numpy as np

    parts = [Fraction(size).limit_denominator(LARGEST_DENOMINATOR) for size in np.unique(np.abs(changes)).tolist()]
    whole = float(np.lcm.reduce([part.denominator for part in parts], dtype=object))
    units = changes * whole
    if np.abs(units).sum() > LARGEST_SUM or np.abs(units - np.rint(units)).max() > whole * PRECISION:
        units = changes * (LARGEST_SUM / np.abs(changes).sum())
    return np.rint(units).astype(np.int64)


def _distribution(sizes: NDArray[np.int64], reach: int) -> NDArray[np.float64]:
    """Return the probability of each sum, from 0 to `reach`, of the sizes that rise, if each does with probability 1/2.

    It is the inverse Fourier transform of the product of cosines.
    """
    import numpy as np
    from scipy.fft import irfft, next_fast_len

    points = next_fast_len(reach + 1, real=True)
    angles = np.arange(points // 2 + 1) * (np.pi / points)
    product = np.exp(-1j * angles * reach)
    for size, number in zip(*np.unique(sizes, return_counts=True), strict=True):
        product *= np.cos(angles * size) ** number
    found: NDArray[np.float64] = irfft(product, points)
    return np.clip(found[: reach + 1], 0.0, None)
