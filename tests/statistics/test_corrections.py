"""Corrected p values, and groups whose members are not told apart."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.statistics.corrections import (
    benjamini_hochberg,
    groups_of,
    holm,
    letters,
    shares_differ,
)


def test_shares_differ_only_beyond_chance() -> None:
    # R: prop.test(c(45, 25), c(100, 100), correct=FALSE) has p = 0.0030, c(38, 25) has p = 0.0478.
    assert shares_differ((45, 100), (25, 100), tests=4)
    assert shares_differ((38, 100), (25, 100), tests=1)
    assert not shares_differ((38, 100), (25, 100), tests=2)
    assert not shares_differ((0, 0), (5, 10), tests=1)
    assert not shares_differ((0, 10), (0, 10), tests=1)


def test_holm_corrects_as_published_tables_do() -> None:
    # R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
    assert holm([0.2]) == [0.2]


def test_benjamini_hochberg_corrects_as_published_tables_do() -> None:
    # R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "BH")
    assert benjamini_hochberg([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.02, 0.04, 0.04, 0.02])
    assert benjamini_hochberg([]) == []


def test_members_that_are_not_told_apart_may_be_in_several_groups() -> None:
    assert groups_of([0, 1, 2, 3], [(0, 2), (0, 3), (1, 3)]) == [[0, 1], [1, 2], [2, 3]]
    assert groups_of([2, 0, 1], []) == [[2, 0, 1]]
    assert groups_of([0, 1], [(0, 1)]) == [[0], [1]]
    assert groups_of([], []) == []


@given(
    st.integers(1, 7).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.sampled_from([*combinations(range(8), 2)]))))
)
def test_two_members_share_a_group_exactly_if_they_are_not_different(case: tuple[int, set[tuple[int, int]]]) -> None:
    number, all_pairs = case
    different = {pair for pair in all_pairs if max(pair) < number}
    groups = groups_of(list(range(number)), sorted(different))
    for pair in combinations(range(number), 2):
        together = any(set(pair) <= set(group) for group in groups)
        assert together == (pair not in different)
    assert not any(set(one) < set(other) for one in groups for other in groups)


def test_groups_have_letters_and_then_more_letters() -> None:
    assert letters(3) == ["a", "b", "c"]
    assert letters(28)[-2:] == ["aa", "ab"]
