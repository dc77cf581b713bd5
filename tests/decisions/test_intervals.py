"""Means and their uncertainty, against published figures and scipy's."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.decisions.intervals import Mean, bootstrap, mean, wilson

if TYPE_CHECKING:
    from random import Random


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


def test_other_values_get_the_percentile_bootstrap() -> None:
    made = mean([0.2, 0.5, 0.6])
    low, high = bootstrap([0.2, 0.5, 0.6])
    assert made == Mean(
        value=pytest.approx(130 / 3),
        stderr=pytest.approx(100 * statistics.stdev([0.2, 0.5, 0.6]) / math.sqrt(3)),
        ci95=(100 * low, 100 * high),
        n=3,
    )


@pytest.mark.parametrize("n", [8, 40, 164, 400], ids=lambda n: f"{n} values")
@pytest.mark.parametrize("kinds", [10, 100_000], ids=["few kinds", "many kinds"])
def test_the_bootstrap_is_scipys(n: int, kinds: int) -> None:
    from scipy import stats as theirs

    values = np.random.default_rng(n).integers(0, kinds + 1, n) / kinds
    found = theirs.bootstrap((values,), np.mean, method="percentile", rng=np.random.default_rng(1))
    stderr = values.std(ddof=1) / math.sqrt(n)
    assert bootstrap(values.tolist()) == pytest.approx(tuple(found.confidence_interval), abs=0.1 * stderr)


@given(st.lists(st.integers(0, 10).map(lambda tenths: tenths / 10), min_size=1, max_size=60), st.randoms())
@settings(deadline=None, max_examples=30)
def test_the_order_of_values_does_not_matter(values: list[float], random: Random) -> None:
    shuffled = random.sample(values, len(values))
    assert mean(shuffled) == mean(values)


def test_the_order_of_many_kinds_of_values_does_not_matter() -> None:
    values = np.random.default_rng(0).random(150).tolist()
    assert mean(values[::-1]) == mean(values) == mean(sorted(values))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
@settings(deadline=None, max_examples=40)
def test_an_interval_holds_the_mean_and_stays_on_the_scale(values: list[float]) -> None:
    made = mean(values)
    assert made is not None
    assert 0 <= made.ci95[0] <= made.value + 1e-9
    assert made.value - 1e-9 <= made.ci95[1] <= 100 + 1e-9


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """Tasks of ten samples, 300 benchmarks: 95 % within three standard errors."""
    rng, held = np.random.default_rng(4), 0
    for _ in range(300):
        made = mean((rng.binomial(10, rng.beta(0.5, 0.5, 100)) / 10).tolist())
        assert made is not None
        held += made.ci95[0] <= 50 <= made.ci95[1]
    assert 0.95 - 3 * math.sqrt(0.05 * 0.95 / 300) <= held / 300


@pytest.mark.parametrize("values", [[0.5], [0.3] * 40], ids=["one", "all alike"])
def test_values_that_are_all_alike_are_no_certainty(values: list[float]) -> None:
    made = mean(values)
    low, high = wilson(values[0], len(values))
    assert made is not None
    assert made.stderr == pytest.approx(0, abs=1e-9)
    assert made.ci95 == pytest.approx((100 * low, 100 * high))


def test_one_observation_has_no_spread_but_an_interval() -> None:
    assert mean([1]) == Mean(value=100, stderr=0, ci95=pytest.approx((20.654931, 100)), n=1)


def test_no_observation_has_no_mean() -> None:
    assert mean([]) is None
