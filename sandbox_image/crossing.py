"""How values cross between a candidate and its tests: plain data only, exact types, never unpickled.

The sending side turns a graph of objects into a table of nodes that JSON can hold; the receiving side builds the same
graph anew. Aliases and cycles survive. Objects that came with a call keep their identity: the answer refers to them,
and carries the new contents of those that the call changed.

An atom is what JSON has (None, bool, int, float, str) or a list: ``["i", hex]`` a long integer, ``["c", re, im]`` a
complex, ``["s", codes]`` a text that JSON would change, ``["b", text]`` bytes, ``["r", n]`` node n of this table,
``["a", n]`` node n of the call being answered.
A node is ``[kind, payload...]``.
"""

import base64
import builtins
import collections
import datetime
import decimal
import enum
import fractions
import itertools
import json
import operator
import re
import time
import types

from instances import (
    MalformedError,
    UncrossableError,
    attributes,
    make_builtin_error,
    make_error,
    set_attributes,
)

MAX_BYTES = 32 << 20
MAX_NODES = 2_000_000
MAX_ITERATOR_ITEMS, MAX_ITERATOR_SECONDS = 100_000, 0.3
ENDLESS_ITEMS = 1000
_SMALL = 1 << 63
_SURROGATE_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")

_DATETIME = {
    "datetime": datetime.datetime.fromisoformat,
    "date": datetime.date.fromisoformat,
    "time": datetime.time.fromisoformat,
}
_TEXTUAL = {
    decimal.Decimal: ("decimal", str),
    fractions.Fraction: ("fraction", lambda x: f"{x.numerator}/{x.denominator}"),
    datetime.datetime: ("datetime", lambda x: x.isoformat()),
    datetime.date: ("date", lambda x: x.isoformat()),
    datetime.time: ("time", lambda x: x.isoformat()),
}
_ITERATORS = (
    types.GeneratorType,
    map,
    filter,
    zip,
    enumerate,
    reversed,
    itertools.chain,
    itertools.islice,
    itertools.accumulate,
    itertools.combinations,
    itertools.permutations,
    itertools.product,
    itertools.takewhile,
    itertools.dropwhile,
    itertools.starmap,
    itertools.zip_longest,
    itertools.pairwise,
    itertools.compress,
    itertools.filterfalse,
    *(
        type(iter(x))
        for x in (
            [],
            (),
            set(),
            {},
            "",
            "\u00e9",
            b"",
            bytearray(),
            range(0),
            range(1 << 70),
            {}.values(),
            {}.items(),
            collections.deque(),
        )
    ),
    *(type(reversed(x)) for x in ([], {}, {}.values(), {}.items(), range(1), collections.deque())),
)
_VIEWS = {type({}.keys()): "keys", type({}.values()): "values", type({}.items()): "items"}
_BUILTIN_TYPES = {
    t.__name__: t
    for t in (int, float, str, bool, list, dict, set, tuple, frozenset, bytes, complex, type(None), object, range)
}
_FACTORIES = {name: _BUILTIN_TYPES[name] for name in ("int", "float", "str", "bool", "list", "dict", "set", "tuple")}
_MUTABLE = {"list", "dict", "set", "deque", "counter", "ordered", "default", "bytearray", "array", "instance"}
_HASHING = {"frozenset", "view"}
_NUMPY_KINDS = "biufcSUMm"


class EndlessError(BaseException):
    """More was asked of an iterator than the other side could send; the text says how much it did."""


def _numpy():
    import sys

    return sys.modules.get("numpy")


def type_name(value):
    """Name a type for people: `module.Name` without `builtins`."""
    kind = type(value)
    module = kind.__module__
    return kind.__qualname__ if module in {"builtins", None} else f"{module}.{kind.__qualname__}"


class Encoder:
    """Turns values into atoms and a table of nodes. `classes`: type -> name of the signature's classes."""

    def __init__(self, classes, known=()):
        self.classes = classes
        self.nodes = []
        self._index = {}
        self._alive = []  # objects stay alive while their id() is in the index
        self._pending = collections.deque()
        for position, value in enumerate(known):
            self._index[id(value)] = ["a", position]

    def encode(self, value):
        """Return the atom for `value`; its nodes are in `self.nodes` afterwards."""
        atom = self.atom(value)
        while self._pending:
            position, item = self._pending.popleft()
            self.nodes[position] = self.node(item)
        return atom

    def atom(self, value):
        kind = type(value)
        if value is None or kind is bool or kind is float:
            return value
        if kind is str:
            # JSON reads a pair of lone surrogates as one character.
            return ["s", [ord(c) for c in value]] if _SURROGATE_PAIR.search(value) else value
        if kind is int:
            return value if -_SMALL < value < _SMALL else ["i", hex(value)]
        if kind is complex:
            return ["c", value.real, value.imag]
        if kind is bytes:
            return ["b", value.decode("latin-1")]
        if id(value) in self._index:
            return self._index[id(value)]
        if len(self.nodes) >= MAX_NODES:
            raise UncrossableError("a value of too many parts")
        reference = ["r", len(self.nodes)]
        self.nodes.append(None)
        self._alive.append(value)
        self._index[id(value)] = reference
        self._pending.append((reference[1], value))
        return reference

    def node(self, value):
        """Return the node for one object, its children as atoms."""
        kind = type(value)
        make = _NODES.get(kind)
        if make is not None:
            return make(self, value)
        if kind in self.classes:
            return self._instance(value, self.classes[kind])
        if kind in _TEXTUAL:
            name, text = _TEXTUAL[kind]
            if name in {"datetime", "time"} and not _plain_zone(value.tzinfo):
                raise UncrossableError(f"{type_name(value)} with a time zone")
            return [name, text(value)]
        if kind in _ITERATORS:
            return self._iterator(value)
        if kind in _VIEWS:
            return ["view", _VIEWS[kind], self.atoms(value)]
        if kind is type and _BUILTIN_TYPES.get(value.__name__) is value:
            return ["type", value.__name__]
        if isinstance(value, BaseException):
            return self.exception(value)
        numpy = _numpy()
        if numpy is not None and kind is numpy.ndarray:
            return self._array(numpy, value)
        if numpy is not None and isinstance(value, numpy.generic) and kind.__module__ == "numpy":
            return self._scalar(value)
        raise UncrossableError(type_name(value))

    def atoms(self, values):
        return [self.atom(value) for value in values]

    def pairs(self, mapping):
        return [[self.atom(key), self.atom(item)] for key, item in mapping.items()]

    def exception(self, error):
        """Exceptions cross as the nearest class that the other side has: the signature's, or a built-in one."""
        for kind in type(error).__mro__:
            if kind in self.classes:
                own = [[key, self.atom(item)] for key, item in attributes(error).items()]
                return ["error", self.classes[kind], self.atoms(error.args), own]
            if getattr(builtins, kind.__name__, None) is kind:
                break
        arguments = [a for a in error.args if a is None or type(a) in {bool, int, float, str}]
        return ["exception", kind.__name__, arguments]

    def _iterator(self, value):
        """All that an iterator gives; of one that does not end, the beginning, and of one that fails, its exception."""
        items, end = [], None
        limit = time.process_time() + MAX_ITERATOR_SECONDS
        try:
            for item in value:
                items.append(item)
                if len(items) > MAX_ITERATOR_ITEMS or (len(items) > ENDLESS_ITEMS and time.process_time() > limit):
                    del items[ENDLESS_ITEMS:]
                    return ["begun", self.atoms(items), None]
        except Exception as error:
            end = error
        if end is not None:
            return ["begun", self.atoms(items), self.atom(end)]
        return ["generator" if type(value) is types.GeneratorType else "iterator", self.atoms(items)]

    def _array(self, numpy, value):
        if value.dtype == object:
            return ["array", "O", list(value.shape), self.atoms(value.ravel().tolist())]
        if value.dtype.kind not in _NUMPY_KINDS:
            raise UncrossableError(f"array of {value.dtype}")
        data = base64.b64encode(numpy.ascontiguousarray(value).tobytes()).decode()
        return ["array", value.dtype.str, list(value.shape), data]

    def _scalar(self, value):
        if value.dtype.kind not in _NUMPY_KINDS:
            raise UncrossableError(f"scalar of {value.dtype}")
        return ["scalar", value.dtype.str, base64.b64encode(value.tobytes()).decode()]

    def _instance(self, value, name):
        if isinstance(value, enum.Flag):
            return ["flag", name, value.value]
        if isinstance(value, enum.Enum):
            return ["enum", name, value.name]
        if isinstance(value, tuple):
            return ["named", name, self.atoms(tuple(value))]
        if isinstance(value, BaseException):
            return self.exception(value)
        if isinstance(value, (list, dict, set, str, int, float, bytes)):
            raise UncrossableError(type_name(value))
        return ["instance", name, [[key, self.atom(item)] for key, item in attributes(value).items()]]


_NODES = {
    list: lambda e, v: ["list", e.atoms(v)],
    tuple: lambda e, v: ["tuple", e.atoms(v)],
    set: lambda e, v: ["set", e.atoms(v)],
    frozenset: lambda e, v: ["frozenset", e.atoms(v)],
    dict: lambda e, v: ["dict", e.pairs(v)],
    collections.deque: lambda e, v: ["deque", e.atoms(v), v.maxlen],
    collections.Counter: lambda e, v: ["counter", e.pairs(v)],
    collections.OrderedDict: lambda e, v: ["ordered", e.pairs(v)],
    collections.defaultdict: lambda e, v: ["default", e.pairs(v), _factory(v)],
    bytearray: lambda e, v: ["bytearray", bytes(v).decode("latin-1")],
    range: lambda e, v: ["range", e.atoms((v.start, v.stop, v.step))],
    slice: lambda e, v: ["slice", e.atoms((v.start, v.stop, v.step))],
    datetime.timedelta: lambda e, v: ["timedelta", [v.days, v.seconds, v.microseconds]],
    type(...): lambda e, v: ["ellipsis"],
    type(NotImplemented): lambda e, v: ["notimplemented"],
}


def _plain_zone(zone):
    """Whether a time zone is all in the text of a time: an offset, without a name of its own."""
    if zone is None:
        return True
    return type(zone) is datetime.timezone and zone.tzname(None) == datetime.timezone(zone.utcoffset(None)).tzname(None)


def _factory(value):
    if value.default_factory is None:
        return None
    name = getattr(value.default_factory, "__name__", "")
    if _FACTORIES.get(name) is value.default_factory:
        return name
    # Reading a missing key is all the factory is for; the data that is there crosses, the function does not.
    return None


class Decoder:
    """Builds values from a table of nodes. `classes`: name -> class; `known`: the objects of the call answered."""

    def __init__(self, nodes, classes, known=()):
        if not isinstance(nodes, list):
            raise MalformedError("no table of nodes")
        self.nodes = nodes
        self.classes = classes
        self.known = known
        self.built = [None] * len(nodes)
        self._ready = [False] * len(nodes)

    def decode_all(self):
        """Build every node: empty containers first, then what is immutable, then the contents."""
        try:
            for position, node in enumerate(self.nodes):
                if node[0] in _MUTABLE:
                    self.built[position] = self.shell(node)
                    self._ready[position] = True
            for position in range(len(self.nodes)):
                self._immutable(position)
            for wanted in ({"instance"}, {"list", "deque", "array", "bytearray"}, _MUTABLE):
                for position, node in enumerate(self.nodes):
                    if node[0] in wanted and self._ready[position] is True:
                        self.fill(self.built[position], node)
                        self._ready[position] = "filled"
        except (TypeError, ValueError, KeyError, IndexError, AttributeError, OverflowError, ArithmeticError) as error:
            raise MalformedError(f"{type(error).__name__}: {str(error)[:200]}") from None

    def value(self, atom):
        """Return the value of an atom, once `decode_all` is done (or of parts already built)."""
        if atom is None or isinstance(atom, (bool, int, float, str)):
            return atom
        tag = atom[0]
        if tag in {"r", "a"} and not (type(atom[1]) is int and atom[1] >= 0):
            raise MalformedError("a reference that is none")
        if tag == "r":
            if not self._ready[atom[1]]:
                raise MalformedError("an immutable value that contains itself")
            return self.built[atom[1]]
        if tag == "a":
            return self.known[atom[1]]
        if tag == "s":
            return "".join(map(chr, atom[1]))
        if tag == "i":
            return int(atom[1], 16)
        if tag == "c":
            return complex(atom[1], atom[2])
        if tag == "b":
            return atom[1].encode("latin-1")
        raise MalformedError(f"unknown atom {str(tag)[:20]!r}")

    def _immutable(self, start):
        """Build node `start` and, before it, the immutable nodes it holds; a stack stands in for recursion."""
        stack = [start]
        entered = set()
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

    def _held(self, start):
        """Positions of all that node `start` holds, at any depth."""
        found, stack = set(), [start]
        while stack:
            new = [p for p in _references(self.nodes[stack.pop()]) if p not in found]
            found.update(new)
            stack.extend(new)
        return found

    def _fill_instances(self, positions):
        """Give instances their attributes before a set that can not be filled later asks for their hashes."""
        for position in positions:
            node = self.nodes[position]
            if node[0] == "instance" and all(self._ready[p] for p in _references(node)):
                self.fill(self.built[position], node)

    def pairs(self, atoms):
        return {key: self.value(atom) for key, atom in atoms}

    def values(self, atoms):
        return [self.value(atom) for atom in atoms]

    def shell(self, node):
        """Return an empty object of a mutable kind."""
        kind = node[0]
        if kind == "deque":
            return collections.deque(maxlen=node[2])
        if kind == "default":
            return collections.defaultdict(_FACTORIES[node[2]] if node[2] is not None else None)
        if kind == "array":
            return _empty_array(node)
        if kind == "instance":
            return object.__new__(_plain_class(self.classes[node[1]]))
        return _SHELLS[kind]()

    def fill(self, target, node):
        """Give a mutable object the contents of `node`, replacing those it has."""
        kind = node[0]
        if kind in {"list", "deque"}:
            target.clear()
            target.extend(self.values(node[1]))
        elif kind in {"dict", "counter", "ordered", "default"}:
            pairs = [(self.value(key), self.value(item)) for key, item in node[1]]
            target.clear()
            for key, item in pairs:
                target[key] = item
        elif kind == "set":
            items = self.values(node[1])
            target.clear()
            target.update(items)
        elif kind == "bytearray":
            target[:] = node[1].encode("latin-1")
        elif kind == "array":
            self._fill_array(target, node)
        elif kind == "instance":
            set_attributes(target, self.pairs(node[2]))

    def _fill_array(self, target, node):
        _, dtype, shape, data = node
        if list(target.shape) != shape or target.dtype.str.lstrip("|") != dtype.lstrip("|"):
            raise MalformedError("an array changed its shape or type in place")
        if dtype == "O":
            flat = target.reshape(-1)
            for position, atom in enumerate(data):
                flat[position] = self.value(atom)
            target[...] = flat.reshape(target.shape)
        elif target.flags.writeable:
            target[...] = _numpy().frombuffer(base64.b64decode(data), dtype=dtype).reshape(shape)

    def immutable(self, node):
        """Return the value of an immutable node whose parts are built."""
        kind = node[0]
        if kind in _PLAIN:
            return _PLAIN[kind](self, node)
        if kind in _DATETIME:
            return _DATETIME[kind](node[1])
        if kind == "enum":
            return self.classes[node[1]][node[2]]
        if kind == "flag":
            return _flag(self.classes[node[1]], node[2])
        if kind == "error":
            return make_error(self.classes[node[1]], self.values(node[2]), self.pairs(node[3]))
        if kind == "named":
            return tuple.__new__(self.classes[node[1]], self.values(node[2]))
        if kind == "scalar":
            return _scalar(node)
        if kind == "exception":
            return make_builtin_error(node[1], node[2])
        raise MalformedError(f"unknown kind {str(kind)[:20]!r}")


def _view(decoder, node):
    items = decoder.values(node[2])
    if node[1] == "items":
        return dict(items).items()
    if node[1] == "keys":
        return dict.fromkeys(items).keys()
    return dict(enumerate(items)).values()


def _begun(items, end):
    yield from items
    if isinstance(end, Exception):
        raise end
    raise EndlessError(f"more than the first {len(items)} items of an iterator that does not end")


def _flag(kind, value):
    if not (isinstance(kind, type) and issubclass(kind, enum.Flag) and type(value) is int):
        raise MalformedError("a flag that is none")
    return kind(value)


_PLAIN = {
    "tuple": lambda d, n: tuple(d.values(n[1])),
    "frozenset": lambda d, n: frozenset(d.values(n[1])),
    "iterator": lambda d, n: iter(d.values(n[1])),
    "generator": lambda d, n: (x for x in d.values(n[1])),
    "begun": lambda d, n: _begun(d.values(n[1]), d.value(n[2])),
    "view": _view,
    "range": lambda d, n: range(*map(operator.index, d.values(n[1]))),
    "slice": lambda d, n: slice(*d.values(n[1])),
    "timedelta": lambda d, n: datetime.timedelta(*n[1]),
    "decimal": lambda d, n: decimal.Decimal(n[1]),
    "fraction": lambda d, n: fractions.Fraction(*map(int, n[1].split("/"))),
    "type": lambda d, n: _BUILTIN_TYPES[n[1]],
    "ellipsis": lambda d, n: ...,
    "notimplemented": lambda d, n: NotImplemented,
}
_SHELLS = {
    "list": list,
    "dict": dict,
    "set": set,
    "counter": collections.Counter,
    "ordered": collections.OrderedDict,
    "bytearray": bytearray,
}


_NOT_PLAIN = (enum.Enum, BaseException, tuple, list, dict, set, frozenset, str, int, float, bytes)


def _plain_class(kind):
    if not isinstance(kind, type) or issubclass(kind, _NOT_PLAIN):
        raise MalformedError("an instance of a class that has none of this kind")
    return kind


def check_change(sent, position, node, known):
    """Raise MalformedError unless `node` may be the new content of object `position` of the call."""
    if not (type(position) is int and 0 <= position < len(sent) and isinstance(node, list) and node):
        raise MalformedError("a change of nothing")
    if node[0] not in _MUTABLE or node[0] != sent[position][0]:
        raise MalformedError("a change of what an object is")
    parameters = getattr(type(known[position]), "__dataclass_params__", None)
    if node[0] == "instance" and (node[1] != sent[position][1] or (parameters is not None and parameters.frozen)):
        raise MalformedError("a change of an instance that does not change")


def _references(node):
    """Positions of the nodes that a node's own atoms name."""
    found = []
    stack = [part for part in node[1:] if isinstance(part, list)]
    while stack:
        part = stack.pop()
        if len(part) == 2 and part[0] == "r" and type(part[1]) is int:
            if part[1] < 0:
                raise MalformedError("a negative reference")
            found.append(part[1])
        else:
            stack.extend(p for p in part if isinstance(p, list))
    return found


def _dtype(numpy, text):
    dtype = numpy.dtype(text)
    if dtype.kind not in _NUMPY_KINDS or dtype.names is not None:
        raise MalformedError("an array of a type that may not cross")
    return dtype


def _shape(node):
    if not all(type(n) is int and n >= 0 for n in node[2]) or len(node[2]) > 32:
        raise MalformedError("an array without a shape")
    return node[2]


def _empty_array(node):
    import numpy

    size = 1
    for length in _shape(node):
        size *= length
    if node[1] == "O":
        if size != len(node[3]):
            raise MalformedError("an array whose data does not fit its shape")
        return numpy.empty(node[2], dtype=object)
    dtype = _dtype(numpy, node[1])
    if size * dtype.itemsize != len(base64.b64decode(node[3], validate=True)):
        raise MalformedError("an array whose data does not fit its shape")
    return numpy.empty(node[2], dtype=dtype)


def _scalar(node):
    import numpy

    dtype = _dtype(numpy, node[1])
    if not dtype.itemsize:
        return dtype.type()
    return numpy.frombuffer(base64.b64decode(node[2], validate=True), dtype=dtype, count=1)[0]


def dumps(message):
    """Return the bytes of a message; raises UncrossableError where it is too large."""
    data = json.dumps(message, separators=(",", ":")).encode()
    if len(data) > MAX_BYTES:
        raise UncrossableError(f"a value of more than {MAX_BYTES >> 20} MB")
    return data


def loads(data):
    """Return a message; raises MalformedError."""
    try:
        message = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise MalformedError(str(error)[:200]) from None
    if not isinstance(message, dict):
        raise MalformedError("not a message")
    return message
