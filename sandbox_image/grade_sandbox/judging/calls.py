"""Recorded calls, as a judge sees them."""

from __future__ import annotations

from typing import NamedTuple

from grade_sandbox import values
from grade_sandbox.candidate.answering import RETURNED
from grade_sandbox.judging.views import MAX_DEPTH, JudgeContext, Ref, join_clipped, value_pieces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from grade_sandbox.judging.asking import Reply


class Call(NamedTuple):
    """A call: of a function by its name or number, or an operation."""

    target: tuple[str, Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    state: dict[str, Any]
    mutables: Sequence[Any]
    """What it could change: `Reply.mutables` has the same objects, in this order."""


def read(text: str, context: JudgeContext) -> Call:
    """Return a recorded call."""
    reader = values.Reader(text, context)
    return Call._make([*reader.read(), reader.mutables])


def procedures(calls: Sequence[Call], expected: Sequence[Reply]) -> set[int]:
    """Return the numbers of the calls of procedures: functions and methods that never return a value in the reference.

    What they change in their arguments, and what they print, is their answer. Tests call a method in two calls: one
    reads it from its object, and returns a function; a later one calls that. All methods of one name count as one.
    """
    method_names: dict[Any, str] = {}
    """Number of a function that the program has returned -> the name of the method that it is."""
    numbers_by_callee: dict[tuple[str, Any], list[int]] = {}
    callees_with_value = set()
    for number, (call, reply) in enumerate(zip(calls, expected, strict=True)):
        target_kind, target = call.target
        reads_method = call.target == ("op", "getattr") and type(reply.value) is Ref and reply.value.kind == "function"
        if reads_method:
            method_names[reply.value.content] = call.args[1]
        calls_method = target_kind == "function" and target in method_names
        callee = ("method", method_names[target]) if calls_method else (target_kind, target)
        if callee[0] in {"name", "method"} and reply.outcome == RETURNED:
            numbers_by_callee.setdefault(callee, []).append(number)
            if reply.value is not None:
                callees_with_value.add(callee)
    of_procedures = [numbers for callee, numbers in numbers_by_callee.items() if callee not in callees_with_value]
    return {number for numbers in of_procedures for number in numbers}


def format_call(calls: Sequence[Call], expected: Sequence[Reply], number: int) -> str:
    """Return a call as source: `solution([3, 1], key=None)`. An answer to an earlier call is written as this call."""
    return join_clipped(_CallFormatter(calls, expected).call(number, 0))


class _CallFormatter:
    """Writes calls and what they refer to."""

    def __init__(self, calls: Sequence[Call], expected: Sequence[Reply]) -> None:
        self._calls = calls
        self._first_calls: dict[Ref, int] = {}
        """Reference to an object in the program's process -> the first call that returned it, and stands for it."""
        for number, reply in enumerate(expected):
            if type(reply.value) is Ref:
                self._first_calls.setdefault(reply.value, number)

    def call(self, number: int, depth: int) -> Iterator[str]:
        """Yield the pieces of a call."""
        (target_kind, target), args, kwargs, *_ = self._calls[number]
        if depth > MAX_DEPTH:
            yield "..."
        elif target_kind == "op" and target == "getattr":
            yield from [*self.value(args[0], depth), f".{args[1]}"]
        elif target_kind == "value":
            yield target
        else:
            yield from self.value(Ref("function", target), depth) if target_kind == "function" else [str(target)]
            yield "("
            arguments = [*(("", arg) for arg in args), *kwargs.items()]
            for position, (name, argument) in enumerate(arguments):
                yield ", " if position else ""
                yield f"{name}=" if name else ""
                yield from self.value(argument, depth)
            yield ")"

    def value(self, value: Any, depth: int) -> Iterator[str]:
        """Yield the pieces of a value."""
        if type(value) is not Ref:
            yield from value_pieces(value)
        elif value.kind == "answer":
            yield from self.call(value.content, depth + 1)
        elif value in self._first_calls:
            yield from self.call(self._first_calls[value], depth + 1)
        elif value.kind == "function" and isinstance(value.content, str):
            yield value.content
        else:
            yield from value_pieces(value)
