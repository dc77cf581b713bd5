"""What a value in a program's messages is, and where it stands."""

from __future__ import annotations

import json
from typing import Any

from answered import CALL, Answered, answer, reply, views
from hypothesis import given
from plain_data import DATA


@given(DATA)
def test_the_parts_of_every_value_stand_where_they_say(value: Any) -> None:
    made = Answered(value)
    for view in views.every(made.messages, [made.part]):
        assert not view.keys or len(view.keys) == len(view.parts)
        number, *keys = view.part.where
        found: Any = json.loads(made.texts[number])
        for key in keys:
            if isinstance(key, tuple):  # an item of an array's bytes
                return
            found = found[key]
        assert repr(found) == repr(view.part.atom)


def messages(calls: list[dict[str, Any]], *replies: str) -> Any:
    return views.Messages("{}", list(replies), [CALL | call for call in calls])


def test_an_object_that_was_sent_before_is_known_by_its_number_with_its_present_contents() -> None:
    changed = {"v": {"a": 0}, "m": [["a", 0, ["list", [5]]]], "n": [], "p": ""}
    found = messages([{}, {}], reply([1]), json.dumps(changed))
    found.next()
    first = answer(found)
    assert [part.atom for part in found.view(first).parts] == [1]
    second = answer(found)
    (item,) = found.view(second).parts
    assert (item.atom, item.where) == (5, (2, "m", 0, 2, 1, 0))


def test_an_argument_that_comes_back_has_what_the_call_made_of_it() -> None:
    given = {"v": [{"r": 0}], "n": [["list", [3, 1]]]}
    returned = {"v": {"t": 0}, "m": [["t", 0, ["list", [1, 3]]]], "n": [], "p": ""}
    found = messages([given], json.dumps(returned))
    found.next()
    part = answer(found)
    assert [one.atom for one in found.view(part).parts] == [1, 3]
    assert found.view(found.argument(0)).parts[0].atom == 1


def test_what_stands_in_a_call_stands_in_no_answer() -> None:
    found = messages([{"v": [{"r": 0}], "n": [["list", [3]]]}], json.dumps({"v": {"t": 0}, "m": [], "n": [], "p": ""}))
    found.next()
    (item,) = found.view(answer(found)).parts
    assert (item.atom, item.where) == (3, None)
