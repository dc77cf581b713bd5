"""The paired difference: its interval against its definition and exact enumeration, its tests against scipy's."""

import itertools
import math

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from grader.statistics.paired import Difference, detectable_in_words, difference, interval, permutation_p_value
from tests.conftest import THOROUGH
from tests.tables import each

# One worker needs scipy, whose import takes a second of CPU time.
pytestmark = pytest.mark.xdist_group("scipy")

WHOLE = st.lists(st.sampled_from((-1, 0, 0, 1)), min_size=1, max_size=60)
TENTHS = st.lists(st.integers(-10, 10).map(lambda tenths: tenths / 10), min_size=1, max_size=60)
ANY = st.one_of(WHOLE, TENTHS)


def table(risen: int, fallen: int, n: int) -> list[float]:
    return [1.0] * risen + [-1.0] * fallen + [0.0] * (n - risen - fallen)


def of(changes: list[float]) -> Difference:
    return difference([0.0] * len(changes), changes)


# --- the interval of items that are right or wrong ----------------------------------------------------------------


def statistic(risen: int, fallen: int, n: int, delta: float, correction: float) -> float:
    """The corrected score, its nuisance parameter found by maximising the likelihood, its skewness by definition."""

    def unlikelihood(down: float) -> float:
        shares = down + delta, down, 1 - 2 * down - delta
        return -sum(
            k * math.log(max(p, 1e-300)) for k, p in zip((risen, fallen, n - risen - fallen), shares, strict=True)
        )

    low, high = max(0.0, -delta), (1 - delta) / 2
    down = scipy.optimize.minimize_scalar(
        unlikelihood, bounds=(low, high), method="bounded", options={"xatol": 1e-13}
    ).x
    values, shares = np.array([1, -1, 0]) - delta, np.array([down + delta, down, 1 - 2 * down - delta])
    deviation = math.sqrt(n * shares @ values**2)
    bend = -np.clip(n * (shares @ values**3) / deviation**3, -0.5, 0.5) / 6
    raw = (risen - fallen - n * delta - correction) / deviation
    return float(((1 + bend * raw) ** 3 - 1) / (3 * bend) - bend if bend else raw)


def test_a_minimum_detectable_change_is_stated_only_where_it_says_something() -> None:
    few, many = difference([1.0], [0.0]), difference([1.0] * 150 + [0.0] * 14, [1.0] * 140 + [0.0] * 24)
    assert few.detectable > 100
    assert detectable_in_words(few) == ""
    assert detectable_in_words(difference([1.0] * 9, [1.0] * 8 + [0.0])) == ""
    wanted = f"minimum detectable change {many.detectable:.1f} points (80 % power, n = 164)"
    assert detectable_in_words(many) == wanted


@each(("risen", "fallen", "n"), [(12, 2, 50), (9, 5, 44), (21, 6, 100), (0, 3, 191), (5, 5, 30)])
@each("level", [0.9, 0.95, 0.99])
def test_at_each_end_the_corrected_score_is_the_quantile(risen: int, fallen: int, n: int, level: float) -> None:
    z = scipy.stats.norm.ppf((1 + level) / 2)
    low, high = interval(table(risen, fallen, n), level)
    assert statistic(risen, fallen, n, low, 0.5) == pytest.approx(z, abs=1e-4)
    assert statistic(risen, fallen, n, high, -0.5) == pytest.approx(-z, abs=1e-4)


@pytest.mark.generated
@pytest.mark.parametrize("n", [20, *([60, 100] if THOROUGH else [])])
def test_gates_on_items_decide_wrongly_in_at_most_5_percent_by_exact_enumeration(n: int) -> None:
    """Every table of n pairs, every allowed drop and share of changed items: the worst is below 5 %."""
    tables = np.array([(r, f) for r in range(n + 1) for f in range(n + 1 - r)])
    ends = np.array([of(table(r, f, n)).ci90 for r, f in tables]) / 100
    risen, fallen = tables.T
    ways = (
        scipy.special.gammaln(n + 1)
        - scipy.special.gammaln(risen + 1)
        - scipy.special.gammaln(fallen + 1)
        - scipy.special.gammaln(n - risen - fallen + 1)
    )
    worst = 0.0
    for drop, more in itertools.product((0, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2), (0.001, 0.01, 0.03, 0.1, 0.3)):
        down, up = drop + more / 2, more / 2
        chances = np.exp(
            ways + risen * math.log(up) + fallen * math.log(down) + (n - risen - fallen) * math.log(1 - down - up)
        )
        passes, fails = ends[:, 0] >= -drop - 1e-9, ends[:, 1] < -drop - 1e-9
        worst = max(worst, chances[passes].sum(), chances[fails].sum())
    assert worst <= 0.05


def test_nothing_changed_is_no_certainty() -> None:
    assert interval([0] * 191, 0.9) == pytest.approx((-0.0168, 0.0168), abs=5e-5)
    assert interval([0.0], 0.95)[1] > 0.95


@each("n", [1, 2, 5, 191])
def test_everything_changed_reaches_the_end_of_the_scale(n: int) -> None:
    low, high = interval([1] * n, 0.95)
    assert high == 1
    assert low < 1
    assert interval([-1] * n, 0.95) == pytest.approx((-1, -low))


# --- any interval -------------------------------------------------------------------------------------------------


@given(ANY, st.floats(0.5, 0.99))
def test_an_interval_holds_the_mean_and_stays_on_the_scale(changes: list[float], level: float) -> None:
    low, high = interval(changes, level)
    mean = math.fsum(changes) / len(changes)
    assert -1 <= low <= mean + 1e-9
    assert mean - 1e-9 <= high <= 1


# --- the tests ----------------------------------------------------------------------------------------------------


@each(("risen", "fallen"), [(1, 0), (5, 0), (7, 3), (3, 7), (86, 150), (20, 20)])
def test_right_and_wrong_items_get_the_exact_mcnemar_test(risen: int, fallen: int) -> None:
    changes = table(risen, fallen, risen + fallen + 9)
    found = difference([max(0, -c) for c in changes], [max(0, c) for c in changes])
    assert (found.test, found.differing) == ("exact McNemar", risen + fallen)
    assert found.p_value == pytest.approx(scipy.stats.binomtest(risen, risen + fallen, 0.5).pvalue)


# --- the test and its interval ------------------------------------------------------------------------------------


@given(ANY)
def test_an_interval_excludes_0_exactly_if_its_test_rejects(changes: list[float]) -> None:
    found = of(changes)
    assert (found.p_value < 0.05) == (not found.ci95[0] <= 0 <= found.ci95[1])
    assert (found.p_value < 0.10) == (not found.ci90[0] <= 0 <= found.ci90[1])


# --- the difference -----------------------------------------------------------------------------------------------


def test_rounding_of_means_is_no_difference() -> None:
    found = difference([0.1 + 0.2, 0.7], [0.3, 0.7])
    assert (found.value, found.differing, found.p_value, found.test) == (0, 0, 1, "no difference to test")


@each(("before", "after"), [([0.5], [0.8]), ([0.5, 1], [0.8, 1]), ([0.5], [0.5]), ([0.1] * 9, [0.2] * 9)])
def test_one_task_or_one_change_is_compared_without_trouble(before: list[float], after: list[float]) -> None:
    found = difference(before, after)
    assert found.ci95[0] <= found.ci90[0] <= found.value <= found.ci90[1] <= found.ci95[1]
    assert all(map(math.isfinite, (*found.ci95, found.p_value, found.detectable)))


def test_nothing_to_compare_and_unequal_runs_are_errors() -> None:
    with pytest.raises(ValueError, match="nothing to compare"):
        difference([], [])
    with pytest.raises(ValueError, match="shorter"):
        difference([1, 0], [1])


def by_enumeration(moved: list[float]) -> float:
    sums = [
        sum(s * abs(m) for s, m in zip(signs, moved, strict=True))
        for signs in itertools.product((1, -1), repeat=len(moved))
    ]
    return sum(abs(s) >= abs(sum(moved)) - 1e-9 for s in sums) / len(sums)


@given(st.lists(st.integers(-10, 10).filter(bool).map(lambda tenths: tenths / 10), min_size=1, max_size=8))
def test_it_tries_every_sign(moved: list[float]) -> None:
    assert permutation_p_value(moved) == pytest.approx(by_enumeration(moved))


def test_of_many_tasks_it_is_scipys() -> None:
    moved = (np.random.default_rng(2).choice([-3, -2, -1, 1, 2], 60) / 10).tolist()
    theirs = scipy.stats.permutation_test(
        (np.array(moved),), np.sum, permutation_type="samples", rng=np.random.default_rng(0), n_resamples=99_999
    )
    assert permutation_p_value(moved) == pytest.approx(theirs.pvalue, abs=0.005)
    assert permutation_p_value(moved) == permutation_p_value(moved[::-1])


def test_its_p_values_do_not_end_at_one_in_ten_thousand() -> None:
    rng = np.random.default_rng(0)
    moved = [float(c) for c in (rng.binomial(6, 0.7, 164) - rng.binomial(6, 0.5, 164)) / 6 if c]
    assert permutation_p_value(moved) < 1e-6
    normal = 2 * scipy.stats.norm.sf(sum(moved) / np.sqrt(np.square(moved).sum()))
    assert 0.1 < permutation_p_value(moved) / normal < 1
