"""pass@k is the share of all draws of k samples that hold a passing one."""

import itertools
from fractions import Fraction

import pytest

from grader.scorers.pass_at_k import pass_at_k
from tests.tables import each


def by_enumeration(samples: int, passed: int, k: int) -> Fraction:
    draws = list(itertools.combinations([True] * passed + [False] * (samples - passed), k))
    return Fraction(sum(map(any, draws)), len(draws))


@each("samples", range(1, 9))
def test_every_small_case_equals_the_enumeration_of_all_draws(samples: int) -> None:
    for passed in range(samples + 1):
        for k in range(1, samples + 1):
            assert pass_at_k(samples, passed, k) == pytest.approx(float(by_enumeration(samples, passed, k)), abs=1e-15)


@each(
    ("arguments", "message"),
    [
        ((2, 1, 3), "pass@3 needs at least 3 samples, there are 2"),
        ((2, 1, 0), "pass@0 needs at least 0 samples, there are 2"),
        ((2, 3, 1), "3 of 2 samples passed"),
        ((2, -1, 1), "-1 of 2 samples passed"),
        ((0, 0, 1), "pass@1 needs at least 1 samples, there are 0"),
    ],
)
def test_what_has_no_unbiased_estimate_is_an_error_not_a_nan(arguments: tuple[int, int, int], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        pass_at_k(*arguments)
