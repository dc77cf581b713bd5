"""Corrected p values."""

import pytest

from grader.statistics.corrections import benjamini_hochberg, holm, shares_differ


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
