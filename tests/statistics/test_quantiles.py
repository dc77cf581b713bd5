"""Quantiles and tails against scipy's."""

import math

import pytest
import scipy

from grader.statistics.quantiles import find_root, normal_quantile, normal_tail, student_quantile, student_tail
from tests.tables import each

# One worker needs scipy, whose import takes a second of CPU time.
pytestmark = pytest.mark.xdist_group("scipy")


@each("probability", [1e-14, 0.025, 0.5, 0.84, 0.975, 0.9995])
def test_the_normal_quantile_and_tail_are_scipys(probability: float) -> None:
    z = normal_quantile(probability)
    assert z == pytest.approx(scipy.stats.norm.ppf(probability), rel=1e-12, abs=1e-15)
    assert normal_tail(z) == pytest.approx(1 - probability, rel=1e-12)
    assert normal_tail(-z) == pytest.approx(probability, rel=1e-12)


@each("freedom", [1, 1.37, 2, 5, 29.5, 190, 4000, 1e6])
def test_the_quantile_and_tail_of_student_are_scipys(freedom: float) -> None:
    for probability in (0.5, 0.6, 0.9, 0.95, 0.975, 0.9995):
        t = scipy.stats.t.ppf(probability, freedom)
        assert student_quantile(freedom, probability) == pytest.approx(t, rel=1e-8, abs=1e-12)
        assert student_tail(freedom, t) == pytest.approx(1 - probability, rel=1e-8)


def test_a_root_is_found_whether_the_function_rises_or_falls() -> None:
    assert find_root(lambda x: x * x - 2, 0, 2) == pytest.approx(math.sqrt(2), abs=1e-12)
    assert find_root(lambda x: 40 - x, 0, 1000) == pytest.approx(40, rel=1e-12)
