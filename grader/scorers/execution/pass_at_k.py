"""The unbiased estimator of pass@k (Chen et al., 2021, arXiv 2107.03374, equation 1)."""

from __future__ import annotations

from math import comb


def pass_at_k(samples: int, passed: int, k: int) -> float:
    """Return the chance, in [0, 1], that at least one of `k` samples drawn from `samples` passes.

    1 - C(n - c, k) / C(n, k), in exact integers. Raises ValueError if k exceeds the number of samples: there is no
    unbiased estimate with fewer than k.
    """
    if not 0 <= passed <= samples:
        raise ValueError(f"{passed} of {samples} samples passed")
    if not 1 <= k <= samples:
        raise ValueError(f"pass@{k} needs at least {k} samples, there are {samples}")
    return 1 - comb(samples - passed, k) / comb(samples, k)
