"""Which replays with controls are tried, and how an accepted one is named."""

from typing import Any

import inside
import phases
from answered import answer, compared, views

pytestmark = phases.MARKS

belief = inside.load("tests.belief")


def tried(found: Any, accepts: Any = lambda messages: False) -> tuple[str, list[list[str]]]:
    """Try the controls of a comparison; return the result, and the messages that the tests were asked about."""
    asked: list[list[str]] = []

    def note(messages: list[str]) -> bool:
        asked.append(messages)
        return bool(accepts(messages))

    return belief.try_controls(note, (None, found._sample), found.doubts), asked


def values(messages: list[str]) -> list[Any]:
    read = views.Messages(messages[0], messages[1:], [{"n": [], "m": []}] * (len(messages) - 1))
    read.next()
    return [read.view(answer(read)).value for _ in messages[1:]]


def test_tests_that_accept_a_control_say_nothing_there() -> None:
    why, _ = tried(compared("return a", "return a + 0.5", "solution(1)"), lambda messages: values(messages) == [0])
    assert why == "the tests also pass with 0 in the answer to call 1, so they do not decide this value"
    assert tried(compared("return a", "return a + 0.5", "solution(1)"))[0] == ""


def test_all_places_are_replaced_at_once_and_none_alone() -> None:
    _, asked = tried(compared("return a", "return a + 0.5", "solution(1)\nsolution(2)"))
    found = [values(messages) for messages in asked]
    assert [0, 0] in found
    assert [-1.5, -2.5] in found
    assert all(one != 1.5 and other != 2.5 for one, other in found)


def test_the_reference_is_tried_as_well() -> None:
    found = compared("return a", "return a + 0.5", "solution(1)")
    reference = found._expected.texts
    asked: list[list[str]] = []
    sides = reference, found._sample
    belief.try_controls(lambda messages: bool(asked.append(messages)), sides, found.doubts)
    assert [-1] in [values(messages) for messages in asked]
    assert [-1.5] in [values(messages) for messages in asked]
