"""What tests name without defining it, and which attributes they read."""

from __future__ import annotations

import inside
import pytest

names_for_tests = inside.load("tests.names_for_tests")


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("assert solution(LIMIT) == len(x)", {"solution", "LIMIT", "len", "x"}),
        ("import math as m\nfor n in (1, 2):\n    k = n\nassert f(m.pi, n, k)", {"f"}),
        ("def check(candidate, more=[]):\n    y = candidate(helper)\n    return [g(y) for y in more]", {"helper", "g"}),
        ("def make():\n    global made\n    made = 1\nassert made", set()),
        ("class Case:\n    size = wide\n    def test(self):\n        return inner()", {"wide", "inner", "__name__"}),
    ],
)
def test_global_names_are_those_that_nobody_binds(source: str, wanted: set[str]) -> None:
    assert names_for_tests.global_names(compile(source, "<tests>", "exec")) == wanted


def test_attributes_that_are_read_are_found_at_any_depth_and_those_that_are_set_are_not() -> None:
    source = "x.left = 1\ndef check(a):\n    return [b.value for b in a.items()]"
    assert names_for_tests.read_attributes(compile(source, "<tests>", "exec")) == ["items", "value"]
