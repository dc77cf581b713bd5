"""The receiving side: rebuild the graph of objects from a table that may be hostile (see wire.py)."""

from __future__ import annotations

import enum
import re

from grade_sandbox.values import arrays, plain_forms, standing_in
from grade_sandbox.values.constructed import MUTABLE, TYPES, as_mapping
from grade_sandbox.values.instances import make_builtin_error, make_error, make_named, set_attributes
from grade_sandbox.values.messages import EARLIER, NODE, PASSED, WRITTEN
from grade_sandbox.values.wire import BUILTIN_TYPES, MalformedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, Protocol

    from grade_sandbox.values.messages import Call

    class _Objects(Protocol):
        """Objects that a call has passed, by number."""

        def __getitem__(self, number: Any, /) -> Any: ...


_HASHING = {"frozenset", "keys", "items"}
_MALFORMED = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, MemoryError, re.error)
"""What building a value raises if its node is none that an honest encoder makes."""
_IN_JSON = {bool, int, float, str, type(None)}
"""The types of atoms that are values."""


class Decoder:
    """Builds values from a table of nodes.

    `classes`: name -> class of the signature. `passed`: the objects of the call that is answered. Each side has its own
    functions and objects; by default, nothing but data is built.
    """

    def __init__(self, nodes: Any, classes: Mapping[str, type[Any]], passed: _Objects | None = None) -> None:
        if not isinstance(nodes, list):
            raise MalformedError("no table of nodes")
        self.nodes: list[Any] = nodes
        self.classes = classes
        self.passed: _Objects = passed if passed is not None else {}
        self.built: list[Any] = [None] * len(nodes)
        self._ready: list[bool | str] = [False] * len(nodes)

    # --- what only one side has ---

    def evaluate(self, expression: Any) -> Any:
        """Return the value of an expression over earlier answers."""
        raise MalformedError("an expression")

    @staticmethod
    def note(error: BaseException) -> BaseException:
        """Record why nothing can be confirmed; return the error."""
        return error

    def object(self, name: Any, number: Any, *, compares: bool) -> Any:
        """Return a substitute for an object of a class that the candidate must write."""
        raise MalformedError("an object of a class that is none")

    def function(self, node: list[Any]) -> Any:
        """Return a function."""
        found = plain_forms.find_builtin(*node[1:3]) if node[0] == "builtin" else None
        if found is None:
            raise MalformedError("a function that has no known name")
        return found

    # --- values ---

    def decode_all(self) -> None:
        """Build every node: first empty containers, then immutable values, then the contents."""
        try:
            for position, node in enumerate(self.nodes):
                if node[0] in MUTABLE:
                    self.built[position] = self.shell(node)
                    self._ready[position] = True
            for position in range(len(self.nodes)):
                if not self._ready[position]:
                    self._immutable(position)
            kinds = {node[0] for node in self.nodes}
            for wanted in ({"instance", "tree"}, {"list", "deque", "bytearray"}, MUTABLE - {"array"}):
                if kinds.isdisjoint(wanted):
                    continue
                for position, node in enumerate(self.nodes):
                    if node[0] in wanted and self._ready[position] is True:
                        self.fill(self.built[position], node)
                        self._ready[position] = "filled"
        except _MALFORMED as error:
            raise MalformedError(f"{type(error).__name__}: {str(error)[:200]}") from None

    def value(self, atom: Any) -> Any:
        """Return the value of an atom. The nodes that it refers to must have been built."""
        if type(atom) in _IN_JSON:
            return atom
        if not isinstance(atom, dict) or len(atom) != 1:
            raise MalformedError("not an atom")
        ((tag, content),) = atom.items()
        if tag == NODE:
            if type(content) is not int or content < 0:
                raise MalformedError("a reference that is none")
            if not self._ready[content]:
                raise MalformedError("an immutable value that contains itself")
            return self.built[content]
        if tag == PASSED:
            return self.passed[content]
        if tag == EARLIER:
            return self.evaluate(content)
        if tag in WRITTEN:
            return WRITTEN[tag][1](content)
        raise MalformedError(f"unknown atom {str(tag)[:20]!r}")

    def _immutable(self, start: int) -> None:
        """Build node `start` after the immutable nodes in it. A stack replaces recursion, which has a limit."""
        stack = [start]
        entered: set[int] = set()
        while stack:
            position = stack[-1]
            if self._ready[position]:
                stack.pop()
                continue
            node = self.nodes[position]
            missing = [p for p in _references(node) if not self._ready[p]]
            if missing and position in entered:
                raise MalformedError("an immutable value that contains itself")
            if not missing and node[0] in _HASHING:
                held = self._held(position)
                missing = [p for p in held if not self._ready[p] and p not in entered]
                if not missing:
                    self._fill_instances(held)
            if missing:
                entered.add(position)
                stack.extend(missing)
                continue
            self.built[position] = self.immutable(node)
            self._ready[position] = True
            stack.pop()

    def _held(self, start: int) -> set[int]:
        """Return the positions of all nodes in node `start`, at any depth."""
        found: set[int]
        found, stack = set(), [start]
        while stack:
            new = [p for p in _references(self.nodes[stack.pop()]) if p not in found]
            found.update(new)
            stack.extend(new)
        return found

    def _fill_instances(self, positions: Iterable[int]) -> None:
        """Set the attributes of instances before a set, which cannot be filled later, needs their hashes."""
        for position in positions:
            node = self.nodes[position]
            if node[0] in {"instance", "tree"} and all(self._ready[p] for p in _references(node)):
                self.fill(self.built[position], node)

    def pairs(self, atoms: Iterable[Any]) -> dict[Any, Any]:
        """Return a mapping from alternating keys and items."""
        return as_mapping(self.values(atoms))

    def values(self, atoms: Iterable[Any]) -> list[Any]:
        return [atom if type(atom) in _IN_JSON else self.value(atom) for atom in atoms]

    def shell(self, node: list[Any]) -> Any:
        """Return an empty object of a mutable kind."""
        kind = node[0]
        known = TYPES.get(kind)
        if known is not None:
            return known.build() if known.more is None else known.build(*node[2:])
        if kind == "array":
            return arrays.made(node)
        if kind == "instance":
            return object.__new__(_plain_class(self.classes[node[1]]))
        return object.__new__(standing_in.tree_class(node[1]))

    def fill(self, target: Any, node: list[Any]) -> None:
        """Replace the contents of a mutable object by those of `node`."""
        kind = node[0]
        known = TYPES.get(kind)
        if known is not None and known.fill is not None:
            known.fill(target, self.values(node[1]))
        elif kind == "array":
            arrays.fill(target, node)
        elif kind == "instance" or (kind == "tree" and not isinstance(target, standing_in.Tree)):
            set_attributes(target, self.pairs(node[2]))
        elif kind == "tree":
            standing_in.fill_tree(target, self.pairs(node[2]), self.pairs(node[3]))

    def immutable(self, node: list[Any]) -> Any:
        """Return the value of an immutable node whose parts are built."""
        kind = node[0]
        if kind in TYPES:
            return TYPES[kind].build(self.values(node[1]))
        if kind in _OTHERS:
            return _OTHERS[kind](self, node)
        raise MalformedError(f"unknown kind {str(kind)[:20]!r}")

    def exception(self, node: list[Any]) -> BaseException:
        """Return the exception of a node of which no class of the signature is known."""
        _, base, arguments, name = node
        own = standing_in.error_class(name, base) if name != base else None
        return make_builtin_error(base, self.values(arguments), own)


class CallDecoder(Decoder):
    """Builds the arguments of a call. `value_of` returns the value of an expression."""

    def __init__(self, nodes: Any, classes: Mapping[str, type[Any]], value_of: Callable[[Any], Any]) -> None:
        super().__init__(nodes, classes)
        self._value_of = value_of
        self.decode_all()

    def evaluate(self, expression: Any) -> Any:
        return self._value_of(expression)

    def arguments(self, call: Call) -> tuple[list[Any], dict[str, Any]]:
        """Return the arguments of the call, and its named ones."""
        return self.values(call.arguments), {key: self.value(atom) for key, atom in call.named}


_OTHERS: dict[str, Callable[[Decoder, list[Any]], Any]] = {
    "iterator": lambda d, n: standing_in.Iterated(d.values(n[1]), d.value(n[2]), d.note),
    "type": lambda d, n: BUILTIN_TYPES[n[1]],
    "scalar": lambda d, n: arrays.scalar(n),
    "record": lambda d, n: standing_in.record(n[1], n[2], d.values(n[3])),
    "named": lambda d, n: make_named(d.classes[n[1]], d.values(n[2])),
    "enum": lambda d, n: d.classes[n[1]][n[2]],
    "error": lambda d, n: make_error(d.classes[n[1]], d.values(n[2]), d.pairs(n[3])),
    "exception": Decoder.exception,
    "object": lambda d, n: d.object(n[1], n[3], compares=n[2] is True),
    "function": lambda d, n: d.function(n),
    "builtin": lambda d, n: d.function(n),
}
"""Kind of an immutable node without a type in the table -> its value."""
_NOT_PLAIN = (enum.Enum, BaseException, tuple, list, dict, set, frozenset, str, int, float, bytes)


def _plain_class(kind: Any) -> type[Any]:
    if not isinstance(kind, type) or issubclass(kind, _NOT_PLAIN):
        raise MalformedError("an instance of a class that has none of this kind")
    return kind


def _references(node: list[Any]) -> list[int]:
    """Return the positions of the nodes to which a node's own atoms refer."""
    found = []
    stack: list[Any] = [part for part in node[1:] if isinstance(part, (list, dict))]
    while stack:
        part = stack.pop()
        if isinstance(part, list):
            stack.extend(p for p in part if isinstance(p, (list, dict)))
        elif type(number := part.get(NODE)) is int:
            if number < 0:
                raise MalformedError("a negative reference")
            found.append(number)
    return found
