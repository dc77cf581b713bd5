"""The sending side: convert a graph of objects to atoms and nodes (see wire.py)."""

from __future__ import annotations

import builtins
import collections
import enum
import itertools
import re
import sys
import time

from grade_sandbox.values import arrays, constructed, plain_forms, remote_objects, standing_in
from grade_sandbox.values.instances import attributes
from grade_sandbox.values.messages import BYTES, CHARACTERS, COMPLEX, INTEGER, NODE, PASSED, Call
from grade_sandbox.values.wire import BUILTIN_TYPES, MAX_NODES, EndlessError, UncrossableError, module_of, type_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, Protocol

    class Known(Protocol):
        """Objects that the other side has."""

        def get(self, identity: int, /) -> dict[str, Any] | None: ...


MAX_ITERATOR_ITEMS, MAX_ITERATOR_SECONDS = 100_000, 0.3
ENDLESS_ITEMS = 1000
LARGE = 2000
"""Number of parts of a value that takes more than a millisecond to encode."""
_SMALL = 1 << 63
_SURROGATE_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")

_OF_ITERATORS = {"builtins", "itertools", "collections", "_collections"}
"""Modules whose iterators are sent as their items. Those of other modules, such as files, are not."""
_SIZED = {one.kind for one in constructed.TYPES.values() if isinstance(one.kind, type) and hasattr(one.kind, "__len__")}
_SIZED.remove(range)  # sent as three numbers
_ARGUMENTS = {bool, int, float, str, bytes, type(None)}
"""The types of an exception's arguments that are sent."""


class Numbers:
    """Numbers of objects that stay in this process, for as long as it lives."""

    def __init__(self) -> None:
        self._kept: list[Any] = []
        self._numbers: dict[int, int] = {}

    def of(self, value: Any) -> int:
        """Return the number of an object."""
        if id(value) not in self._numbers:
            self._numbers[id(value)] = len(self._kept)
            self._kept.append(value)
        return self._numbers[id(value)]


class Encoder:
    """Converts values to atoms and a table of nodes.

    `classes`: type -> name of the signature's classes. `known`: the objects that the other side has, by their `id()`;
    they must stay alive. `reads`: names of attributes that the tests read; they may be properties. `functions`:
    whether any function is sent, as a stub (the candidate's side); otherwise only those that both sides have.
    `tested`: type -> name of the classes whose objects are not sent, only a number of `objects` (remote_objects.py).
    """

    def __init__(
        self,
        classes: Mapping[type[Any], str],
        known: Sequence[Known] = (),
        *,
        reads: Sequence[str] = (),
        functions: bool = False,
        tested: Mapping[type[Any], str] | None = None,
        objects: Numbers | None = None,
    ) -> None:
        self.classes = classes
        self.tested, self._objects = tested or {}, objects or Numbers()
        self.known = known
        self.reads, self.functions = reads, functions
        self.nodes: list[Any] = []
        self.values: list[Any] = []
        """The object of each node, kept alive while its id() is in the index."""
        self._index: dict[int, dict[str, int]] = {}
        self._pending: collections.deque[tuple[int, Any]] = collections.deque()

    def encode(self, value: Any) -> Any:
        """Return the atom for `value`; its nodes are then in `self.nodes`."""
        atom = self.atom(value)
        self.finish()
        return atom

    def call(self, target: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Call:
        """Return a call; `target`: the expression of what is called."""
        values = [self.encode(value) for value in args]
        named = [[key, self.encode(value)] for key, value in kwargs.items()]
        return Call(target, values, named, self.nodes)

    def finish(self) -> None:
        """Create the nodes that atoms refer to and that do not exist yet."""
        while self._pending:
            position, item = self._pending.popleft()
            self.nodes[position] = self.new(item)

    def new(self, item: Any) -> list[Any]:
        """Return the node for one object."""
        return self.node(item)

    def asks(self, value: Any) -> bool:
        """Whether to read what the class of an object computes, for a side that does not have this class.

        With an object, this is about its properties. The call's own objects are not asked: the tests have their class.
        With None, this is about the length and the items of any object.
        """
        return not any(type((table.get(id(value)) or {}).get(PASSED)) is int for table in self.known)

    def atom(self, value: Any) -> Any:
        kind = type(value)
        if value is None or kind is bool or kind is float:
            return value
        if kind is str:
            # JSON would read a pair of lone surrogates as one character.
            return {CHARACTERS: [ord(c) for c in value]} if _SURROGATE_PAIR.search(value) else value
        if kind is int:
            return value if -_SMALL < value < _SMALL else {INTEGER: hex(value)}
        if kind is complex:
            return {COMPLEX: [value.real, value.imag]}
        if kind is bytes:
            return {BYTES: value.decode("latin-1")}
        for table in (self._index, *self.known):
            found = table.get(id(value))
            if found is not None:
                return found
        if kind not in self.classes and self._tested(kind) is None and (plain := plain_forms.scalar(value)) is not None:
            return self.atom(plain)
        if len(self.nodes) >= MAX_NODES:
            raise UncrossableError("a value of too many parts")
        position = len(self.nodes)
        reference = {NODE: position}
        self.nodes.append(None)
        self.values.append(value)
        self._index[id(value)] = reference
        self._pending.append((position, value))
        return reference

    def node(self, value: Any) -> list[Any]:
        """Return the node for one object, its children as atoms."""
        kind = type(value)
        name = constructed.NAMES.get(kind) or constructed.name_of(kind)
        if name is not None:
            return self.constructed(name, value)
        tested = self._tested(kind)
        if tested is not None:
            return ["object", self.tested[tested], plain_forms.overrides(kind, object), self._objects.of(value)]
        if kind in self.classes:
            return self._instance(value, self.classes[kind])
        if _is_iterator(kind):
            return self.iterator(value)
        if kind is type and BUILTIN_TYPES.get(value.__name__) is value:
            return ["type", value.__name__]  # type: ignore[union-attr]
        if isinstance(value, BaseException):
            return self.exception(value)
        if kind is re.Match:  # tests mostly ask whether there is a match
            return ["tree", "Match", self.pairs({"string": value.string}), []]
        numpy = sys.modules.get("numpy")
        if numpy is not None:
            node = arrays.node(numpy, value)
            if node is not None:
                return node
        if remote_objects.is_object(value) or remote_objects.is_class(value):
            # To read its attributes would be to call the candidate.
            raise UncrossableError(type_name(value))
        node = plain_forms.node(self, value)
        if node is None:
            raise UncrossableError(type_name(value))
        return node

    def constructed(self, name: str, value: Any) -> list[Any]:
        """Return the node of a value of a type in the table, or of a class that derives from it."""
        known = constructed.TYPES[name]
        node = [name, self.atoms(known.parts(value))]
        return node if known.more is None else [*node, *known.more(value)]

    def _tested(self, kind: type[Any]) -> type[Any] | None:
        """Return the class of which the candidate keeps the objects, if this class is or derives from one."""
        return next((base for base in kind.__mro__ if base in self.tested), None) if self.tested else None

    def atoms(self, values: Iterable[Any]) -> list[Any]:
        return [self.atom(value) for value in values]

    def pairs(self, mapping: Mapping[Any, Any]) -> list[Any]:
        """Return alternating keys and items."""
        return [self.atom(part) for pair in mapping.items() for part in pair]

    def exception(self, error: BaseException) -> list[Any]:
        """Return an exception as the nearest class that the other side has: one of the signature, or a built-in one.

        An exception class of the candidate keeps its name. Of its arguments, numbers and texts are sent.
        """
        classes = type(error).__mro__
        kind = next(one for one in classes if one in self.classes or getattr(builtins, one.__name__, None) is one)
        arguments = self.atoms(one for one in error.args if type(one) in _ARGUMENTS)
        if kind in self.classes:
            return ["error", self.classes[kind], arguments, self.pairs(attributes(error))]
        return ["exception", kind.__name__, arguments, type(error).__name__]

    def iterator(self, value: Any) -> list[Any]:
        """Return all items of an iterator, and how it ends: None, its exception, or True if it is endless.

        Of an endless one, only the first items are sent.
        """
        items: list[Any] = []
        end: Any = None
        if type(value) is itertools.groupby:
            # A group is no longer valid when the next one is requested.
            value = ((key, iter(list(group))) for key, group in value)
        limit = time.process_time() + MAX_ITERATOR_SECONDS
        try:
            for item in value:
                items.append(item)
                if len(items) > MAX_ITERATOR_ITEMS or (len(items) > ENDLESS_ITEMS and time.process_time() > limit):
                    del items[ENDLESS_ITEMS:]
                    end = True
                    break
        except EndlessError:  # it reads an argument of which only the first items were sent
            end = True
        except Exception as error:
            end = error
        return ["iterator", self.atoms(items), self.atom(end)]

    def _instance(self, value: Any, name: str) -> list[Any]:
        if isinstance(value, enum.Enum):
            return ["enum", name, value.name]
        if isinstance(value, tuple):
            return ["named", name, self.atoms(tuple(value))]
        if isinstance(value, BaseException):
            return self.exception(value)
        if isinstance(value, (list, dict, set, str, int, float, bytes)):
            raise UncrossableError(type_name(value))
        return ["instance", name, self.pairs(attributes(value))]


def _is_iterator(kind: type[Any]) -> bool:
    if kind is standing_in.Iterated:
        return True
    return module_of(kind) in _OF_ITERATORS and hasattr(kind, "__next__") and not plain_forms.is_own(kind)
