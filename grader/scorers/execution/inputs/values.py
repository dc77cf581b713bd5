"""Arguments as calls for a program, and its replies as plain values; the sandbox's `wire.py` has the format."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from collections import Counter, OrderedDict, defaultdict, deque
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_SMALL = 1 << 63
PER_VALUE, PER_CHARACTER = 64, 12
"""Bytes in which a value and a character of a text are sent at most: `["scalar","<f8",...]`, two escaped surrogates."""
FEW = 100
MOST_BITS = 1 << 16
"""Bits in each part of a fraction."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_decode = json.JSONDecoder(parse_constant=float).decode
"""Decodes JSON. Each NaN is a value of its own, which equals no other one."""
_Kind = TypeVar("_Kind")
_DTYPE = re.compile(r"[<>|][biufcSUMm]\d+(\[\w+\])?")
"""The types of NumPy that are plain data, as `dtype.str` says them."""
LARGE = 1 << 20
"""Bytes of an answer that is kept whole in any case, as in the sandbox."""
MOST_OF_REFERENCE = 1 << 24
"""Values in one answer of a reference solution."""
_CONTAINERS = (dict, list, tuple, set, frozenset, deque, range)
_NAMES: dict[type, str] = {list: "list", tuple: "tuple", set: "set", frozenset: "frozenset"}


def printable(text: str) -> str:
    """Return a text with escapes in place of half characters (lone surrogates), which no file can contain."""
    return text.encode(errors="backslashreplace").decode()


def shown(value: Any) -> str:
    """Return an answer for people."""
    return printable(value) if isinstance(value, str) else written(value)


def written(value: Any) -> str:
    """Return a value as source."""
    try:
        return repr(value)
    except ValueError:  # Python writes no integer of more than 4,300 digits, but its hexadecimal digits.
        return hex(value) if isinstance(value, int) else "<a value with long integers>"


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

    def __init__(self, length: int, digest: str) -> None:
        super().__init__(f"an answer of {length:,} characters, {digest}")

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
        call = {"f": {"x": ["name", function]}, "v": [_atom(value, nodes) for value in given], "k": [], "n": nodes}
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


def as_kept(value: Any) -> Any:
    """Return an expected value as an equal answer is kept: of a large text only a digest."""
    if not isinstance(value, str) or PER_CHARACTER * len(value) <= LARGE:
        return value
    reply = json.dumps({"v": value, "n": []}, separators=(",", ":"))
    return value if len(reply) <= LARGE else answered(digest(reply))


def digest(reply: str) -> str:
    """Return what the sandbox keeps of a large reply."""
    return json.dumps({"digest": hashlib.sha256(reply.encode()).hexdigest(), "length": len(reply)})


def message(text: str, kind: type[_Kind]) -> _Kind:
    """Return a message of a program, which may be any text; raises ValueError if it is not of this kind."""
    try:
        return msgspec.convert(_decode(text), kind)
    except (RecursionError, OverflowError) as error:
        raise ValueError(type(error).__name__) from None


def room(value: Any) -> int:
    """Return how many bytes an answer that is equal to this value has at most, in the form in which it is sent."""
    size, open_ = 0, [value]
    while open_:
        part = open_.pop()
        # An array may also be answered as a list of its items.
        size += PER_VALUE * (1 + getattr(part, "size", 0))
        if isinstance(part, (str, bytes)):
            size += PER_CHARACTER * len(part)
        elif isinstance(part, int):
            size += part.bit_length()
        elif isinstance(part, (list, tuple)) and set(map(type, part)) <= {int, float}:
            size += PER_VALUE * len(part) + sum(number.bit_length() for number in part if type(number) is int)
        elif isinstance(part, _CONTAINERS):
            open_ += [*part, *part.values()] if isinstance(part, dict) else part
    return size


def answered(reply: str, most_bytes: int | None = None) -> Any:
    """Return what a program answered to a call. Its reply may be anything.

    `most_bytes`: the `room` of what is expected; None: the program is trusted. Without it, a few bytes could name many
    values.
    """
    try:
        parts = message(reply, dict[str, Any])
        if "v" in parts:
            most = None if most_bytes is None else max(most_bytes, PER_VALUE * len(reply)) // PER_VALUE
            return _Reader(parts["n"], most).value(parts["v"])
        return _no_value(parts)
    except Exception as error:  # Each part may be missing, or of any type.
        return Opaque(str(error) if isinstance(error, _UnreadableError) else f"{_UNREADABLE}: {type(error).__name__}")


def _no_value(message: dict[str, Any]) -> Opaque:
    if "digest" in message:
        return Large(message["length"], message["digest"])
    if "u" in message:
        return Opaque(f"a value of type {message['u']}")
    node = message["n"][message["e"]["r"]]
    name = node[3] if len(node) > 3 and node[0] == "exception" else node[1]
    text = ", ".join(str(part) for part in node[2] if isinstance(part, (str, int, float)))
    return Raised(f"{name}: {text}" if text else str(name))


_UNREADABLE = "an answer that cannot be read"


class _UnreadableError(Exception):
    """Raised for an answer that is not plain data, or has too many values; the text says what it is."""


class _Reader:
    """Reads one answer. What it costs is bounded, whatever a program wrote into its channel."""

    def __init__(self, nodes: list[Any], most: int | None) -> None:
        """`most`: the number of values that are read; None: the program is trusted."""
        self._nodes, self._left, self._is_trusted = nodes, most or MOST_OF_REFERENCE, most is None

    def _take(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise _UnreadableError(f"{_UNREADABLE}: it has more values than are expected")

    def value(self, atom: Any) -> Any:
        # A few bytes can name the same list again and again.
        self._take(1)
        if not isinstance(atom, dict):
            return atom
        ((tag, content),) = atom.items()
        if tag == "r":
            return self._node(self._nodes[content])
        return _WRITTEN[tag](content)

    def _values(self, atoms: list[Any]) -> list[Any]:
        if dict in set(map(type, atoms)):
            return [self.value(atom) for atom in atoms]
        self._take(len(atoms))
        return atoms

    def _node(self, node: list[Any]) -> Any:
        kind = node[0]
        if kind == "record":  # a named tuple
            return tuple(self.value(atom) for atom in node[3])
        if kind in _SEQUENCES:
            parts = self._values(node[1])
            return _SEQUENCES[kind](self._spread(parts) if kind in _HASHED else parts)
        if kind in _MAPPINGS:
            parts = self._values(node[1])
            return _MAPPINGS[kind](zip(self._spread(parts[::2]), parts[1::2], strict=True))
        if kind in _TEXTUAL:
            return _TEXTUAL[kind](*map(self.value, node[1]))
        if kind == "range":
            numbers = range(*map(self.value, node[1]))
            self._take(len(numbers))
            return numbers
        if kind in {"scalar", "array"} and isinstance(node[1], str) and _DTYPE.fullmatch(node[1]):
            return self._numeric(node)
        raise _UnreadableError(f"a value of type {node[1] if kind in {'instance', 'tree', 'object'} else kind}")

    def _spread(self, parts: list[Any]) -> list[Any]:
        return parts if self._is_trusted else spread(parts)

    def _numeric(self, node: list[Any]) -> Any:
        import numpy

        data = base64.b64decode(node[-1] if node[0] == "scalar" else node[3])
        items = numpy.frombuffer(data, numpy.dtype(node[1]))
        if node[0] == "scalar":
            return items[0]
        # Rows without items are lists as well.
        self._take(math.prod(max(1, length) for length in node[2]))
        return items.reshape(node[2])


def spread(parts: list[Any]) -> list[Any]:
    """Return the items of a set or mapping; raises ValueError for many equal hashes, which take a square time."""
    if len(parts) > FEW and len(set(map(hash, parts))) <= len(parts) // 2:
        raise ValueError("items with equal hashes")
    return parts


def _fraction(*parts: Any) -> Fraction:
    # `Fraction("1e999999999")` would compute this power, and the common divisor of long numbers takes a square time.
    numbers = [int(part) for part in parts]
    if max(number.bit_length() for number in numbers) > MOST_BITS:
        raise ValueError("a long fraction")
    return Fraction(*numbers)


_WRITTEN: dict[str, Callable[[Any], Any]] = {
    "i": lambda text: int(text, 16),
    "c": lambda parts: complex(*map(float, parts)),
    "s": lambda codes: "".join(map(chr, codes)),
    "b": lambda text: text.encode("latin-1"),
}
_SEQUENCES: dict[str, Callable[[Any], Any]] = {
    "list": list, "tuple": tuple, "set": set, "frozenset": frozenset, "deque": deque,
}  # fmt: skip
_HASHED = {"set", "frozenset"}
_MAPPINGS: dict[str, Callable[[Any], Any]] = {
    "dict": dict, "ordered": OrderedDict, "default": lambda pairs: defaultdict(None, pairs),
    "counter": lambda pairs: Counter(dict(pairs)),
}  # fmt: skip
_TEXTUAL: dict[str, Callable[[Any], Any]] = {
    "decimal": Decimal, "fraction": _fraction,
    "bytearray": lambda data: bytearray(memoryview(data)),  # of a number, it would be as many bytes
}  # fmt: skip
