"""A sample's answers beside those of the reference solution: what is counted, and what is doubted."""

import inside
import phases
import pytest
from answered import THREE, compared

pytestmark = phases.MARKS

likeness = inside.load("tests.likeness")


@pytest.mark.parametrize(
    ("sample", "same", "alike", "problem"),
    [
        ("return 2 * a", 3, 0, ""), ("return 2.0 * a", 3, 0, ""), ("return 2 * a if a < 2 else 5", 2, 1, ""),
        ("return 2 * a if a < 2 else 'x'", 2, 0, "the answer is of type str, and the expected one of type int"),
        ("return 2 * a if a < 2 else 1 / 0", 2, 0, "the program raised an exception"),
        ("return 2 * a if a < 2 else __import__('os')._exit(0)", 2, 0, "the program gave no answer"),
        ("return 2 * a if a < 2 else open", 2, 0, "the answer is of type function, and"),
        ("return 2 * a if a < 2 else object()", 2, 0, "such a value cannot be compared"),
    ],
)  # fmt: skip
def test_each_call_is_the_same_or_alike_or_neither(sample: str, same: int, alike: int, problem: str) -> None:
    found = compared("return 2 * a", sample, THREE)
    assert (found.same, found.alike) == (same, alike)
    assert found.problem.startswith(problem)
    assert bool(found.problem) == bool(problem)


def test_a_program_that_ends_is_shown_beside_what_was_expected() -> None:
    found = compared("return [a]", "return [a] if a < 2 else __import__('os')._exit(0)", THREE)
    assert found.first == {"call": "solution(2)", "expected": "[2]", "returned": likeness.NO_ANSWER}


def test_where_the_reference_prints_and_returns_nothing_the_returned_value_does_not_count() -> None:
    test = "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()):\n    solution(1)"
    found = compared("print(a)", "return print(a) or 5", test)
    assert (found.same, found.problem, found.doubts) == (1, "", [])
    assert [doubt.place.path for doubt in compared("print(a)", "print(a, a)", test).doubts] == [("printed",)]
    assert compared("return None", "return 5", THREE).doubts
    found = compared("return lambda x: None", "return lambda x: 5", "add = solution(1)\nadd(1)")
    assert (found.same, found.problem, found.doubts) == (2, "", [])


def test_where_the_reference_only_changes_its_argument_what_is_left_in_it_counts() -> None:
    test = "x = [[2, 1]]\nsolution(x)"
    assert compared("a[0].sort()", "a[:] = [sorted(a[0])]", test).same == 1
    found = compared("a[0].sort()", "return None", test)
    assert found.problem.startswith("the program does not change its argument")
    assert found.first["expected"] == "None; afterwards the argument is [[1, 2]]"
    assert found.first["returned"] == "None; afterwards the argument is [[2, 1]]"


def test_both_change_the_argument_the_same_way() -> None:
    test = "x = [2, 1]\nsolution(x)"
    assert compared("a.sort()", "a[:] = sorted(a)", test).same == 1
    assert compared("a.sort()", "a[:] = [1, 3]", test).same == 0
    assert compared("a.sort()", "a[:] = []", test).problem


def test_where_only_one_changes_the_argument_the_tests_see_it_as_the_reference_left_it() -> None:
    test = "x = [2, 1]\nsolution(x)"
    assert compared("a.sort()", "a.sort()", test).as_left is None
    for reference, sample in (("return sorted(a)", "a.sort(); return a"), ("a.sort()", "return sorted(a)")):
        found = compared(reference, sample, test)
        assert found.as_left[1].has_copies
        assert found.as_left[1].left == found._expected.texts[1]


def test_where_the_reference_varies_from_run_to_run_the_kind_alone_counts() -> None:
    same = compared("return [a, 1]", "return [a, 3]", THREE, other_run="return [a, 2]")
    assert (same.problem, same.doubts) == ("", [])
    assert compared("return [a, 1]", "return a", THREE, other_run="return [a, 2]").problem


@pytest.mark.parametrize(
    ("sample", "same", "doubted"),
    [
        ("return ['c', 'a', 'b']", 3, 0), ("return ('b', 'c', 'a')", 3, 0),
        ("return ['a', 'b']", 0, 3), ("return ['a', 'b', 'b']", 0, 3),
    ],
)  # fmt: skip
def test_an_order_in_which_the_references_runs_differ_is_none_and_the_items_decide(
    sample: str, same: int, doubted: int
) -> None:
    found = compared("return ['a', 'b', 'c']", sample, THREE, other_run="return ['b', 'a', 'c'][:3]")
    assert (found.same, len(found.doubts)) == (same, doubted)


def test_a_printed_text_that_varies_beside_an_order_is_still_compared_by_kind() -> None:
    test = "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()):\n    solution(1)"
    first, other, sample = (
        f"print({text!r}); return {items}" for text, items in (("x", "[1, 2]"), ("y", "[2, 1]"), ("z", "[2, 1]"))
    )
    found = compared(first, sample, test, other_run=other)
    assert (found.alike, found.doubts) == (1, [])
