"""Which replays with controls are tried, and how an accepted one is named."""

from typing import Any

import inside
import phases
from answered import compared

pytestmark = phases.MARKS

belief = inside.load("tests.belief")
tried_module = inside.load("tests.tried")


def tried(found: Any, accepts: Any = lambda changes: False) -> tuple[str, list[list[Any]]]:
    """Try the controls of a comparison; return the result, and what was put into the sample's answers."""
    asked: list[list[Any]] = []

    def note(messages: list[Any]) -> bool:
        asked.append(values(messages))
        return bool(accepts(asked[-1]))

    return belief.try_controls(note, (None, found._sample), found.doubts), asked


def values(messages: list[Any]) -> list[Any]:
    """Return what was put into each answer."""
    return [change.value for one in messages for change in one.changes]


def test_tests_that_accept_a_control_say_nothing_there() -> None:
    why, _ = tried(compared("return a", "return a + 0.5", "solution(1)"), lambda changed: changed == [0])
    assert why == "the tests also pass with 0 in the answer to call 1, so they do not decide this value"
    assert tried(compared("return a", "return a + 0.5", "solution(1)"))[0] == ""


def test_all_places_are_replaced_at_once_and_none_alone() -> None:
    _, found = tried(compared("return a", "return a + 0.5", "solution(1)\nsolution(2)"))
    assert [0, 0] in found
    assert [-1.5, -2.5] in found
    assert all(one != 1.5 and other != 2.5 for one, other in found)


def test_the_reference_is_tried_as_well() -> None:
    found = compared("return a", "return a + 0.5", "solution(1)")
    asked: list[list[Any]] = []
    sides = tried_module.as_they_are(found._expected.texts), found._sample
    belief.try_controls(lambda messages: bool(asked.append(messages)), sides, found.doubts)
    assert [-1] in [values(messages) for messages in asked]
    assert [-1.5] in [values(messages) for messages in asked]
