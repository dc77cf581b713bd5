"""The calls of a task in another order, for tasks whose tests construct objects of a class that the program must write.

To construct an expected object hands its contents to the program, which could return them later. So the calls are
answered once more, by a new process, in an order in which expected objects come as late or as early as possible: always
the last call whose objects exist and whose earlier calls on the same objects are done.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec

from grader.files import compact_json
from grader.scorers.execution.calls import Calls

if TYPE_CHECKING:
    from collections.abc import Iterator

READS = "getattr"


class Reordered(msgspec.Struct, frozen=True, kw_only=True):
    """Calls in another order."""

    calls: Calls
    order: tuple[int, ...]
    """Position -> number of the call in the recorded order."""


def reordered(calls: Calls) -> Reordered | None:
    """Return the calls in another order; None if it is the same, or if calls depend on each other in other ways."""
    messages = [json.loads(call) for call in calls.calls]
    if any(_depends(message) for message in messages):
        return None
    order = _order(messages)
    if order == list(range(len(order))):
        return None
    place = {number: position for position, number in enumerate(order)}
    texts = [compact_json.encode(_renumbered(_released(messages[number]), place)).decode() for number in order]
    return Reordered(calls=msgspec.structs.replace(calls, calls=tuple(texts)), order=tuple(order))


def _depends(message: dict[str, Any]) -> bool:
    """Whether a call depends on an earlier one by more than its objects: on arguments, input or random numbers."""
    if message["m"] or "i" in message or "s" in message:
        return True
    return any(tag == "t" for tag, _ in _atoms([message["v"], message["k"], message["n"]]))


def _released(message: dict[str, Any]) -> dict[str, Any]:
    """Return a call without the list of objects to release: a later call may need them now."""
    return {key: part for key, part in message.items() if key != "d"}


def _order(messages: list[dict[str, Any]]) -> list[int]:
    """Return the numbers of the calls: always the last one that may come next."""
    owners: dict[int, int] = {}
    waits_for: list[set[int]] = []
    last: dict[int, int] = {}
    for number, message in enumerate(messages):
        roots = {owners.get(root, root) for root in _roots([message["f"], message["v"], message["k"]])}
        waits_for.append({last.get(root, root) for root in roots})
        last |= dict.fromkeys(roots, number)
        if message["f"].get("x") == ["op", READS] and len(roots) == 1:
            # A bound method counts as its object.
            (owners[number],) = roots
    order: list[int] = []
    open_, done = set(range(len(messages))), set[int]()
    while open_:
        chosen = max(number for number in open_ if waits_for[number] <= done)
        order.append(chosen)
        done.add(chosen)
        open_.remove(chosen)
    return order


def _roots(value: Any) -> Iterator[int]:
    """Yield the numbers of the answers that are named in some atoms."""
    for tag, content in _atoms(value):
        if tag == "x":
            expression = content
            while expression[0] in {"item", "nth", "attr"}:
                expression = expression[1]
            if expression[0] == "ans":
                yield expression[1]


def _atoms(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and len(value) == 1:
        yield from value.items()
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _atoms(part)


def _renumbered(value: Any, place: dict[int, int]) -> Any:
    """Return a message in which answers have the numbers of the other order."""
    if isinstance(value, dict):
        return {key: _moved(part, place) if key == "x" else _renumbered(part, place) for key, part in value.items()}
    return [_renumbered(part, place) for part in value] if isinstance(value, list) else value


def _moved(expression: list[Any], place: dict[int, int]) -> list[Any]:
    kind, *rest = expression
    if kind == "ans":
        return ["ans", place[rest[0]]]
    return [kind, _moved(rest[0], place), *rest[1:]] if kind in {"item", "nth", "attr"} else expression
