"""Which replays with controls are tried, and how an accepted one is named."""

from typing import Any

import inside
import phases
import pytest
from answered import THREE, answer, compared, views

pytestmark = phases.MARKS

belief = inside.load("tests.belief")


def tried(
    found: Any, accepts: Any = lambda messages: False, sites: tuple[int, ...] = ()
) -> tuple[Any, list[list[str]]]:
    """Try the controls of a comparison; return the result, and the messages that the tests were asked about."""
    asked: list[list[str]] = []

    def note(messages: list[str]) -> bool:
        asked.append(messages)
        return bool(accepts(messages))

    sides = None, found._sample
    return belief.try_controls(note, sides, found.doubts, found.holders, sites, found._calls, "tests"), asked


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
    assert len(asked) == belief.MAX_REPLAYS
    own = [n + 0.5 for n in range(20)]
    alone = [
        changed for found in map(values, asked) if len(changed := [n for n in range(20) if found[n] != own[n]]) == 1
    ]
    assert {place for (place,) in alone} == {*range(20)}


def test_the_reference_is_tried_as_well() -> None:
    found = compared("return a", "return a + 0.5", "solution(1)")
    reference = found._expected.texts
    asked: list[list[str]] = []
    sides = reference, found._sample
    belief.try_controls(lambda messages: bool(asked.append(messages)), sides, found.doubts, [], (), found._calls, "")
    assert [-1] in [values(messages) for messages in asked]
    assert [-1.5] in [values(messages) for messages in asked]
