"""Values between processes: a message is a table of nodes, and nothing in it is ever called.

A table is JSON: `[[kind, content], ...]`. Node 0 is the value that the message is about. Content is made of numbers,
texts and the numbers of other nodes. KINDS says for each kind how it is written, made and filled. So aliases and
cycles within a message are kept, and only plain data of exact types arrives.

Pickle is no choice, because it calls what a message names: every list of allowed names had a way through.

Writing is one walk with a memo, without recursion. Reading makes what can change empty, then what cannot change, after
its parts, and fills the former at the end. Both sides of a channel use this module, and the grader writes with it.
"""

from __future__ import annotations

import base64
import builtins
import cmath
import collections
import datetime
import decimal
import enum
import fractions
import io
import itertools
import json
import math
import operator
import re
import sys
import types
from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    Content = Any
    """What stands behind the kind of a node."""

MAX_BYTES = 32 << 20
MAX_NODES = 2_000_000
MAX_DEPTH = 500
"""Depth of values that cannot change: Python compares and hashes tuples in tuples without a check of its stack."""
MAX_ITEMS = 2_000
"""Items of an iterator that are sent. It may have no end."""
_SMALL = 1 << 53
"""Larger integers are written as texts: JSON readers of other languages would change them."""
encode = json.JSONEncoder(separators=(",", ":")).encode
"""Returns `json.dumps(value, separators=(",", ":"))`, which would create an encoder for each message."""


class MalformedError(Exception):
    """Raised for a message that is no table of nodes of these kinds."""


class UnsendableError(Exception):
    """Raised for a value that cannot be serialized; the text names its type."""


def error_text(error: BaseException) -> str:
    """Return an exception for people: its type, and the beginning of its text, which may have any length."""
    return f"{type(error).__name__}: {str(error)[:200]}"


class EndlessError(BaseException):
    """Raised if somebody reads more items of an iterator than were sent."""


class Tree:
    """An object of a class that only the program has: the reader has its attributes, but no methods."""


class SentIterator:
    """An iterator that arrived as its first items; `is_complete` if these are all."""

    def __init__(self, items: list[Any], *, is_complete: bool) -> None:
        self.items, self.is_complete, self._next = items, is_complete, 0

    def __iter__(self) -> SentIterator:
        return self

    def __next__(self) -> Any:
        if self._next < len(self.items):
            self._next += 1
            return self.items[self._next - 1]
        if self.is_complete:
            raise StopIteration
        raise EndlessError(f"more than {len(self.items)} items of an iterator")


SentIterator.__name__ = "iterator"  # in messages of Python about one, which people read


class Context:
    """What one side of a channel knows beside the values: classes by name, and what is not sent as its contents."""

    def __init__(self, classes: Mapping[str, type[Any]] | None = None) -> None:
        """`classes`: those of the signature, by name."""
        self.classes = dict(classes or {})
        self.names = {cls: name for name, cls in self.classes.items()}

    def node_of(self, value: Any) -> tuple[str, Content] | None:
        """Return the node of a value that is not sent as its contents; None for any other value."""
        return None

    def atom_node(self, value: Any) -> tuple[str, Content] | None:
        """Return the node of a text or bytes that are not sent as their contents; None for any other."""
        return None

    def value_of(self, kind: str, content: Content) -> Any:
        """Return the value of a node that `node_of` or `atom_node` has written; raises MalformedError."""
        raise MalformedError(f"a node of kind {kind}, which this message cannot have")

    def function(self, value: Any) -> tuple[str, Content]:
        """Return the node of a function of the program's; raises UnsendableError."""
        raise UnsendableError(f"the function {getattr(value, '__name__', type_name(value))}")


def _no_parts(content: Content) -> Sequence[Any]:
    return ()


class Kind(NamedTuple):
    """How values of a kind are written and read."""

    write: Callable[[Writer, Any], Content]
    make: Callable[[Reader, Content], Any]
    """Makes the value; empty if it can change, else from its parts, which have been made."""
    fill: Callable[[Reader, Any, Content], object] | None = None
    """Fills a value that can change."""
    parts: Callable[[Content], Sequence[Any]] = _no_parts
    """Returns the numbers of the nodes in a content."""
    hashes: bool = False
    """Whether filling needs complete parts: keys are hashed, and the hash of an object may use its attributes."""


# --- writing ---


class Writer:
    """Writes one message."""

    def __init__(self, context: Context) -> None:
        self.context = context
        # Few contexts override `atom_node`. For the others, it is not called for each text.
        self._has_special_atoms = type(context).atom_node is not Context.atom_node
        self._numbers: dict[Any, int] = {}
        """id() of a value, or type and value of an atom -> number of its node."""
        self._unwritten: collections.deque[tuple[int, Any]] = collections.deque()
        """Containers that have a number and no content yet."""
        self._values: dict[int, Any] = {}
        """Number of a node -> the object in it: for `mutables`, and because a dead object's id() may come again."""
        self._nodes: list[Any] = []
        self._size = 0
        """Bytes counted so far."""

    def write(self, value: Any) -> str:
        """Return the message about a value; raises UnsendableError."""
        try:
            self.node_number(value)
            while self._unwritten:
                number, container = self._unwritten.popleft()
                self._nodes[number] = self._node(container)
            text = encode(self._nodes)
        except UnsendableError:
            raise
        except Exception as error:  # Attributes of a program's object may raise anything.
            raise UnsendableError(f"{type_name(value)} ({type(error).__name__} while it was read)") from None
        # Until here, only a part of the text was counted.
        self.count_bytes(len(text) - self._size)
        return text

    @property
    def mutables(self) -> list[Any]:
        """The objects in the message that can change, in the order of its nodes."""
        return [self._values[number] for number, (kind, _) in enumerate(self._nodes) if kind in _SHARED_KINDS]

    def node_number(self, value: Any) -> int:
        """Return the number of a value's node; a container is written later.

        Equal atoms share a node, but for those that have one of their own in this context (`atom_node`).
        """
        cls = type(value)
        if cls not in _ATOMS:
            number = self._numbers.get(id(value))
            if number is None:
                number = self._numbers[id(value)] = self._new(None)
                self._values[number] = value
                self._unwritten.append((number, value))
            return number
        if self._has_special_atoms and cls in {str, bytes} and (node := self.context.atom_node(value)) is not None:
            number = self._new(list(node))
            self._values[number] = value
            return number
        key = (cls, _EXACT_TEXTS[cls](value) if cls in _EXACT_TEXTS else value)
        number = self._numbers.get(key)
        if number is None:
            kind = _KINDS_BY_TYPE[cls]
            number = self._numbers[key] = self._new([kind, KINDS[kind].write(self, value)])
        return number

    def _new(self, node: list[Any] | None) -> int:
        if len(self._nodes) >= MAX_NODES:
            raise UnsendableError(f"a value with more than {MAX_NODES:,} parts")
        self._nodes.append(node)
        return len(self._nodes) - 1

    def node_numbers(self, values: Iterable[Any]) -> list[int]:
        """Return the numbers of the nodes of several values."""
        numbers: list[int] = []
        by_value = self._numbers
        for value in values:
            # `node_number` does the same. Looking here first saves a call, unless the context is asked about each text.
            cls = type(value)
            is_quick = cls is int or (cls is str and not self._has_special_atoms)
            number = by_value.get((cls, value)) if is_quick else None
            numbers.append(self.node_number(value) if number is None else number)
        # Each number has at least one digit.
        self.count_bytes(len(numbers))
        return numbers

    def count_bytes(self, size: int) -> None:
        """Count the size of a text before it is copied; raises UnsendableError."""
        self._size += size
        if self._size > MAX_BYTES:
            raise UnsendableError(f"a value of more than {MAX_BYTES >> 20} MB")

    def _node(self, value: Any) -> list[Any]:
        """Return the kind and the content of a container, or of what the context sends in another way."""
        if (node := self.context.node_of(value)) is not None:
            return list(node)
        kind = _KINDS_BY_TYPE.get(type(value)) or _kind_of_other(value, self.context)
        if kind == "function":
            return list(self.context.function(value))
        if type(value) is list and _are_numbers(value):
            kind = "numbers"
        return [kind, KINDS[kind].write(self, value)]


def write(value: Any, context: Context | None = None) -> str:
    """Return the message about a value; raises UnsendableError."""
    return Writer(context or Context()).write(value)


def _kind_of_other(value: Any, context: Context) -> str:
    """Return the kind of a value whose type is not in `_KINDS_BY_TYPE`; raises UnsendableError."""
    cls = type(value)
    if isinstance(value, type):
        return _kind_of_class(value, context)
    if cls in context.names:
        if isinstance(value, enum.Enum):
            return "member"
        if isinstance(value, BaseException):
            return "exception"
        if isinstance(value, tuple) and hasattr(cls, "_fields"):
            return "record"
        if isinstance(value, _BASES):
            raise UnsendableError(f"{type_name(value)}, whose class derives from a built-in one")
        return "object"
    if isinstance(value, BaseException):
        return "exception"
    if isinstance(value, _FUNCTIONS):
        return "known" if isinstance(value, types.BuiltinFunctionType) and value in _KNOWN_NAMES else "function"
    if _is_numpy_value(value):
        return "array" if hasattr(cls, "__setitem__") else "scalar"
    if (table := _pandas_kind(cls)) is not None:
        return table
    if hasattr(cls, "__next__") and not isinstance(value, io.IOBase):
        return "iterator"
    return _kind_of_unlisted_class(value, cls)


def _kind_of_class(cls: type[Any], context: Context) -> str:
    if cls in context.names:
        return "class"
    if cls in _KNOWN_NAMES:
        return "known"
    if is_user_class(cls):
        # The other side can only call it.
        return "function"
    raise UnsendableError(f"the class {cls.__name__}")


def _kind_of_unlisted_class(value: Any, cls: type[Any]) -> str:
    """Return the kind of an object whose class is not built in; raises UnsendableError.

    Of a library's objects, only named tuples and what can be called are sent. One of the program's is sent as an object
    of the built-in class from which its class derives; else as a function if it can be called, or as its attributes.
    """
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return "record"
    if not is_user_class(cls):
        if callable(value):
            return "function"
        raise UnsendableError(type_name(value))
    base = next((base for base in _BASES if issubclass(cls, base)), None)
    if base is None or isinstance(value, enum.Enum):
        return "function" if callable(value) else "tree"
    if any(getattr(cls, name) is not getattr(base, name) for name in _COMPARISON_METHODS):
        raise UnsendableError(f"{type_name(value)}, whose class overrides comparison")
    return _KINDS_BY_TYPE[base]


_USER_MODULES = {"builtins", "__main__", "types", "enum", "typing", "collections", "dataclasses"}
"""The modules that classes of a program may have: its own is nameless, and some are made by a library."""
_IS_HEAP_TYPE = 1 << 9
"""The flag of classes that were made while Python ran (Py_TPFLAGS_HEAPTYPE)."""


def is_user_class(cls: type[Any]) -> bool:
    """Whether a program has made a class, and not a library, Python or the sandbox."""
    module_name = module_of(cls)
    module = sys.modules.get(module_name)
    # What was imported has a spec. A module without one is the sandbox's own `__main__`, or made while it runs.
    names_library = module is not None and module_name not in _USER_MODULES and module.__spec__ is not None
    if names_library:
        return False
    namesake: Any = module
    for part in cls.__qualname__.split("."):
        namesake = getattr(namesake, part, None)
    # Python's and the sandbox's own classes are found in their modules. A program's class is in no module, whatever
    # module it names, because the program's globals belong to none.
    is_in_its_module = namesake is cls
    return not is_in_its_module and bool(cls.__flags__ & _IS_HEAP_TYPE)


def module_of(cls: type[Any]) -> str:
    """Return the name of a class's module.

    `type(name, bases, {})` in a program whose globals have no `__name__` creates a class without one.
    """
    return str(getattr(cls, "__module__", None) or "builtins")


def type_name(value: object) -> str:
    """Return the name of a type for people: `module.Name`, without `builtins`."""
    cls = type(value)
    module = module_of(cls)
    return cls.__qualname__ if module == "builtins" else f"{module}.{cls.__qualname__}"


def attributes(value: Any) -> dict[str, Any]:
    """Return an object's own attributes, including `__slots__`, without names that Python reserves."""
    members = dict(getattr(value, "__dict__", {}))
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            descriptor = cls.__dict__.get(slot)
            if isinstance(descriptor, types.MemberDescriptorType) and hasattr(value, slot):
                members[slot] = getattr(value, slot)
    return {key: item for key, item in members.items() if isinstance(key, str) and not is_reserved(key)}


def is_reserved(name: str) -> bool:
    """Whether Python reserves a name for itself, as `__len__`."""
    return name.startswith("__") and name.endswith("__")


# --- reading ---

_MISSING = object()


class Reader:
    """Reads one message."""

    def __init__(self, text: str | bytes, context: Context) -> None:
        self.context = context
        self._nodes = _parse_nodes(text)
        self._values: list[Any] = [_MISSING] * len(self._nodes)
        self._depths = [0] * len(self._nodes)
        """How deep a tuple or the like, which cannot change, nests others of this sort; 0 for any other value."""

    def read(self, existing: Sequence[Any] = ()) -> Any:
        """Return the value of the message; raises MalformedError.

        `existing`: objects of this process that the message describes, in the order of the last part of node 0. Those
        that can change get the contents that the message has.
        """
        try:
            return self._read(self._existing_by_number(existing) if existing else {})
        except MalformedError:
            raise
        except Exception as error:  # Each content can be anything of JSON.
            raise MalformedError(error_text(error)) from None

    def _parts(self, number: int) -> Sequence[Any]:
        kind, content = self._nodes[number]
        return KINDS[kind].parts(content)

    def __getitem__(self, number: Any) -> Any:
        if type(number) is not int or number < 0:
            raise MalformedError("a node without a number")
        return self._values[number]

    def values(self, numbers: Any) -> list[Any]:
        """Return the values of some nodes."""
        return [self[number] for number in numbers]

    def _read(self, existing: Mapping[int, Any]) -> Any:
        """Make all values, and return the first. `existing`: number of a node -> the object that it updates.

        What can change is made first, empty, so that values may contain each other; then what cannot change, after its
        parts; then the first ones are filled.
        """
        kinds = [KINDS[kind] for kind, _ in self._nodes]
        mutable, immutable = [], []
        for number, (kind, (_, content)) in enumerate(zip(kinds, self._nodes, strict=True)):
            if kind.fill is not None:
                mutable.append(number)
                self._values[number] = existing[number] if number in existing else kind.make(self, content)
            elif kind.parts is _no_parts:
                self._values[number] = kind.make(self, content)
            else:
                immutable.append(number)
        for number in immutable:
            self._make(number, kinds)
        # What hashes its items is filled last, when these have their contents.
        for hashes in (False, True):
            for number in mutable:
                kind = kinds[number]
                if kind.hashes is hashes and kind.fill is not None:
                    kind.fill(self, self._values[number], self._nodes[number][1])
        return self._values[0]

    def _make(self, number: int, kinds: Sequence[Kind]) -> None:
        """Make a value that cannot change, after its parts. Those that can change are there, and add no depth."""
        stack, begun = [number], set[int]()
        while stack:
            top = stack[-1]
            if self._values[top] is not _MISSING:
                stack.pop()
                continue
            content = self._nodes[top][1]
            parts = kinds[top].parts(content)
            missing = [part for part in parts if self[part] is _MISSING]  # `self[part]` checks the number
            if missing:
                if top in begun:
                    raise MalformedError("a cycle of values that cannot change")
                begun.add(top)
                stack += missing
                continue
            self._depths[top] = 1 + max((self._depths[part] for part in parts), default=0)
            if self._depths[top] > MAX_DEPTH:
                raise MalformedError(f"values nested more than {MAX_DEPTH} deep")
            self._values[top] = kinds[top].make(self, content)
            stack.pop()

    def _existing_by_number(self, existing: Sequence[Any]) -> dict[int, Any]:
        """Return number of a node -> the object of this process that it describes.

        A message cannot change the type of an object: where it has another one, the node stands for a new object.
        """
        # Node 0 is a reply. Its last part has what the call could change: see `Reply.mutables`.
        mutables = self._parts(self._parts(0)[-1])
        by_number = {}
        for number, value in zip(mutables, existing, strict=True):
            kind = self._nodes[number][0]
            # `numbers` is a shorter way to write a list.
            kind = "list" if kind == "numbers" else kind
            # An object of the signature's classes has no kind here. Whether its node fits shows when it is filled.
            existing_kind = _KINDS_BY_TYPE.get(type(value))
            if existing_kind is None or existing_kind == kind:
                by_number[number] = value
        return by_number

    @property
    def mutables(self) -> list[Any]:
        """The objects in the message that can change, in the order of its nodes."""
        return [self._values[number] for number, (kind, _) in enumerate(self._nodes) if kind in _SHARED_KINDS]


def read(text: str | bytes, context: Context | None = None, existing: Sequence[Any] = ()) -> Any:
    """Return the value of a message; raises MalformedError. `existing`: see `Reader.read`."""
    return Reader(text, context or Context()).read(existing)


def _parse_nodes(text: str | bytes) -> list[Any]:
    """Return the nodes of a message; raises MalformedError. Their contents are checked when they are read."""
    if len(text) > MAX_BYTES:
        raise MalformedError(f"a message of more than {MAX_BYTES >> 20} MB")
    try:
        nodes = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MalformedError(str(error)[:200]) from None
    if not isinstance(nodes, list) or not 0 < len(nodes) <= MAX_NODES:
        raise MalformedError("not a table of nodes")
    for node in nodes:
        if not isinstance(node, list) or len(node) != 2 or not isinstance(node[0], str) or node[0] not in KINDS:
            raise MalformedError("a node of no known kind")
    return nodes


def _text(content: Content) -> str:
    if not isinstance(content, str):
        raise MalformedError("not a text")
    return content


def _integer(content: Content) -> int:
    if type(content) is not int:
        raise MalformedError("not an integer")
    return content


# --- atoms ---

_ATOMS = {type(None), bool, int, float, complex, str, bytes}
_EXACT_TEXTS: dict[type[Any], Callable[[Any], Any]] = {float: float.hex, complex: repr}
"""Texts that tell apart what `==` does not: 0.0 equals -0.0. They also find NaN again, which equals nothing."""


def _write_int(writer: Writer, value: int) -> Content:
    """Write a large integer as a text (see `_SMALL`), from 64 bits on in hexadecimal: Python limits decimal ones."""
    if -_SMALL < value < _SMALL:
        return value
    hexadecimal_digits = value.bit_length() // 4
    writer.count_bytes(hexadecimal_digits)
    return int.__repr__(value) if value.bit_length() < 64 else hex(value)


def _make_int(reader: Reader, content: Content) -> int:
    if isinstance(content, str):
        return int(content, 16 if "x" in content else 10)
    return _integer(content)


def _write_text(writer: Writer, value: str) -> Content:
    writer.count_bytes(str.__len__(value))
    return str.__str__(value)


def _write_bytes(writer: Writer, value: Any) -> Content:
    writer.count_bytes(len(value))
    return base64.b64encode(value).decode()


def _make_bytes(reader: Reader, content: Content) -> bytes:
    return base64.b64decode(_text(content), validate=True)


_FLOAT = re.compile(r"-?0x[01]\.[0-9a-f]{1,13}p[+-]\d{1,4}|-?inf|nan")


def _make_float(reader: Reader, content: Content) -> float:
    if not _FLOAT.fullmatch(_text(content)):
        raise MalformedError("not a float")
    return float.fromhex(content)


# --- containers ---


def _pairs(writer: Writer, value: Mapping[Any, Any], base: Any = dict) -> list[int]:
    return writer.node_numbers(part for pair in base.items(value) for part in pair)


def _fill_list(reader: Reader, value: Any, content: Content) -> None:
    value[:] = reader.values(content)


def _are_numbers(value: list[Any]) -> bool:
    """Whether a list has only numbers that JSON writes exactly. Some have a million: a node for each is too much."""
    return bool(value) and set(map(type, value)) <= {int, float} and all(-_SMALL < item < _SMALL for item in value)


def _write_numbers(writer: Writer, value: list[Any]) -> Content:
    writer.count_bytes(2 * len(value))
    return list(value)


def _fill_numbers(reader: Reader, value: list[Any], content: Content) -> None:
    if type(content) is not list or len(content) > MAX_NODES or not set(map(type, content)) <= {int, float}:
        raise MalformedError("a list that does not have only numbers")
    value[:] = content


def _fill_deque(reader: Reader, value: Any, content: Content) -> None:
    value.clear()
    value.extend(reader.values(content[1]))


def _ordered_items(value: Any, base: Any) -> list[Any]:
    """Return the items of a set (`base`: its built-in class), sorted if possible: equal sets are written equally."""
    items = list(base.__iter__(value))
    if not set(map(type, items)) <= {bool, int, str, bytes, tuple}:
        return items
    try:
        return sorted(items, key=lambda item: (type(item).__name__, item))
    except TypeError:
        return items


def _fill_set(reader: Reader, value: Any, content: Content) -> None:
    value.clear()
    value.update(reader.values(content))


def _fill_dict(reader: Reader, value: Any, content: Content) -> None:
    flat = reader.values(content)
    if len(flat) % 2:
        raise MalformedError("a key without a value")
    value.clear()
    for key, item in zip(flat[::2], flat[1::2], strict=True):
        dict.__setitem__(value, key, item)


def _fill_default(reader: Reader, value: Any, content: Content) -> None:
    factory_node, pairs = content
    factory = reader[factory_node]
    if factory is not None and not (isinstance(factory, type) and factory in _KNOWN_NAMES):
        raise MalformedError("a factory that is no known class")
    value.default_factory = factory
    _fill_dict(reader, value, pairs)


def _write_default(writer: Writer, value: Any) -> Content:
    factory = value.default_factory
    known = factory if isinstance(factory, type) and factory in _KNOWN_NAMES else None
    return [writer.node_number(known), _pairs(writer, value)]


_VIEWS: dict[str, Callable[[list[Any]], Any]] = {
    "keys": lambda items: dict.fromkeys(items).keys(),
    "values": lambda items: dict(enumerate(items)).values(),
    "items": lambda items: dict(items).items(),
}


def _write_view(writer: Writer, value: Any) -> Content:
    return [type(value).__name__.rpartition("_")[2], writer.node_numbers(value)]


def _write_iterator(writer: Writer, value: Any) -> Content:
    was_sent = isinstance(value, SentIterator)
    unread = value.items[value._next :] if was_sent else value
    items = list(itertools.islice(unread, MAX_ITEMS + 1))
    is_complete = len(items) <= MAX_ITEMS and (value.is_complete if was_sent else True)
    return [int(is_complete), writer.node_numbers(items[:MAX_ITEMS])]


def _fill_iterator(reader: Reader, value: SentIterator, content: Content) -> None:
    value.items[:] = reader.values(content[1])


# --- numbers and times of the standard library ---


def _write_decimal(writer: Writer, value: decimal.Decimal) -> Content:
    text = str(value)
    writer.count_bytes(len(text))
    return text


_TIMES: dict[str, tuple[type[Any], tuple[str, ...]]] = {
    "date": (datetime.date, ("year", "month", "day")),
    "time": (datetime.time, ("hour", "minute", "second", "microsecond", "tzinfo")),
    "datetime": (datetime.datetime, ("year", "month", "day", "hour", "minute", "second", "microsecond", "tzinfo")),
    "timedelta": (datetime.timedelta, ("days", "seconds", "microseconds")),
}


def _time_kind(name: str) -> Kind:
    """Return the kind of a type in `_TIMES`, which is sent as the values of its fields."""
    cls, fields = _TIMES[name]
    has_zone = fields[-1] == "tzinfo"

    def write_time(writer: Writer, value: Any) -> Content:
        return writer.node_numbers(getattr(value, field) for field in fields)

    def make_time(reader: Reader, content: Content) -> Any:
        parts = reader.values(content)
        numbers = parts[:-1] if has_zone else parts
        if len(parts) != len(fields) or any(type(part) is not int for part in numbers):
            raise MalformedError("an invalid time")
        if has_zone and parts[-1] is not None and type(parts[-1]) is not datetime.timezone:
            raise MalformedError("a time in no known zone")
        return cls(*parts)

    return Kind(write_time, make_time, parts=list)


def _make_zone(reader: Reader, content: Content) -> datetime.timezone:
    offset = reader[content[0]]
    if type(offset) is not datetime.timedelta:
        raise MalformedError("an invalid time zone")
    return datetime.timezone(offset)


# --- classes and functions by name ---

_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.MethodWrapperType)
_BUILTINS = (
    "abs", "all", "any", "ascii", "bin", "bool", "bytearray", "bytes", "chr", "complex", "dict", "divmod", "enumerate",
    "filter", "float", "frozenset", "hex", "int", "len", "list", "map", "max", "min", "object", "oct", "ord", "pow",
    "range", "repr", "reversed", "round", "set", "slice", "sorted", "str", "sum", "tuple", "zip",
)  # fmt: skip
_OPERATORS = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "neg", "pos", "abs", "and_", "or_", "xor", "not_", "inv",
    "lshift", "rshift", "eq", "ne", "lt", "le", "gt", "ge", "concat", "contains", "getitem",
)  # fmt: skip
_COLLECTIONS = ("Counter", "OrderedDict", "defaultdict", "deque")
KNOWN: dict[str, Any] = {
    "NoneType": type(None),
    **{name: getattr(builtins, name) for name in _BUILTINS},
    **{name: cls for name, cls in vars(builtins).items() if isinstance(cls, type) and issubclass(cls, BaseException)},
    **{f"operator.{name}": getattr(operator, name) for name in _OPERATORS},
    **{f"collections.{name}": getattr(collections, name) for name in _COLLECTIONS},
    **{f"math.{name}": item for name, item in vars(math).items() if callable(item) and not name.startswith("_")},
    **{f"cmath.{name}": item for name, item in vars(cmath).items() if callable(item) and not name.startswith("_")},
}
"""Name -> class or function. Nothing in this table runs a text, looks a name up, or calls what it is given but keys."""
_KNOWN_NAMES = {item: name for name, item in reversed(KNOWN.items())}


# --- exceptions, and objects of classes ---


def _write_error(writer: Writer, value: BaseException) -> Content:
    """Write an exception as its family, the name of its class, its arguments, and its attributes.

    The family is the nearest class that the reader has, too: one of the signature by its name, or one of Python's by
    its name behind a dot. Only the former declares attributes.
    """
    name, signature_names = type(value).__name__, writer.context.names
    family = next(cls for cls in type(value).__mro__ if cls in signature_names or cls in _KNOWN_NAMES)
    members = attributes(value) if family in signature_names else {}
    # An argument may be anything, e.g. a lock, and tests seldom look at it: its type says enough.
    arguments = tuple(arg if type(arg) in _ARGUMENT_TYPES else type_name(arg) for arg in value.args)
    writer.count_bytes(len(name))
    family_name = signature_names[family] if family in signature_names else f".{_KNOWN_NAMES[family]}"
    return [family_name, name, writer.node_numbers((arguments, *members.values())), list(members)]


_ARGUMENT_TYPES = {*_ATOMS, tuple} - {complex}
"""The types of an exception's arguments that are sent."""
MAX_NAME = 200
"""Characters of a name in a message that are used."""


def _make_error(reader: Reader, content: Content) -> BaseException:
    """Make an exception from what `_write_error` returns; it gets a new class if the reader does not have its own."""
    family, name, (arguments_node, *member_nodes), member_names = content
    is_of_python = _text(family).startswith(".")
    cls = KNOWN.get(family[1:]) if is_of_python else reader.context.classes.get(family)
    if not (isinstance(cls, type) and issubclass(cls, BaseException)) or type(reader[arguments_node]) is not tuple:
        raise MalformedError("an invalid exception")
    if _text(name) != cls.__name__:
        cls = type(name[:MAX_NAME], (cls,), {})
    arguments = reader[arguments_node]
    error: BaseException = cls.__new__(cls, *arguments)
    error.args = arguments
    _set_attributes(error, dict(zip(member_names, reader.values(member_nodes), strict=True)))
    return error


def _look_up_class(reader: Reader, name: Content) -> type[Any]:
    cls = reader.context.classes.get(_text(name))
    if cls is None:
        raise MalformedError(f"an object of an unknown class {name[:100]}")
    return cls


def _write_object(writer: Writer, value: Any) -> Content:
    members = attributes(value)
    return [writer.context.names[type(value)], writer.node_numbers(members.values()), list(members)]


def _fill_object(reader: Reader, value: Any, content: Content) -> None:
    _class_name, nodes, names = content
    _set_attributes(value, dict(zip(names, reader.values(nodes), strict=True)))


def _set_attributes(value: Any, members: Mapping[str, Any]) -> None:
    """Set attributes of an object, and remove all others but its `__slots__`. Data must never hide a method."""
    dictionary = getattr(value, "__dict__", None)
    if dictionary is not None:
        for key in [key for key in dictionary if key not in members and not is_reserved(key)]:
            del dictionary[key]
    for key, item in members.items():
        name = _text(key)
        class_member = next((base.__dict__[name] for base in type(value).__mro__ if name in base.__dict__), None)
        if is_reserved(name) or isinstance(class_member, (classmethod, staticmethod, *_FUNCTIONS)):
            raise MalformedError("an attribute that hides a method, or has a reserved name")
        if isinstance(class_member, types.MemberDescriptorType):  # one of its `__slots__`
            class_member.__set__(value, item)
        elif dictionary is not None:
            dictionary[name] = item
        else:
            raise MalformedError("an attribute that its class does not have")


def _write_tree(writer: Writer, value: Any) -> Content:
    """Write an object of a class that the reader does not have as its attributes: tests may read them."""
    cls = type(value)
    if isinstance(value, re.Match):
        members: dict[str, Any] = {"string": value.string, "begin": value.start(), "end": value.end()}
    else:
        members = _class_attributes(cls) | attributes(value)
    return [cls.__name__, writer.node_numbers(members.values()), list(members)]


def _class_attributes(cls: type[Any]) -> dict[str, Any]:
    """Return the plain data among the attributes of a program's class and those above it."""
    members = [
        (name, item) for base in reversed(cls.__mro__) if is_user_class(base) for name, item in vars(base).items()
    ]
    return {name: item for name, item in members if not is_reserved(name) and type(item) in _KINDS_BY_TYPE}


def _make_tree(reader: Reader, content: Content) -> Tree:
    """Make a Tree without its attributes: they are filled later."""
    name, _nodes, _member_names = content
    return object.__new__(type(_text(name)[:MAX_NAME], (Tree,), {}))


def _write_record(writer: Writer, value: Any) -> Content:
    """Write a named tuple as its class, if the reader has it, or the name of its class; its fields; and its items."""
    cls = type(value)
    return [[writer.context.names.get(cls, ""), cls.__name__, *cls._fields], writer.node_numbers(tuple.__iter__(value))]


def _make_record(reader: Reader, content: Content) -> Any:
    """Make a named tuple of its class, or of a new one if the reader does not have it (`known_class` is empty)."""
    (known_class, class_name, *fields), parts = content
    items = reader.values(parts)
    if len(items) != len(fields) or len(set(map(_text, fields))) < len(fields):
        raise MalformedError("a named tuple without all of its fields")
    if known_class:
        cls = _look_up_class(reader, known_class)
    else:
        cls = _record_class(_text(class_name)[:MAX_NAME], tuple(fields))
    if not issubclass(cls, tuple) or len(items) != len(getattr(cls, "_fields", items)):
        raise MalformedError("a named tuple of another class")
    return tuple.__new__(cls, items)


def _record_class(name: str, fields: tuple[str, ...]) -> type[Any]:
    """Return a class of named tuples. `collections.namedtuple` would run the names as code."""
    if any(map(is_reserved, fields)):
        raise MalformedError("a field with a reserved name")
    members: dict[str, Any] = {field: property(operator.itemgetter(at)) for at, field in enumerate(fields)}
    return type(name, (tuple,), members | {"_fields": fields, "__slots__": ()})


def _make_member(reader: Reader, content: Content) -> Any:
    class_name, name = content
    members: Any = vars(_look_up_class(reader, class_name)).get("_member_map_", {})
    return members[_text(name)]


# --- NumPy and pandas ---

_DTYPE = re.compile(r"[<>|=]?[biufcSU][1-9]\d{0,8}")


def _is_numpy_value(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic))


def _write_array(writer: Writer, value: Any) -> Content:
    """Write an array as its type, its shape and its bytes."""
    if not _DTYPE.fullmatch(value.dtype.str):
        raise UnsendableError(f"an array of {str(value.dtype)[:100]}")
    writer.count_bytes(value.nbytes)
    return [value.dtype.str, list(value.shape), base64.b64encode(value.tobytes()).decode()]


def _make_array(reader: Reader, content: Content) -> Any:
    import numpy

    name, shape, data = content
    size = math.prod(map(_integer, shape))
    if any(length < 0 for length in shape) or len(shape) > 32:
        raise MalformedError("an invalid array")
    if not _DTYPE.fullmatch(_text(name)):
        raise MalformedError("an array of no known type")
    dtype, raw = numpy.dtype(name), _make_bytes(reader, data)
    if size * dtype.itemsize != len(raw):
        raise MalformedError("an array of another size")
    return numpy.frombuffer(raw, dtype=dtype).reshape(shape).copy()


def _fill_array(reader: Reader, value: Any, content: Content) -> None:
    value[...] = _make_array(reader, content)


def _write_scalar(writer: Writer, value: Any) -> Content:
    name, _no_shape, data = _write_array(writer, value)
    return [name, data]


def _make_scalar(reader: Reader, content: Content) -> Any:
    name, data = content
    return _make_array(reader, [name, [], data])[()]


def _pandas_kind(cls: type[Any]) -> str | None:
    """Return the kind of a class of pandas; None for any other."""
    pandas = sys.modules.get("pandas")
    if pandas is None or module_of(cls).partition(".")[0] != "pandas":
        return None
    kinds = {pandas.Series: "series", pandas.DataFrame: "frame", pandas.Index: "index", pandas.RangeIndex: "index"}
    return kinds.get(cls)


_COLUMN = re.compile(r"object|str|string|bool(ean)?|[iuIU]?(nt|Int)\d{1,2}|[fF]loat\d{2}|datetime64\[\w{1,2}\]")


def _write_column(writer: Writer, value: Any) -> list[Any]:
    """Return the type and the values of a column or an index; raises UnsendableError."""
    import numpy

    name = str(value.dtype)
    if not _COLUMN.fullmatch(name):
        raise UnsendableError(f"a table with a column of type {name[:100]}")
    is_plain = isinstance(value.dtype, numpy.dtype) and name != "object"
    # A tuple in place of an array of objects, which is filled only after the table is made.
    return [name, writer.node_number(value.to_numpy() if is_plain else tuple(value.astype(object).tolist()))]


def _read_column(reader: Reader, dtype_name: Content, values_node: Content) -> tuple[Any, str]:
    """Return the values and the type of a column or an index; raises MalformedError."""
    import numpy

    values = reader[values_node]
    is_plain = isinstance(values, numpy.ndarray) and values.ndim == 1 and values.dtype.kind != "O"
    if not _COLUMN.fullmatch(_text(dtype_name)) or not (is_plain or type(values) is tuple):
        raise MalformedError("an invalid column")
    return values if is_plain else list(values), dtype_name


def _write_index(writer: Writer, value: Any) -> Content:
    name, values = _write_column(writer, value)
    return [name, [values, writer.node_number(value.name)]]


def _make_index(reader: Reader, content: Content) -> Any:
    import pandas

    dtype_name, (values_node, name_node) = content
    values, dtype = _read_column(reader, dtype_name, values_node)
    return pandas.Index(values, dtype=dtype, name=reader[name_node])


def _write_series(writer: Writer, value: Any) -> Content:
    name, values = _write_column(writer, value)
    return [name, [values, writer.node_number(value.name), writer.node_number(value.index)]]


def _make_series(reader: Reader, content: Content) -> Any:
    import pandas

    dtype_name, (values_node, name_node, index_node) = content
    values, dtype = _read_column(reader, dtype_name, values_node)
    return pandas.Series(values, dtype=dtype, name=reader[name_node], index=_look_up_index(reader, index_node))


def _look_up_index(reader: Reader, number: Any) -> Any:
    import pandas

    if not isinstance(reader[number], pandas.Index):
        raise MalformedError("an invalid index")
    return reader[number]


def _write_frame(writer: Writer, value: Any) -> Content:
    columns = [value.iloc[:, at] for at in range(value.shape[1])]
    return ["", writer.node_numbers([value.index, value.columns, *columns])]


def _make_frame(reader: Reader, content: Content) -> Any:
    import pandas

    _no_type, nodes = content
    index, names = (_look_up_index(reader, number) for number in nodes[:2])
    columns = reader.values(nodes[2:])
    if len(columns) != len(names) or not all(isinstance(column, pandas.Series) for column in columns):
        raise MalformedError("an invalid table")
    # The columns get their names last, because several may have the same one.
    frame = pandas.DataFrame({at: column.array for at, column in enumerate(columns)}, index=index)
    frame.columns = names
    return frame


# --- the table ---


def _context_kind(kind: str) -> Kind:
    """Return a kind whose values only the context knows."""

    def refuse(writer: Writer, value: Any) -> Content:
        raise UnsendableError(type_name(value))

    return Kind(refuse, lambda reader, content: reader.context.value_of(kind, content))


def _second_item(content: Content) -> Sequence[Any]:
    parts: Sequence[Any] = content[1]
    return parts


KINDS: dict[str, Kind] = {
    "none": Kind(lambda w, v: 0, lambda r, c: None),
    "bool": Kind(lambda w, v: int(v), lambda r, c: bool(_integer(c))),
    "int": Kind(_write_int, _make_int),
    "float": Kind(lambda w, v: float.hex(v), _make_float),
    "complex": Kind(
        lambda w, v: [float.hex(v.real), float.hex(v.imag)],
        lambda r, c: complex(_make_float(r, c[0]), _make_float(r, c[1])),
    ),
    "str": Kind(_write_text, lambda r, c: _text(c)),
    "bytes": Kind(_write_bytes, _make_bytes),
    "list": Kind(lambda w, v: w.node_numbers(list.__iter__(v)), lambda r, c: [], _fill_list, list),
    "numbers": Kind(_write_numbers, lambda r, c: [], _fill_numbers),
    "tuple": Kind(lambda w, v: w.node_numbers(tuple.__iter__(v)), lambda r, c: tuple(r.values(c)), parts=list),
    "set": Kind(lambda w, v: w.node_numbers(_ordered_items(v, set)), lambda r, c: set(), _fill_set, list, hashes=True),
    "frozenset": Kind(
        lambda w, v: w.node_numbers(_ordered_items(v, frozenset)), lambda r, c: frozenset(r.values(c)), parts=list
    ),
    "dict": Kind(_pairs, lambda r, c: {}, _fill_dict, list, hashes=True),
    "counter": Kind(_pairs, lambda r, c: collections.Counter(), _fill_dict, list, hashes=True),
    "ordered": Kind(
        lambda w, v: _pairs(w, v, collections.OrderedDict),
        lambda r, c: collections.OrderedDict(),
        lambda r, v, c: (v.clear(), v.update(zip(r.values(c)[::2], r.values(c)[1::2], strict=True))),
        list,
        hashes=True,
    ),
    "default": Kind(_write_default, lambda r, c: collections.defaultdict(), _fill_default, _second_item, hashes=True),
    "view": Kind(_write_view, lambda r, c: _VIEWS[_text(c[0])](r.values(c[1])), parts=_second_item),
    "bytearray": Kind(
        _write_bytes, lambda r, c: bytearray(), lambda r, v, c: v.__setitem__(slice(None), _make_bytes(r, c))
    ),
    "deque": Kind(
        lambda w, v: [v.maxlen, w.node_numbers(v)],
        lambda r, c: collections.deque(maxlen=None if c[0] is None else _integer(c[0])),
        _fill_deque,
        _second_item,
    ),
    "range": Kind(lambda w, v: w.node_numbers((v.start, v.stop, v.step)), lambda r, c: range(*r.values(c)), parts=list),
    "slice": Kind(lambda w, v: w.node_numbers((v.start, v.stop, v.step)), lambda r, c: slice(*r.values(c)), parts=list),
    "decimal": Kind(_write_decimal, lambda r, c: decimal.Decimal(_text(c))),
    "fraction": Kind(
        lambda w, v: w.node_numbers((v.numerator, v.denominator)),
        lambda r, c: fractions.Fraction(*map(_integer, r.values(c))),
        parts=list,
    ),
    "iterator": Kind(
        _write_iterator, lambda r, c: SentIterator([], is_complete=bool(_integer(c[0]))), _fill_iterator, _second_item
    ),
    **{name: _time_kind(name) for name in _TIMES},
    "zone": Kind(lambda w, v: [w.node_number(v.utcoffset(None))], _make_zone, parts=list),
    "array": Kind(_write_array, _make_array, _fill_array),
    "scalar": Kind(_write_scalar, _make_scalar),
    "index": Kind(_write_index, _make_index, parts=_second_item),
    "series": Kind(_write_series, _make_series, parts=_second_item),
    "frame": Kind(_write_frame, _make_frame, parts=_second_item),
    "known": Kind(lambda w, v: _KNOWN_NAMES[v], lambda r, c: KNOWN[_text(c)]),
    "class": Kind(lambda w, v: w.context.names[v], _look_up_class),
    "exception": Kind(_write_error, _make_error, parts=lambda c: c[2]),
    "object": Kind(_write_object, lambda r, c: object.__new__(_look_up_class(r, c[0])), _fill_object, _second_item),
    "member": Kind(lambda w, v: [w.context.names[type(v)], v.name], _make_member),
    "record": Kind(_write_record, _make_record, parts=_second_item),
    "tree": Kind(_write_tree, _make_tree, _fill_object, _second_item),
    "remote": _context_kind("remote"),
    "function": _context_kind("function"),
    "answer": _context_kind("answer"),
}
"""Name -> kind. `remote`: an object that stays with the program. `answer`: what the program answered to an earlier
call.

How many real programs need them, by the answers of 2,340 to HumanEval, HumanEval+, MBPP+ and ClassEval: lists 564 and
of numbers 556, truth 556, floats 328, None 265, functions 247, remote 237, exceptions 119, classes 21, datetime 13, set
12, scalar 12, complex 7, deque 7, decimal 7, known 7, array 6, tree 5, counter 2; texts, integers, tuples and
dictionaries all. Arguments add only `answer`. The other kinds are for programs of other benchmarks; written ones are in
the tests, and each costs its line here.
"""
_KINDS_BY_TYPE: dict[type[Any], str] = {
    type(None): "none", bool: "bool", int: "int", float: "float", complex: "complex", str: "str", bytes: "bytes",
    list: "list", tuple: "tuple", set: "set", frozenset: "frozenset", dict: "dict", collections.Counter: "counter",
    collections.OrderedDict: "ordered", collections.defaultdict: "default", bytearray: "bytearray",
    collections.deque: "deque", range: "range", slice: "slice", decimal.Decimal: "decimal",
    fractions.Fraction: "fraction", SentIterator: "iterator", datetime.timezone: "zone", re.Match: "tree",
    types.SimpleNamespace: "tree",
    **{kind: name for name, (kind, _) in _TIMES.items()},
    **{type(getattr({}, name)()): "view" for name in _VIEWS},
}  # fmt: skip
_BASES = (bool, int, float, complex, str, bytes, tuple, list, set, frozenset, collections.Counter,
          collections.OrderedDict, collections.defaultdict, collections.deque, dict)  # fmt: skip
_COMPARISON_METHODS = ("__eq__", "__ne__", "__lt__", "__hash__")
MUTABLE = {name for name, kind in KINDS.items() if kind.fill is not None}
"""The kinds of values that can change."""
_SHARED_KINDS = (MUTABLE | {"answer"}) - {"iterator"}
"""The kinds of objects that both sides of a call have, so that the reply says how the call left them."""


def kind_of(value: Any, context: Context) -> str:
    """Return the kind of a value; empty if it cannot be serialized."""
    if type(value) not in _ATOMS and (node := context.node_of(value)) is not None:
        return node[0]
    try:
        return _KINDS_BY_TYPE.get(type(value)) or _kind_of_other(value, context)
    except UnsendableError:
        return ""


# --- messages without reading them ---

_ANSWER = re.compile(r'\["answer",(\d+)\]')
"""A reference to an earlier answer. A text cannot contain it, because its quotes would be escaped."""


def references(calls: Iterable[str]) -> list[int]:
    """Return the calls to whose answers other calls refer."""
    return sorted({int(number) for call in calls for number in _ANSWER.findall(call)})


def has_arrays(message: str) -> bool:
    """Whether a message may contain values of NumPy."""
    return any(f'["{kind}",' in message for kind in ("array", "scalar", "series", "frame"))
