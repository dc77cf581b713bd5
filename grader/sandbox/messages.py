"""The messages of a dialogue with a program, as far as the grader writes or reads them.

The sandbox's grade_sandbox/values/messages.py says what they mean.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator

NODE, EARLIER = "node", "earlier"
INTEGER, COMPLEX, CHARACTERS = "integer", "complex", "characters"
"""Keys of atoms."""
_encode = json.JSONEncoder(separators=(",", ":")).encode
"""Writes JSON as the sandbox does, because expected answers are compared with those of programs byte for byte."""


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """What a program is asked."""

    target: Sequence[Any]
    """The expression of what is called."""
    arguments: Sequence[Any]
    named: Sequence[Any] = ()
    nodes: Sequence[Any] = ()
    state: dict[str, Any] = {}
    """What the tests have set before: `captures`, `input`, `seeds`."""

    @classmethod
    def read(cls, text: str) -> Call:
        """Decode a call."""
        message = json.loads(text)
        parts = {name: message.pop(name) for name in ("target", "arguments", "named", "nodes")}
        return cls(**parts, state=message)

    def written(self) -> str:
        """Encode the call."""
        made = {"target": self.target, "arguments": self.arguments, "named": self.named, "nodes": self.nodes}
        return _encode(made | self.state)

    @property
    def expressions(self) -> Iterator[list[Any]]:
        """The expressions in its arguments."""
        return _expressions([self.arguments, self.named, self.nodes])

    def renumbered(self, place: dict[int, int]) -> Call:
        """Return the call with other numbers of the answers that it names."""
        parts = [self.arguments, self.named, self.nodes]
        arguments, named, nodes = (_renumbered(part, place) for part in parts)
        target = _moved(self.target, place)
        return msgspec.structs.replace(self, target=target, arguments=arguments, named=named, nodes=nodes)


def _expressions(value: Any) -> Iterator[list[Any]]:
    for part in value if isinstance(value, list) else ():
        if isinstance(part, dict) and EARLIER in part:
            yield part[EARLIER]
        yield from _expressions(part)


def root_of(expression: Sequence[Any]) -> Sequence[Any]:
    """Return the innermost expression: an answer, an argument or a name."""
    while expression[0] in {"item", "nth", "attr"}:
        expression = expression[1]
    return expression


def _renumbered(value: Any, place: dict[int, int]) -> Any:
    if isinstance(value, dict):
        return {key: _moved(part, place) if key == EARLIER else part for key, part in value.items()}
    return [_renumbered(part, place) for part in value] if isinstance(value, list) else value


def _moved(expression: Sequence[Any], place: dict[int, int]) -> list[Any]:
    kind, *rest = expression
    if kind == "ans":
        return ["ans", place[rest[0]]]
    return [kind, _moved(rest[0], place), *rest[1:]] if kind in {"item", "nth", "attr"} else [*expression]


def returned(atom: Any, nodes: Sequence[Any] = ()) -> str:
    """Return the reply of a program that returns a value and changes nothing."""
    return _encode({"returned": atom, "nodes": nodes})


def value_of(reply: str) -> Any:
    """Return the atom that a program returned; raises KeyError if it returned none."""
    return json.loads(reply)["returned"]


def hello(functions: Sequence[str]) -> str:
    """Return the first message of a program that defines these functions."""
    return _encode({"functions": functions, "imported": []})


_KIND = re.compile(r'\["([^"]*)"')
_NO_FLOATS = re.compile(
    r'\{"returned":(?:-?\d+[,}]|"|true|false|null|\{"(?:integer|characters|bytes)"|'
    r'\{"node":0\},"nodes":\[\["(?:list|tuple)",\[(?:-?\d+[,\]]|[]{"tfn]))'
)


def is_plain(reply: str) -> bool:
    """Whether a returned value surely equals itself: numbers, lists, tuples and dictionaries without NaN do."""
    is_value = reply.startswith('{"returned":') and "NaN" not in reply
    return is_value and all(match[1] in {"list", "tuple", "dict"} for match in _KIND.finditer(reply))


def may_be_floats(reply: str) -> bool:
    """Whether a returned value may be a float, or a sequence of floats only."""
    return _NO_FLOATS.match(reply) is None


def has_sets(call: str) -> bool:
    """Whether a set may be among the arguments of a call."""
    return '["set",' in call or '["frozenset",' in call
