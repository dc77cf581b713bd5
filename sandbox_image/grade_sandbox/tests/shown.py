"""Calls and answers as short texts for people."""

from __future__ import annotations

from grade_sandbox.tests.views import Messages, Part, Table
from grade_sandbox.values.constructed import ERROR, ITERATOR, MAPPING, NUMBER, OBJECT, SEQUENCE, SET, TEXT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from grade_sandbox.tests.views import View

MAX_TEXT = 500
_DEPTH = 6
_BRACKETS = {"tuple": "()", SET: "{}", MAPPING: "{}", SEQUENCE: "[]", ITERATOR: "[]", ERROR: "()", OBJECT: "()"}
_OTHERS: dict[str, Callable[[list[Any]], str]] = {
    "object": lambda node: f"<{node[1]} object>",
    "enum": lambda node: f"{node[1]}.{node[2]}",
    "flag": lambda node: f"{node[1]}({node[2]})",
    "type": lambda node: str(node[1]),
    "builtin": lambda node: str(node[2]),
    "stringio": lambda node: f"StringIO({node[1][0]!r})",
    "timedelta": lambda node: "timedelta({}, {}, {})".format(*node[1]),
    "zone": lambda node: str(*node[1]),
}
"""Kind of a node without parts -> its text."""
_SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@",
    "and_": "&", "or_": "|", "xor": "^", "lshift": "<<", "rshift": ">>",
    "iadd": "+=", "isub": "-=", "imul": "*=", "itruediv": "/=", "ior": "|=", "iand": "&=", "ixor": "^=",
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
}  # fmt: skip


def clipped(pieces: Iterable[str]) -> str:
    """Join pieces of a text up to its maximum length."""
    text = ""
    for piece in pieces:
        text += piece[: MAX_TEXT + 1]
        if len(text) > MAX_TEXT:
            return text[: MAX_TEXT - 3] + "..."
    return text


def value(messages: Messages, part: Part) -> str:
    """Return a value as it would be written in Python, cut at MAX_TEXT characters."""
    return clipped(_pieces(messages, part, 0))


def _pieces(messages: Messages, part: Part, depth: int) -> Iterator[str]:
    view = messages.view(part)
    brackets = None if view.name == "object" else _BRACKETS.get(view.name) or _BRACKETS.get(view.family)
    if depth > _DEPTH:
        yield "..."
    elif view.family in {NUMBER, TEXT}:
        yield _number(view.value) if view.family == NUMBER else repr(view.value)
    elif brackets is None:
        yield _other(view)
    else:
        prefix = view.value if view.family in {ERROR, OBJECT} else "iter(" * (view.family == ITERATOR)
        yield f"{prefix}{brackets[0]}"
        for number, item in enumerate(view.parts):
            yield ", " * bool(number)
            if view.keys:
                key = view.keys[number]
                yield from [f"{key.atom}="] if view.family == OBJECT else [*_pieces(messages, key, depth + 1), ": "]
            yield from _pieces(messages, item, depth + 1)
        yield "," * (view.name == "tuple" and len(view.parts) == 1) + brackets[1] + ")" * (view.family == ITERATOR)


def _other(view: View) -> str:
    if view.node is None or view.node.node[0] in {"helper", "function"}:
        return str(view.value)
    kind, *_ = node = view.node.node
    return _OTHERS[kind](node) if kind in _OTHERS else f"<{kind}>"


def _number(value: Any) -> str:
    try:
        return str(value)
    except ValueError:  # Python converts no integer with more than 4,300 digits
        return "a number with very many digits"


def call(messages: Messages, calls: Sequence[dict[str, Any]], made: dict[str, Any]) -> str:
    """Return a call as source: `solution([3, 1], key=None)`. An answer to an earlier call is written as this call."""
    return clipped(_Source(messages, calls).call(made, 0))


class _Source:
    """Writes calls and expressions over their answers."""

    def __init__(self, messages: Messages, calls: Sequence[dict[str, Any]]) -> None:
        self._messages, self._calls = messages, calls

    def call(self, made: dict[str, Any], depth: int) -> Iterator[str]:
        """Yield the pieces of a call."""
        given = [self._given(made, atom, depth) for atom in made["v"]]
        named = [(key, self._given(made, atom, depth)) for key, atom in made["k"]]
        kind, *rest = target = made["f"].get("x", ["name", "<function>"])
        if depth > _DEPTH:
            yield "..."
        elif kind == "op" and rest[0] == "getattr":
            yield from [*given[0], f".{made['v'][1]}"]
        elif kind == "op" and rest[0] == "getitem":
            yield from [*given[0], "[", *given[1], "]"]
        elif kind == "op" and rest[0] in _SIGNS and len(given) == 2:
            yield from [*given[0], f" {_SIGNS[rest[0]]} ", *given[1]]
        else:
            yield from rest if kind == "op" else self._expression(target, depth)
            yield "("
            for number, (key, pieces) in enumerate([*(("", pieces) for pieces in given), *named]):
                yield ", " * bool(number) + f"{key}=" * bool(key)
                yield from pieces
            yield ")"

    def _given(self, made: dict[str, Any], atom: Any, depth: int) -> Iterator[str]:
        if isinstance(atom, dict) and "x" in atom:
            return self._expression(atom["x"], depth)
        return _pieces(self._messages, Part(Table(made["n"]), atom), 0)

    def _expression(self, expression: list[Any], depth: int) -> Iterator[str]:
        """Yield the pieces of an expression over earlier answers; see placeholder.py."""
        kind, *rest = expression
        if kind == "ans":
            yield from self.call(self._calls[rest[0]], depth + 1)
        elif kind == "name":
            yield str(rest[0])
        else:
            yield from self._expression(rest[0], depth + 1)
            yield f".{rest[1]}" if kind == "attr" else f"[{rest[1]!r}]"
