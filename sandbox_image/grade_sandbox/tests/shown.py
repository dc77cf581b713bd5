"""Calls and answers as short texts for people."""

from __future__ import annotations

import datetime

from grade_sandbox.tests import views
from grade_sandbox.values.constructed import ERROR, ITERATOR, MAPPING, NUMBER, OBJECT, SEQUENCE, SET, TEXT
from grade_sandbox.values.messages import expression_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from grade_sandbox.tests.answers import Reader
    from grade_sandbox.tests.views import View
    from grade_sandbox.values.messages import Call

MAX_TEXT = 500
_DEPTH = 6
_BRACKETS = {SET: "{}", MAPPING: "{}", SEQUENCE: "[]", ITERATOR: "[]", ERROR: "()", OBJECT: "()"}
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


def value(it: Any) -> str:
    """Return a value as it would be written in Python, cut at MAX_TEXT characters."""
    return clipped(_pieces(it, 0))


def _pieces(it: Any, depth: int) -> Iterator[str]:
    seen = views.view(it)
    brackets = "()" if seen.name == "tuple" else _BRACKETS.get(seen.family)
    if depth > _DEPTH:
        yield "..."
    elif seen.family in {NUMBER, TEXT}:
        yield _number(seen.value) if seen.family == NUMBER else repr(seen.value)
    elif brackets is None:
        yield _other(seen)
    else:
        prefix = seen.value if seen.family in {ERROR, OBJECT} else "iter(" * (seen.family == ITERATOR)
        yield f"{prefix}{brackets[0]}"
        for number, item in enumerate(seen.parts):
            yield ", " * bool(number)
            if seen.keys:
                key = seen.keys[number]
                yield from [f"{key}="] if seen.family == OBJECT else [*_pieces(key, depth + 1), ": "]
            yield from _pieces(item, depth + 1)
        yield "," * (seen.name == "tuple" and len(seen.parts) == 1) + brackets[1] + ")" * (seen.family == ITERATOR)


def _other(seen: View) -> str:
    if seen.name == "remote":
        return f"<{seen.value} object>"
    if seen.name == "enum":
        return f"{type(seen.it).__name__}.{seen.it.name or seen.it.value}"
    if type(seen.it) is datetime.timedelta:
        return f"timedelta({seen.it.days}, {seen.it.seconds}, {seen.it.microseconds})"
    return str(seen.value)


def _number(it: Any) -> str:
    try:
        return str(it)
    except ValueError:  # Python converts no integer with more than 4,300 digits
        return "a number with very many digits"


def call(reader: Reader, number: int) -> str:
    """Return a call as source: `solution([3, 1], key=None)`. An answer to an earlier call is written as this call."""
    return clipped(_Source(reader).call(reader.calls[number], 0))


class _Source:
    """Writes calls and expressions over their answers."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def call(self, made: Call, depth: int) -> Iterator[str]:
        """Yield the pieces of a call."""
        decoder = self._reader.decoder(made.nodes)
        given = [self._given(decoder, atom, depth) for atom in made.arguments]
        named = [(key, self._given(decoder, atom, depth)) for key, atom in made.named]
        kind, *rest = target = made.target
        if depth > _DEPTH:
            yield "..."
        elif kind == "op" and rest[0] == "getattr":
            yield from [*given[0], f".{made.arguments[1]}"]
        elif kind == "op" and rest[0] == "getitem":
            yield from [*given[0], "[", *given[1], "]"]
        elif kind == "op" and rest[0] in _SIGNS and len(given) == 2:
            yield from [*given[0], f" {_SIGNS[rest[0]]} ", *given[1]]
        else:
            yield from rest if kind == "op" else self._expression(target, depth)
            yield "("
            all_: Sequence[tuple[str, Iterator[str]]] = [*(("", pieces) for pieces in given), *named]
            for number, (key, pieces) in enumerate(all_):
                yield ", " * bool(number) + f"{key}=" * bool(key)
                yield from pieces
            yield ")"

    def _given(self, decoder: Any, atom: Any, depth: int) -> Iterator[str]:
        if (expression := expression_of(atom)) is not None:
            return self._expression(expression, depth)
        return _pieces(decoder.value(atom), 0)

    def _expression(self, expression: list[Any], depth: int) -> Iterator[str]:
        """Yield the pieces of an expression over earlier calls; see placeholder.py."""
        kind, *rest = expression
        if kind == "ans":
            yield from self.call(self._reader.calls[rest[0]], depth + 1)
        elif kind == "arg":
            made = self._reader.calls[rest[0]]
            atom = made.arguments[rest[1]] if isinstance(rest[1], int) else dict(map(tuple, made.named))[rest[1]]
            yield from self._given(self._reader.decoder(made.nodes), atom, depth + 1)
        elif kind == "name":
            yield str(rest[0])
        else:
            yield from self._expression(rest[0], depth + 1)
            yield f".{rest[1]}" if kind == "attr" else f"[{rest[1]!r}]"
