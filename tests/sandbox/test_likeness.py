"""A sample's answers beside those of the reference solution: what is counted, what is doubted, what is tried."""

from __future__ import annotations

import json
from typing import Any

import inside
import phases
import pytest
from answered import answer, views

pytestmark = phases.MARKS

likeness = inside.load("tests.likeness")
controls = inside.load("tests.controls")


def compared(reference: str, sample: str, test: str, other_run: str = "") -> Any:
    """Compare two programs' answers to the calls of some tests."""
    spec = phases.task(test)
    recorded = phases.calls_of(spec)

    def messages(body: str) -> list[str]:
        said = phases.answers(f"def solution(a):\n    {body}\n", spec, recorded)
        return [said["hello"], *said["replies"]]

    runs = [messages(body) for body in (reference, other_run) if body]
    found = likeness.Likeness(
        [json.loads(call) for call in recorded["calls"]], recorded["reads"], runs, messages(sample)
    )
    found.compare()
    return found


THREE = "for n in range(3):\n    solution(n)"


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


def test_the_first_call_that_differs_is_shown_as_source() -> None:
    found = compared("return [a]", "return [a] if a < 1 else [a, 7]", THREE)
    assert found.first == {"call": "solution(1)", "expected": "[1]", "returned": "[1, 7]"}


def test_a_program_that_ends_is_shown_beside_what_was_expected() -> None:
    found = compared("return [a]", "return [a] if a < 2 else __import__('os')._exit(0)", THREE)
    assert found.first == {"call": "solution(2)", "expected": "[2]", "returned": likeness.ENDED}


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


@pytest.mark.parametrize(("name", "same"), [("", 1), (" as error", 0)])
def test_the_message_of_an_exception_counts_if_the_tests_can_read_it(name: str, same: int) -> None:
    test = f"try:\n    solution(1)\nexcept ValueError{name}:\n    pass"
    assert compared("raise ValueError('a')", "raise ValueError('b')", test).same == same


def test_both_change_the_argument_the_same_way() -> None:
    test = "x = [2, 1]\nsolution(x)"
    assert compared("a.sort()", "a[:] = sorted(a)", test).same == 1
    assert [doubt.place.path for doubt in compared("a.sort()", "a[:] = [1, 3]", test).doubts] == [("argument", "item")]


def test_where_only_one_changes_the_argument_the_tests_see_it_as_the_reference_left_it() -> None:
    test = "x = [2, 1]\nsolution(x)"
    assert compared("a.sort()", "a.sort()", test).as_left is None
    for reference, sample, left in (
        ("return sorted(a)", "a.sort(); return a", None),
        ("a.sort()", "return sorted(a)", ["list", [1, 2]]),
    ):
        found = compared(reference, sample, test)
        message = json.loads(found.as_left[1])
        assert [change[2] for change in message["m"]] == ([] if left is None else [left])
        if left is None:
            ((tag, number),) = message["v"].items()
            assert (tag, message["n"][number]) == ("r", ["list", [1, 2]])


def test_where_the_reference_varies_from_run_to_run_the_kind_alone_counts() -> None:
    same = compared("return [a, 1]", "return [a, 3]", THREE, other_run="return [a, 2]")
    assert (same.problem, same.doubts) == ("", [])
    assert compared("return [a, 1]", "return a", THREE, other_run="return [a, 2]").problem


# --- controls ---------------------------------------------------------------------------------------------------------


def tried(
    found: Any, accepts: Any = lambda messages: False, sites: tuple[int, ...] = ()
) -> tuple[Any, list[list[str]]]:
    """Try the controls of a comparison; return the result, and the messages that the tests were asked about."""
    asked: list[list[str]] = []

    def note(messages: list[str]) -> bool:
        asked.append(messages)
        return bool(accepts(messages))

    sides = None, found._sample
    return likeness.controlled(note, sides, found.doubts, found.holders, sites, found._calls, "tests"), asked


def values(messages: list[str]) -> list[Any]:
    read = views.Messages(messages[0], messages[1:], [{"n": [], "m": []}] * (len(messages) - 1))
    read.next()
    return [read.view(answer(read)).value for _ in messages[1:]]


def items(messages: list[str]) -> list[Any]:
    """Return the items of the only answer."""
    read = views.Messages(messages[0], messages[1:], [{"n": [], "m": []}])
    read.next()
    return [part.atom for part in read.view(answer(read)).parts]


def test_tests_that_accept_a_control_say_nothing_there() -> None:
    (why, _), _ = tried(compared("return a", "return a + 0.5", "solution(1)"), lambda messages: values(messages) == [0])
    assert why == "the tests also pass with 0 in the answer to call 1, so they do not decide this value"


def test_a_control_is_named_with_the_call_whose_answer_it_replaces() -> None:
    found = compared("return a", "return a + 0.5", "solution(1)\nsolution(2)")
    (why, _), _ = tried(found, lambda messages: values(messages) == [1.5, 0], sites=(1, 2))
    assert "with 0 in the answer to call 2, so" in why
    found = compared("return [4, 6]", "return [3, 7]", "solution(1)")
    (why, _), _ = tried(found, lambda messages: items(messages) == [2, 8])
    assert "with 2 and 8 in the answer to call 1, so" in why


def test_all_places_are_replaced_together_and_each_alone() -> None:
    found = compared("return a", "return a + 0.5", "solution(1)\nsolution(2)")
    _, asked = tried(found, sites=(1, 2))
    zero = [values(messages) for messages in asked if 0 in values(messages)]
    assert sorted(map(repr, zero)) == ["[0, 0]", "[0, 2.5]", "[1.5, 0]"]


def test_the_same_answer_to_the_same_call_is_one_place() -> None:
    found = compared("return [a, 9]", "return [9, a]", "solution(1)\nsolution(2)\nsolution(1)")
    _, asked = tried(found, sites=(1, 2, 3))
    assert len({*map(tuple, asked)}) == len(asked)
    for messages in asked:
        assert messages[1] == messages[3]
    assert any(messages[2] == found._sample[2] for messages in asked)


@pytest.mark.parametrize("between", ["x.append(2)", "random.seed(2)", "sys.stdin = io.StringIO('2')"])
def test_what_a_call_depends_on_may_change_between_equal_calls(between: str) -> None:
    test = f"import io, random, sys\nx = [1]\nrandom.seed(1)\nsolution(x)\n{between}\nsolution(x)"
    _, asked = tried(compared("return [7, 9]", "return [9, 7]", test), sites=(1, 2))
    assert any(messages[1] != messages[2] for messages in asked)


def test_of_the_places_of_one_line_a_representative_is_tried_alone() -> None:
    _, asked = tried(compared("return a", "return a + 0.5", THREE), sites=(2, 2, 2))
    alone = [found for found in map(values, asked) if len({0.5, 1.5, 2.5} & {*found}) == 2]
    assert len({found.index(value) for found in alone for value in found if value not in (0.5, 1.5, 2.5)}) == 1


def test_if_there_are_too_many_controls_some_of_every_place_are_tried() -> None:
    test = "\n".join(f"solution({n})" for n in range(20))
    (why, is_cut), asked = tried(compared("return a", "return a + 0.5", test), sites=tuple(range(20)))
    assert (why, is_cut) == ("", True)
    assert len(asked) == likeness.MAX_REPLAYS
    own = [n + 0.5 for n in range(20)]
    alone = [
        changed for found in map(values, asked) if len(changed := [n for n in range(20) if found[n] != own[n]]) == 1
    ]
    assert {place for (place,) in alone} == {*range(20)}


def test_a_container_that_differs_in_more_than_order_is_tried_without_an_item() -> None:
    _, asked = tried(compared("return [a, 9]", "return [a, 4]", "solution(1)"))
    assert [1] in [items(messages) for messages in asked]
    _, asked = tried(compared("return [a, 9]", "return [9, a]", "solution(1)"))
    assert [9] not in [items(messages) for messages in asked]


def test_the_reference_is_tried_as_well() -> None:
    found = compared("return a", "return a + 0.5", "solution(1)")
    reference = found._expected.texts
    asked: list[list[str]] = []
    sides = reference, found._sample
    likeness.controlled(lambda messages: bool(asked.append(messages)), sides, found.doubts, [], (), found._calls, "")
    assert [-1] in [values(messages) for messages in asked]
    assert [-1.5] in [values(messages) for messages in asked]
