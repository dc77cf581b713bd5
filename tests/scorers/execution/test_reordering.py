"""Calls of objects in another order: the last one first, as far as objects allow."""

import json
from typing import Any

from grader.scorers.execution.calls import CallList, reordered


def call(target: Any, *arguments: Any, **more: Any) -> dict[str, Any]:
    return {"target": target, "arguments": list(arguments), "named": [], "nodes": []} | more


def ordered(*messages: dict[str, Any]) -> tuple[list[int], list[dict[str, Any]]] | None:
    found = reordered(CallList(calls=tuple(map(json.dumps, messages)), names=(), reads=()))
    return None if found is None else (list(found.order), [json.loads(text) for text in found.calls.calls])


BOX = ["name", "Box"]


def answer(number: int) -> dict[str, Any]:
    return {"earlier": ["ans", number]}


def test_objects_that_know_nothing_of_each_other_come_in_the_opposite_order() -> None:
    assert ordered(call(BOX, 1), call(BOX, 2), call(BOX, 3)) == ([2, 1, 0], [call(BOX, n) for n in (3, 2, 1)])


def test_a_call_waits_for_its_objects_and_for_the_earlier_calls_on_them() -> None:
    push, pop = ["op", "push"], ["op", "pop"]
    found = ordered(call(BOX), call(push, answer(0), 1), call(BOX), call(pop, answer(0)), call(pop, answer(2)))
    assert found[0] == [2, 4, 0, 1, 3]
    assert [one["arguments"][:1] for one in found[1]] == [[], [answer(0)], [], [answer(2)], [answer(2)]]


def test_a_call_waits_for_an_object_in_a_container() -> None:
    held = call(["name", "total"], {"node": 0}, nodes=[["list", [answer(0)]]])
    assert ordered(call(BOX), held, call(BOX))[0] == [2, 0, 1]


def test_a_bound_method_counts_as_its_object() -> None:
    read = ["op", "getattr"]
    found = ordered(
        call(BOX), call(read, answer(0), "push"), call(["ans", 1], 5), call(read, answer(0), "pop"), call(BOX)
    )
    assert found[0] == [4, 0, 1, 2, 3]
    assert found[1][3]["target"] == ["ans", 2]


def test_calls_that_cannot_come_otherwise_stay_as_they_are() -> None:
    assert ordered(call(BOX), call(["op", "len"], answer(0))) is None


def test_calls_that_share_more_than_objects_are_not_reordered() -> None:
    two = call(BOX, 1), call(BOX, 2)
    assert ordered(*two) is not None
    for shared in ({"arguments": [{"earlier": ["arg", 0, 0]}]}, {"input": "3\n"}, {"seeds": {"random": 1}}):
        assert ordered(two[0], two[1] | shared) is None
