"""Means and their uncertainty, against published figures and scipy's."""

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.statistics.intervals import Mean, mean, one_sided_p_value, wilson
from tests.tables import each

# One worker needs scipy, whose import takes a second of CPU time.
pytestmark = pytest.mark.xdist_group("scipy")


@each(
    ("passed", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_the_wilson_interval_is_that_of_the_literature(passed: int, n: int, low: float, high: float) -> None:
    """Newcombe (1998), Statistics in Medicine 17, 857-872, table I, method 3."""
    assert wilson(passed / n, n) == pytest.approx((low, high), abs=5e-5)


@each(("passed", "n"), [(0, 1), (1, 1), (3, 7), (93, 253), (1783, 1784)])
def test_the_wilson_interval_is_scipys(passed: int, n: int) -> None:
    from scipy.stats import binomtest

    theirs = binomtest(passed, n).proportion_ci(0.95, method="wilson")
    assert wilson(passed / n, n) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_zeros_and_ones_get_the_wilson_interval_in_percent() -> None:
    low, high = wilson(0.25, 8)
    assert mean([0, 1, 0, 0, 0, 1, 0, 0]) == Mean(
        value=25, stderr=pytest.approx(100 * math.sqrt(0.25 * 0.75 / 7)), ci95=(100 * low, 100 * high), n=8
    )


def test_other_values_get_wilsons_interval_with_more_observations() -> None:
    values = [0.2, 0.5, 0.6]
    made, more = mean(values), np.array([*values, 0, 1])
    effective = 3 * more.mean() * (1 - more.mean()) / more.var(ddof=1)
    low, high = wilson(1.3 / 3, effective)
    assert effective > 3
    assert made == Mean(
        value=pytest.approx(130 / 3),
        stderr=pytest.approx(100 * statistics.stdev(values) / math.sqrt(3)),
        ci95=(pytest.approx(100 * low), pytest.approx(100 * high)),
        n=3,
    )


@each("n", [40, 100, 191, 500])
@each("limit", [0.5, 0.75, 0.9])
def test_a_share_at_a_limit_is_found_beyond_it_in_at_most_5_percent(n: int, limit: float) -> None:
    """By exact enumeration, in both directions."""
    from scipy.stats import binom

    shares = [(k / n, float(binom.pmf(k, n, limit))) for k in range(n + 1)]
    found = [
        (share > limit, weight) for share, weight in shares if one_sided_p_value(share, wilson(share, n), limit) < 0.05
    ]
    for is_high in (True, False):
        assert 0.01 < sum(weight for high, weight in found if high is is_high) <= 0.051


def test_variants_that_agree_are_one_observation() -> None:
    alone, thrice = mean([0, 1, 1, 0, 1]), mean([0, 1, 1, 0, 1] * 3, list("abcde") * 3)
    assert (thrice.ci95, thrice.n) == (pytest.approx(alone.ci95), 15)
    assert thrice.stderr == pytest.approx(alone.stderr)


def test_variants_that_do_not_agree_are_nearly_independent() -> None:
    values = np.random.default_rng(0).integers(0, 2, 300).astype(float).tolist()
    apart, together = mean(values), mean(values, [n // 3 for n in range(300)])
    assert apart is not None
    assert together is not None
    width = [made.ci95[1] - made.ci95[0] for made in (apart, together)]
    assert width[1] == pytest.approx(width[0], rel=0.15)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_an_interval_holds_the_mean_and_stays_on_the_scale(values: list[float]) -> None:
    made = mean(values)
    assert 0 <= made.ci95[0] <= made.value + 1e-9
    assert made.value - 1e-9 <= made.ci95[1] <= 100 + 1e-9


@each("values", [[0.5], [0.3] * 40, [1.0]])
def test_values_without_spread_have_an_interval_and_no_standard_error(values: list[float]) -> None:
    made = mean(values)
    assert made.stderr is None
    assert made.ci95[0] < made.value <= made.ci95[1]
    assert made.ci95[1] - made.ci95[0] > 1
