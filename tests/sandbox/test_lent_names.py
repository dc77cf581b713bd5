"""Names that tests take from a program: those of libraries are lent, and what the program defines is its own."""

import phases
import pytest

pytestmark = phases.MARKS


@pytest.mark.parametrize(
    ("source", "test"),
    [
        ("from math import isclose", "assert isclose(solution(1), 1)"),
        ("from numpy import isclose", "assert isclose(solution(1), 1)"),
        ("from math import pi", "assert solution(pi) == pi"),
        ("from collections import *", "assert Counter([solution(1)]) == Counter([1])"),
        ("from typing import List", "def check(f: List):\n    assert f(1) == 1\ncheck(solution)"),
        ("from decimal import Overflow", "try:\n    assert solution(1) == 1\nexcept Overflow:\n    pass"),
        ("def count(a): pass", "assert solution(1) == 1\ndef unused():\n    return count"),
    ],
)  # fmt: skip
def test_a_library_name_that_the_candidate_has_imported_is_lent(source: str, test: str) -> None:
    source = f"{source}\ndef solution(a):\n    return a"
    assert phases.beside(source, test, reference=source) == phases.CONFIRMED
