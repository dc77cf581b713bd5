"""The calls that a task's tests make: choose the right one of two recordings, or say why calls first is impossible."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from grader.sandbox.messages import Call, root_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.sandbox.answer import Recorded, Recording

DIFFERENT = "its tests do not make the same calls each time: they depend on the answers, on random names, or on time"


class CallList(msgspec.Struct, frozen=True, kw_only=True):
    """The calls that every candidate of a task must answer, in order."""

    calls: tuple[str, ...]
    """JSON texts; see grade_sandbox/tests/recording.py."""
    names: tuple[str, ...]
    """Global names that the tests read and only the candidate can define."""
    reads: tuple[str, ...]
    """Attributes of answers that the tests read."""


class NotJudged(msgspec.Struct, frozen=True, kw_only=True):
    """A task that is outside the careful reading."""

    why: str


def possible_calls(recording: Recording) -> list[CallList]:
    """Return the lists of calls that may be right; only one if both recordings agree."""
    longer = _longer(recording)
    if longer is not None and recording.truthy.calls == recording.falsy.calls:
        return [longer]
    return [calls for calls in (longer, _calls(recording.truthy), _calls(recording.falsy)) if calls is not None]


def agreed_calls(recording: Recording) -> CallList | NotJudged:
    """Return a task's calls if no reference solution can choose between the recordings, or why they are not known.

    One recording must be the beginning of the other: a wrong answer ends a loop or an `and`, or raises an exception.
    Every program gets all the calls; when its tests judge, they may end before the last one.
    """
    longer = _longer(recording)
    return longer or NotJudged(why=recording.truthy.refused or recording.falsy.refused or DIFFERENT)


def _longer(recording: Recording) -> CallList | None:
    """Return the calls of the longer recording if the other one is a prefix of it, else None."""
    for longer, shorter in ((recording.truthy, recording.falsy), (recording.falsy, recording.truthy)):
        begun = shorter.begun if shorter.calls is None else shorter.calls
        calls = _calls(longer)
        if calls is not None and begun is not None and calls.calls[: len(begun)] == tuple(begun):
            return msgspec.structs.replace(calls, reads=tuple(sorted({*longer.reads, *shorter.reads})))
    return None


def _calls(recorded: Recorded) -> CallList | None:
    if recorded.calls is None:
        return None
    return CallList(calls=tuple(recorded.calls), names=tuple(recorded.names), reads=tuple(recorded.reads))


READS = "getattr"


class Reordered(msgspec.Struct, frozen=True, kw_only=True):
    """Calls in another order."""

    calls: CallList
    order: tuple[int, ...]
    """Position -> number of the call in the recorded order."""


def reordered(calls: CallList) -> Reordered | None:
    """Return the calls in another order; None if it is the same, or if calls depend on each other in other ways."""
    messages = list(map(Call.read, calls.calls))
    if any(_depends(message) for message in messages):
        return None
    order = _order(messages)
    if order == list(range(len(order))):
        return None
    place = {number: position for position, number in enumerate(order)}
    texts = [messages[number].renumbered(place).written() for number in order]
    return Reordered(calls=msgspec.structs.replace(calls, calls=tuple(texts)), order=tuple(order))


def _depends(call: Call) -> bool:
    """Whether a call depends on an earlier one by more than its objects: on arguments, input or random numbers."""
    if "input" in call.state or "seeds" in call.state:
        return True
    return any(expression[0] == "arg" for expression in call.expressions)


def _order(calls: list[Call]) -> list[int]:
    """Return the numbers of the calls: always the last one that may come next."""
    owners: dict[int, int] = {}
    waits_for: list[set[int]] = []
    last: dict[int, int] = {}
    for number, call in enumerate(calls):
        roots = {owners.get(root, root) for root in _roots(call)}
        waits_for.append({last.get(root, root) for root in roots})
        last |= dict.fromkeys(roots, number)
        if call.target == ["op", READS] and len(roots) == 1:
            # A bound method counts as its object.
            (owners[number],) = roots
    order: list[int] = []
    open_, done = set(range(len(calls))), set[int]()
    while open_:
        chosen = max(number for number in open_ if waits_for[number] <= done)
        order.append(chosen)
        done.add(chosen)
        open_.remove(chosen)
    return order


def _roots(call: Call) -> Iterator[int]:
    """Yield the numbers of the answers that a call names."""
    for expression in (call.target, *call.expressions):
        kind, number, *_ = root_of(expression)
        if kind == "ans":
            yield number
