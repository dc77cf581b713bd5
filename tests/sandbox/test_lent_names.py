"""Names that tests take from a program: those of libraries are lent, and what the program defines is its own."""

import phases

from tests.tables import each

pytestmark = phases.MARKS


@each(
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


@each(
    ("own", "reference", "test"),
    [
        ("def isclose(a, b):\n    return True", "from math import isclose", "assert isclose(solution(1), 7392)"),
        (
            "class Counter(dict):\n    def __init__(self, items):\n        pass",
            "from collections import Counter", "assert Counter([solution(1)]) == Counter([7392])",
        ),
        ("pi = 0", "from math import pi", "assert (solution(1) - 7392) * pi == 0"),
        ("def count(a):\n    return 1", "def count(a):\n    return a + 7391", "assert solution(1) == count(1)"),
        ("LIMIT = 1", "LIMIT = 7392", "assert solution(1) == LIMIT"),
    ],
)  # fmt: skip
def test_a_name_that_the_candidate_defines_decides_no_test(own: str, reference: str, test: str) -> None:
    """The tests have what the reference takes from a library, and ask the program for what the reference defines."""
    source, right = f"{own}\ndef solution(a):\n    return a", f"{reference}\ndef solution(a):\n    return a + 7391"
    exec(f"{source}\n{test}", {})
    assert phases.beside(right, test, reference=right) == phases.CONFIRMED
    assert not phases.beside(source, test, reference=right)["confirmed"]
