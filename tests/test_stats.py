"""Means and their uncertainty, against published figures and scipy's."""

from __future__ import annotations

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.stats import Mean, mean, wilson


@pytest.mark.parametrize(
    ("passed", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_the_wilson_interval_is_that_of_the_literature(passed: int, n: int, low: float, high: float) -> None:
    """Newcombe (1998), Statistics in Medicine 17, 857-872, table I, method 3."""
    assert wilson(passed / n, n) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(("passed", "n"), [(0, 1), (1, 1), (3, 7), (93, 253), (1783, 1784)])
def test_the_wilson_interval_is_scipys(passed: int, n: int) -> None:
    from scipy.stats import binomtest

    theirs = binomtest(passed, n).proportion_ci(0.95, method="wilson")
    assert wilson(passed / n, n) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


@given(st.integers(1, 5000), st.data())
def test_the_interval_holds_the_proportion_and_stays_within_0_and_1(n: int, data: st.DataObject) -> None:
    proportion = data.draw(st.integers(0, n)) / n
    low, high = wilson(proportion, n)
    assert 0 <= low <= proportion + 1e-12
    assert proportion - 1e-12 <= high <= 1


def test_zeros_and_ones_get_the_wilson_interval_in_percent() -> None:
    low, high = wilson(0.25, 8)
    assert mean([0, 1, 0, 0, 0, 1, 0, 0]) == Mean(
        value=25, stderr=pytest.approx(100 * math.sqrt(0.25 * 0.75 / 7)), ci95=(100 * low, 100 * high), n=8
    )


def test_other_values_get_the_normal_interval() -> None:
    made = mean([0.2, 0.5, 0.6])
    assert made is not None
    stderr = statistics.stdev([0.2, 0.5, 0.6]) / math.sqrt(3)
    assert made.value == pytest.approx(130 / 3)
    assert made.stderr == pytest.approx(100 * stderr)
    assert made.ci95 == pytest.approx((130 / 3 - 195.9963984540054 * stderr, 130 / 3 + 195.9963984540054 * stderr))


def test_the_normal_interval_does_not_leave_the_scale() -> None:
    made = mean([0.01, 0.5, 1])
    assert made is not None
    assert made.ci95[0] == 0
    assert made.ci95[1] <= 100


def test_one_observation_has_no_spread_but_an_interval() -> None:
    assert mean([1]) == Mean(value=100, stderr=0, ci95=pytest.approx((20.654931, 100)), n=1)


def test_no_observation_has_no_mean() -> None:
    assert mean([]) is None
