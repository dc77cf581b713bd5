"""Recorded calls, as a judge sees them."""

from __future__ import annotations

from typing import NamedTuple

from grade_sandbox import values
from grade_sandbox.candidate.answering import RETURNED
from grade_sandbox.judging.sameness import same
from grade_sandbox.judging.seen import Ref, Seen, clipped, pieces

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


def read(text: str, context: Seen) -> Call:
    """Return a recorded call."""
    return Call(*values.read(text, context))


def procedures(calls: Sequence[Call], expected: Sequence[Reply]) -> set[int]:
    """Return the calls of what returns nothing in the reference: changed arguments and output are the answer there.

    That is a function, or a method by its name.
    """
    methods: dict[Any, str] = {}
    by_name: dict[tuple[str, Any], list[int]] = {}
    returning = set()
    for number, (call, (how, value, *_)) in enumerate(zip(calls, expected, strict=True)):
        kind, which = call.target
        if (kind, which) == ("op", "getattr") and type(value) is Ref and value.kind == "function":
            methods[value.content] = call.args[1]
        name = ("method", methods[which]) if kind == "function" and which in methods else (kind, which)
        if name[0] in {"name", "method"} and how == RETURNED:
            by_name.setdefault(name, []).append(number)
            if value is not None:
                returning.add(name)
    return {number for name, numbers in by_name.items() if name not in returning for number in numbers}


def is_varying(runs: Sequence[Sequence[Reply]], number: int, expected: Reply) -> bool:
    """Whether the reference's runs leave the arguments of a call differently."""
    return any(not same(run[number][2], expected[2]) for run in runs if number < len(run))


_SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@",
    "and_": "&", "or_": "|", "xor": "^", "lshift": "<<", "rshift": ">>",
    "iadd": "+=", "isub": "-=", "imul": "*=", "itruediv": "/=", "ior": "|=", "iand": "&=", "ixor": "^=",
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
}  # fmt: skip
_DEPTH = 6


def shown(calls: Sequence[Call], expected: Sequence[Reply], number: int) -> str:
    """Return a call as source: `solution([3, 1], key=None)`. An answer to an earlier call is written as this call."""
    return clipped(_Source(calls, expected).call(number, 0))


class _Source:
    """Writes calls and what they refer to."""

    def __init__(self, calls: Sequence[Call], expected: Sequence[Reply]) -> None:
        self._calls = calls
        self._makers: dict[Ref, int] = {}
        for number, (_, value, *_rest) in enumerate(expected):
            if type(value) is Ref:
                self._makers.setdefault(value, number)

    def call(self, number: int, depth: int) -> Iterator[str]:
        """Yield the pieces of a call."""
        (kind, which), args, kwargs, _ = self._calls[number]
        if depth > _DEPTH:
            yield "..."
        elif kind == "op" and which == "getattr":
            yield from [*self.value(args[0], depth), f".{args[1]}"]
        elif kind == "op" and which == "getitem":
            yield from [*self.value(args[0], depth), "[", *self.value(args[1], depth), "]"]
        elif kind == "op" and which in _SIGNS and len(args) == 2:
            yield from [*self.value(args[0], depth), f" {_SIGNS[which]} ", *self.value(args[1], depth)]
        elif kind == "value":
            yield which
        else:
            yield from self.value(Ref("function", which), depth) if kind == "function" else [str(which)]
            yield "("
            given = [*(("", one) for one in args), *kwargs.items()]
            for at, (key, one) in enumerate(given):
                yield ", " * bool(at) + f"{key}=" * bool(key)
                yield from self.value(one, depth)
            yield ")"

    def value(self, value: Any, depth: int) -> Iterator[str]:
        """Yield the pieces of a value."""
        if type(value) is not Ref:
            yield from pieces(value)
        elif value.kind == "answer":
            yield from self.call(value.content, depth + 1)
        elif value in self._makers:
            yield from self.call(self._makers[value], depth + 1)
        elif value.kind == "function" and isinstance(value.content, str):
            yield value.content
        else:
            yield from pieces(value)
