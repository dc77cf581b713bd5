"""A program's answers as data: what each one is, and where it stands in the messages.

A message is a table of nodes (wire.py). Here nothing is built from it: a view names the family of a value and
its parts, so two answers can be compared part by part, and a part can be replaced by another value (controls.py).
"""

from __future__ import annotations

import contextlib
import decimal
import json
import math
from typing import NamedTuple

from grade_sandbox.values import arrays
from grade_sandbox.values.constructed import (
    ERROR,
    FUNCTION,
    ITERATOR,
    MAPPING,
    NONE,
    NUMBER,
    OBJECT,
    OTHER,
    SEQUENCE,
    SET,
    TEXT,
    TYPES,
    WRAPPER,
)
from grade_sandbox.values.passed import expressions
from grade_sandbox.values.wire import WRITTEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    Where = tuple[Any, ...]
    """Keys from the list of all messages to an atom. The last one may be (ITEM, n): an item of an array's bytes."""

ITEM, ROW = "item", "row"
CONTAINERS = {SEQUENCE, SET, MAPPING, ITERATOR}
MAX_RANGE = 100_000


class Table(NamedTuple):
    """The nodes of one message, and where they stand; `where` is None for the nodes of a call.

    `is_left`: the nodes are those of the call that was answered last, and mean what it left.
    """

    nodes: list[Any]
    where: Where | None = None
    is_left: bool = False


class Part(NamedTuple):
    """An atom of a message. `table`: what its references mean; `where`: None if it stands in no answer."""

    table: Table
    atom: Any
    where: Where | None = None


class Node(NamedTuple):
    """A node of a message, and where it stands."""

    table: Table
    node: list[Any]
    where: Where | None = None

    def parts(self, place: int, *, start: int = 0, step: int = 1) -> list[Part]:
        """Return the atoms in the list at `place` of the node: all, or every `step`th."""
        atoms = self.node[place]
        return [self.at(atoms[number], place, number) for number in range(start, len(atoms), step)]

    def part(self, place: int) -> Part:
        """Return the atom at `place` of the node."""
        return self.at(self.node[place], place)

    def at(self, atom: Any, *keys: Any) -> Part:
        """Return an atom that stands in the node."""
        return Part(self.table, atom, None if self.where is None else (*self.where, *keys))


class View(NamedTuple):
    """What a value is. `value`: a number, a text, or the contents of another value without parts.

    `parts`: the items, or the values of a mapping, whose keys are then in `keys`; `name`: the type, for people.
    """

    part: Part
    name: str
    value: Any = None
    parts: Sequence[Part] = ()
    keys: Sequence[Part] = ()
    shape: tuple[int, ...] = ()
    node: Node | None = None

    @property
    def family(self) -> str:
        return _FAMILIES.get(self.name, OTHER)

    @property
    def shown(self) -> str:
        """The type as people know it."""
        if self.name in {"object", "enum", "flag"} and self.node is not None:
            return str(self.node.node[1])
        return str(self.value) if self.family == OBJECT else _SHOWN.get(self.name, self.name)


def rows(view: View) -> View:
    """Return an array with several dimensions as a sequence of its rows; any other value as it is."""
    if len(view.shape) < 2:
        return view
    count, *inner = view.shape
    size = len(view.parts) // count if count else 0
    contents = [(view.parts[at * size : (at + 1) * size], tuple(inner)) for at in range(count)]
    return view._replace(parts=[view.part._replace(atom={ROW: row}) for row in contents], shape=())


class Messages:
    """The messages of one program, read one after the other."""

    def __init__(self, hello: str, replies: Sequence[str], calls: Sequence[dict[str, Any]]) -> None:
        self.texts = [hello, *replies]
        self._calls = calls
        self._table = self._given = Table([])
        self._left: dict[Any, Node] = {}
        """Number of an object of the last call -> what the call left of it, if that is in the message."""
        self.read = 0
        """Number of messages read; message 0 is the first one, and message k + 1 the answer to call k."""
        self.message: dict[str, Any] = {}
        """The message read last."""

    def next(self) -> dict[str, Any]:
        """Read the next message."""
        number, self.read = self.read, self.read + 1
        self._given = Table(self._calls[number - 1]["n"] if number else [], is_left=True)
        message: dict[str, Any] = json.loads(self.texts[number])
        self.message = message
        message.setdefault("p", "")
        self._table = Table(message.get("n") or [], (number, "n"))
        changes = enumerate(message.get("m", ()))
        self._left = {as_key(n): Node(self._table, node, (number, "m", at, 1)) for at, (n, node) in changes}
        return message

    def part(self, *keys: Any) -> Part:
        """Return an atom of the message read last."""
        atom: Any = self.message
        for key in keys:
            atom = atom[key]
        return Part(self._table, atom, (self.read - 1, *keys))

    def arguments(self) -> list[Any]:
        """Return the numbers of the objects that the last call passed, as far as they are known."""
        call = self._calls[self.read - 2]
        named = list(expressions([call["v"], call["k"], call["n"]]))
        found: list[Any] = []
        for atom in call["v"]:
            if isinstance(atom, dict) and "r" in atom:
                found.append(atom["r"])
            elif isinstance(atom, dict) and "x" in atom and (key := (named.index(atom["x"]), 0)) in self._left:
                found.append(key)
        return found

    def argument(self, number: Any) -> Part:
        """Return an object of the call, as the call left it."""
        return Part(self._table, {"t": number}, self._object(number).where)

    def _object(self, number: Any) -> Node:
        return self._left.get(as_key(number)) or Node(self._given, self._given.nodes[number])

    def node(self, part: Part) -> Node | None:
        """Return the node that an atom refers to; None if it is no reference."""
        if not isinstance(part.atom, dict):
            return None
        ((tag, content),) = part.atom.items()
        if tag == "r" and not part.table.is_left:
            where = part.table.where
            return Node(part.table, part.table.nodes[content], None if where is None else (*where, content))
        return self._object(content) if tag in {"r", "t"} else None

    def view(self, part: Part) -> View:
        """Return what an atom is."""
        atom = part.atom
        if isinstance(atom, dict):
            node = self.node(part)
            if node is not None:
                return self._of_node(part, node)
            ((tag, content),) = atom.items()
            if tag == ROW:
                return View(part, "array", parts=content[0], shape=content[1])
            if tag not in WRITTEN:
                return View(part, tag, json.dumps(content))
            name, read = WRITTEN[tag]
            return View(part, name, read(content))
        return View(part, "NoneType" if atom is None else type(atom).__name__, atom)

    def _of_node(self, part: Part, held: Node) -> View:
        node, kind = held.node, held.node[0]
        if kind in _SPECIAL:
            return _SPECIAL[kind](self, part, held)
        if kind in TYPES:
            return self._of_type(part, held, TYPES[kind].family)
        if kind in _ITEMS:
            return View(part, kind, parts=held.parts(_ITEMS[kind]), node=held)
        if kind in {"instance", "tree"}:
            return _paired(part, held, held.node[1], 2 if kind == "instance" else 3)
        if kind in {"exception", "error"}:
            return View(part, kind, node[1] if len(node) < 4 or kind == "error" else node[3], held.parts(2), node=held)
        # Of an object that stays with the program, only the class counts, and not how it compares: that is asked.
        plain = json.dumps(node[:2] if kind == "object" else node)
        value = f"<function {node[1]}>" if kind in {"helper", "function"} else plain
        return View(part, kind, value, node=held)

    def _of_type(self, part: Part, held: Node, family: str) -> View:
        """Return what a value of a type of the standard library is."""
        kind = held.node[0]
        if family in {MAPPING, OBJECT}:
            return _paired(part, held, kind, 1)
        parts = held.parts(1)
        if family == WRAPPER:
            return self.view(parts[0])._replace(part=part)
        if family == NUMBER:
            return View(part, kind, TYPES[kind].build([self.view(one).value for one in parts]), node=held)
        if family == TEXT:
            return View(part, kind, self.view(parts[0]).value, node=held)
        return View(part, kind, None if family in CONTAINERS else json.dumps(held.node), parts, node=held)

    def _chained(self, part: Part, held: Node) -> View:
        maps = [self.view(one) for one in held.parts(1)]
        # The first map that has a key gives its value; a later pair of a list replaces an earlier one.
        keys = [one for view in reversed(maps) for one in view.keys]
        values = [one for view in reversed(maps) for one in view.parts]
        return View(part, "chainmap", parts=values, keys=keys, node=held)

    def _range(self, part: Part, held: Node) -> View:
        items = range(*(self.view(one).value for one in held.parts(1)))
        if items[MAX_RANGE:]:  # `len` has a limit
            return View(part, "long range", str(items), node=held)
        return View(part, "range", parts=[Part(held.table, item) for item in items], node=held)

    def _masked(self, part: Part, held: Node) -> View:
        data, mask = (self.view(one) for one in held.parts(1))
        hidden = [one.atom for one in mask.parts]
        return View(part, "masked array", json.dumps(hidden), data.parts, node=held) if any(hidden) else data

    def _typed(self, part: Part, held: Node) -> View:
        items = items_of(held.node)
        parts = [held.at(as_atom(item), (ITEM, number)) for number, item in enumerate(items)]
        return View(part, held.node[0], parts=parts, shape=(len(items),), node=held)

    def _array(self, part: Part, held: Node) -> View:
        node = held.node
        if node[1] == "O":
            return self._unwrapped(View(part, "array", parts=held.parts(3), shape=tuple(node[2]), node=held))
        array = arrays.made(node).__array__()  # a matrix has two dimensions whatever is done to it
        if array.dtype.names is not None:
            return View(part, "array", json.dumps(node), node=held)
        flat = array.astype(str) if array.dtype.kind in "Mm" else array
        parts = [held.at(as_atom(item), (ITEM, number)) for number, item in enumerate(flat.ravel().tolist())]
        return self._unwrapped(View(part, "array", parts=parts, shape=array.shape, node=held))

    def _unwrapped(self, view: View) -> View:
        """Return the view of an array; one without a dimension is its only item."""
        return view if view.shape else self.view(view.parts[0])._replace(part=view.part)


def _paired(part: Part, held: Node, name: str, place: int) -> View:
    """Return a mapping or an object, with keys and values by turns at `place` of its node."""
    keys, values = (held.parts(place, start=start, step=2) for start in (0, 1))
    return View(part, held.node[0], parts=values, keys=keys, node=held, value=name)


def items_of(node: list[Any]) -> list[Any]:
    """Return the items of an `array.array` or a `memoryview`."""
    code, data = node[1]
    found: list[Any] = TYPES[node[0]].build([code, WRITTEN["b"][1](data["b"])]).tolist()
    return found


def as_atom(value: Any) -> Any:
    """Return the atom of an item of an array."""
    if isinstance(value, complex):
        return {"c": [value.real, value.imag]}
    if isinstance(value, bytes):
        return {"b": value.decode("latin-1")}
    return value if isinstance(value, (bool, int, float, str)) else float(value)


def _scalar(_: Messages, part: Part, held: Node) -> View:
    value = arrays.scalar(held.node)
    name = f"numpy.{value.dtype}"
    if value.dtype.kind in "biufc":
        plain = value.item()
        return View(part, name, plain if isinstance(plain, (bool, int, float, complex)) else float(plain), node=held)
    if value.dtype.kind in "US":
        return View(part, "str" if value.dtype.kind == "U" else "bytes", value.item(), node=held)
    return View(part, "scalar", json.dumps(held.node), node=held)


def as_key(number: Any) -> Any:
    """Return the number of an object of a call as a key."""
    return tuple(number) if isinstance(number, list) else number


def opened(view: View) -> View:
    """Return a text as a sequence of its characters, and a mapping as one of its pairs."""
    table = view.part.table
    if view.family == TEXT:
        return View(view.part, "list", parts=[Part(table, atom) for atom in view.value])
    if view.family == MAPPING:
        pairs = zip(view.keys, view.parts, strict=True)
        return View(view.part, "list", parts=[Part(table, {ROW: (pair, (2,))}) for pair in pairs])
    return view


def given(call: dict[str, Any]) -> list[Part]:
    """Return the arguments of a call that are no answers to earlier calls."""
    table = Table(call["n"])
    return [Part(table, atom) for atom in call["v"] if not (isinstance(atom, dict) and "x" in atom)]


MAX_EVERY = 100_000


def every(messages: Messages, parts: Sequence[Part]) -> Iterator[View]:
    """Yield the views of some values and of everything in them, each object once."""
    seen: set[int] = set()
    stack = [*reversed(parts)]
    while stack and len(seen) < MAX_EVERY:
        part = stack.pop()
        node = messages.node(part)
        if node is not None:
            if id(node.node) in seen:
                continue
            seen.add(id(node.node))
        view = messages.view(part)
        yield view
        stack += [*view.keys, *view.parts]


_SPECIAL: dict[str, Callable[[Messages, Part, Node], View]] = {
    "chainmap": Messages._chained, "range": Messages._range, "masked": Messages._masked, "array": Messages._array,
    "array.array": Messages._typed, "memoryview": Messages._typed, "scalar": _scalar,
}  # fmt: skip
_ITEMS = {"iterator": 1, "generator": 1, "begun": 1, "record": 3, "named": 2}
"""Kind of a node without a type in the table -> the place of its items."""
_SIZES = 8, 16, 32, 64, 128
_FAMILIES = {
    **{name: known.family for name, known in TYPES.items()},
    **dict.fromkeys(("bool", "int", "float", "complex"), NUMBER),
    **dict.fromkeys((f"numpy.{kind}{size}" for kind in ("int", "uint", "float") for size in _SIZES), NUMBER),
    **dict.fromkeys(("numpy.bool", "numpy.bool_", "numpy.complex64", "numpy.complex128", "numpy.complex256"), NUMBER),
    **dict.fromkeys(("str", "bytes"), TEXT),
    "NoneType": NONE,
    **dict.fromkeys(("record", "named", "array"), SEQUENCE),
    **dict.fromkeys(("iterator", "generator", "begun"), ITERATOR),
    **dict.fromkeys(("exception", "error"), ERROR),
    **dict.fromkeys(("function", "helper", "builtin", "type"), FUNCTION),
    **dict.fromkeys(("instance", "tree"), OBJECT),
}
_SHOWN = {
    **{name: known.shown for name, known in TYPES.items() if known.shown},
    "begun": "iterator", "record": "named tuple", "named": "named tuple", "error": "exception", "helper": "function",
}  # fmt: skip
"""Kind of a node -> the type as people know it, where it is not the same."""


def is_finite(value: Any) -> bool:
    """Whether a number is finite."""
    if isinstance(value, complex):
        return math.isfinite(value.real) and math.isfinite(value.imag)
    if isinstance(value, decimal.Decimal):
        return value.is_finite()
    return not isinstance(value, float) or math.isfinite(value)


def as_number(text: Any) -> float | None:
    """Return the number that a text reads as, or None."""
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return None
