"""Arguments as calls for a program, and its replies as plain values; the sandbox's `wire.py` has the format."""

from __future__ import annotations

import base64
import json
import re
from collections import Counter, OrderedDict, defaultdict, deque
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_SMALL = 1 << 63
MOST_VALUES = 1 << 16
"""Values in one answer with fewer characters, the parts of containers included."""
FEW = 100
_SURROGATE = re.compile("[\ud800-\udfff]")
_decode = json.JSONDecoder(parse_constant=float).decode
"""Decodes JSON. Each NaN is a value of its own, which equals no other one."""
_Kind = TypeVar("_Kind")
_NAMES: dict[type, str] = {list: "list", tuple: "tuple", set: "set", frozenset: "frozenset"}


def printable(text: str) -> str:
    """Return a text with escapes in place of half characters (lone surrogates), which no file can contain."""
    return text.encode(errors="backslashreplace").decode()


class Opaque:
    """A value that is not plain data. It equals nothing."""

    def __init__(self, what: str) -> None:
        self.what = printable(what)

    def __eq__(self, other: object) -> bool:
        return False

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"<{self.what}>"


class Large(Opaque):
    """A value of which only a digest was kept."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Large) and self.what == other.what

    def __hash__(self) -> int:
        return hash(self.what)


class Raised(Opaque):
    """An exception, which the program raised instead of an answer."""


def calls(function: str, arguments: Sequence[Sequence[Any]]) -> tuple[str, ...]:
    """Return the calls of a function, one for each list of arguments."""
    made = []
    for given in arguments:
        nodes: list[Any] = []
        call = {"f": {"x": ["name", function]}, "v": [_atom(value, nodes) for value in given], "n": nodes}
        made.append(json.dumps(call, separators=(",", ":")))
    return tuple(made)


def _atom(value: Any, nodes: list[Any]) -> Any:
    if value is None or isinstance(value, (bool, float)):
        return value
    if isinstance(value, int):
        return value if -_SMALL < value < _SMALL else {"i": hex(value)}
    if isinstance(value, str):
        return {"s": [*map(ord, value)]} if _SURROGATE.search(value) else value
    if isinstance(value, complex):
        return {"c": [value.real, value.imag]}
    number = len(nodes)
    nodes.append(None)
    if isinstance(value, dict):
        nodes[number] = ["dict", [_atom(part, nodes) for pair in value.items() for part in pair]]
    else:
        nodes[number] = [_NAMES[type(value)], [_atom(part, nodes) for part in value]]
    return {"r": number}


def message(text: str, kind: type[_Kind]) -> _Kind:
    """Return a message of a program, which may be any text; raises ValueError if it is not of this kind."""
    try:
        return msgspec.convert(_decode(text), kind)
    except (RecursionError, OverflowError) as error:
        raise ValueError(type(error).__name__) from None


def answered(reply: str) -> Any:
    """Return what a program answered to a call. Its reply may be anything."""
    try:
        parts = message(reply, dict[str, Any])
        if "v" in parts:
            return _Reader(parts["n"], max(MOST_VALUES, len(reply))).value(parts["v"])
        return _no_value(parts)
    except Exception as error:  # Each part may be missing, or of any type.
        return Opaque(f"an answer that cannot be read: {type(error).__name__}")


def _no_value(message: dict[str, Any]) -> Opaque:
    if "digest" in message:
        return Large(f"an answer of {message['length']:,} characters, {message['digest']}")
    if "u" in message:
        return Opaque(f"a value of type {message['u']}")
    node = message["n"][message["e"]["r"]]
    name = node[3] if len(node) > 3 and node[0] == "exception" else node[1]
    text = ", ".join(str(part) for part in node[2] if isinstance(part, (str, int, float)))
    return Raised(f"{name}: {text}" if text else str(name))


class _Reader:
    """Reads one answer. What it costs is bounded, whatever a program wrote into its channel."""

    def __init__(self, nodes: list[Any], most: int) -> None:
        """`most`: the number of values that are read."""
        self._nodes, self._left = nodes, most

    def value(self, atom: Any) -> Any:
        # A few bytes can name the same list again and again.
        self._left -= 1
        if not self._left:
            raise ValueError("more values than an answer can have")
        if not isinstance(atom, dict):
            return atom
        ((tag, content),) = atom.items()
        if tag == "r":
            return self._node(self._nodes[content])
        return _WRITTEN[tag](content)

    def _node(self, node: list[Any]) -> Any:
        kind = node[0]
        if kind == "record":  # a named tuple
            return tuple(self.value(atom) for atom in node[3])
        if kind in _SEQUENCES:
            parts = [self.value(atom) for atom in node[1]]
            return _SEQUENCES[kind](_spread(parts) if kind in _HASHED else parts)
        if kind in _MAPPINGS:
            parts = [self.value(atom) for atom in node[1]]
            return _MAPPINGS[kind](zip(_spread(parts[::2]), parts[1::2], strict=True))
        if kind in _TEXTUAL:
            return _TEXTUAL[kind](*map(self.value, node[1]))
        if kind in {"scalar", "array"} and node[1] != "O":
            return _numeric(node)
        return Opaque(f"a value of type {node[1] if kind in {'instance', 'tree', 'object'} else kind}")


def _spread(parts: list[Any]) -> list[Any]:
    """Return the items of a set or mapping; raises ValueError for many equal hashes, which take a square time."""
    if len(parts) > FEW and len(set(map(hash, parts))) <= len(parts) // 2:
        raise ValueError("items with equal hashes")
    return parts


def _numeric(node: list[Any]) -> Any:
    import numpy

    found = numpy.frombuffer(base64.b64decode(node[-1] if node[0] == "scalar" else node[3]), numpy.dtype(node[1]))
    return found[0] if node[0] == "scalar" else found.reshape(node[2])


_WRITTEN: dict[str, Callable[[Any], Any]] = {
    "i": lambda text: int(text, 16),
    "c": lambda parts: complex(*map(float, parts)),
    "s": lambda codes: "".join(map(chr, codes)),
    "b": lambda text: text.encode("latin-1"),
}
_SEQUENCES: dict[str, Callable[[Any], Any]] = {
    "list": list, "tuple": tuple, "set": set, "frozenset": frozenset, "deque": deque,
    "range": lambda parts: range(*parts),
}  # fmt: skip
_HASHED = {"set", "frozenset"}
_MAPPINGS: dict[str, Callable[[Any], Any]] = {
    "dict": dict, "ordered": OrderedDict, "default": lambda pairs: defaultdict(None, pairs),
    "counter": lambda pairs: Counter(dict(pairs)),
}  # fmt: skip
_TEXTUAL: dict[str, Callable[[Any], Any]] = {
    # `Fraction("1e999999999")` would compute this power.
    "decimal": Decimal, "fraction": lambda *parts: Fraction(*map(int, parts)),
    "bytearray": lambda data: bytearray(data.encode("latin-1") if isinstance(data, str) else data),
}  # fmt: skip
