"""The receiving side of a crossing: the same graph anew, from a table that anybody may have written."""

import base64
import collections
import datetime
import decimal
import enum
import fractions
import operator

from crossing import BUILTIN_TYPES, FACTORIES, MUTABLE, NUMPY_KINDS, EndlessError
from instances import MalformedError, make_builtin_error, make_error, set_attributes

_DATETIME = {
    "datetime": datetime.datetime.fromisoformat,
    "date": datetime.date.fromisoformat,
    "time": datetime.time.fromisoformat,
}
_HASHING = {"frozenset", "view"}


class Decoder:
    """Builds values from a table of nodes. `classes`: name -> class; `known`: the objects of the call answered.

    `mark_array`: makes of an array what is handed out for it. `endless`: told of an EndlessError before it is raised,
    since whoever asked for more may catch it.
    """

    def __init__(self, nodes, classes, known=(), *, mark_array=lambda array: array, endless=lambda error: None):
        if not isinstance(nodes, list):
            raise MalformedError("no table of nodes")
        self.nodes = nodes
        self.classes = classes
        self.known = known
        self.mark_array, self.endless = mark_array, endless
        self.built = [None] * len(nodes)
        self._ready = [False] * len(nodes)

    def decode_all(self):
        """Build every node: empty containers first, then what is immutable, then the contents."""
        try:
            for position, node in enumerate(self.nodes):
                if node[0] in MUTABLE:
                    self.built[position] = self.shell(node)
                    self._ready[position] = True
            for position in range(len(self.nodes)):
                self._immutable(position)
            for wanted in ({"instance"}, {"list", "deque", "array", "bytearray"}, MUTABLE):
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
            return collections.defaultdict(FACTORIES[node[2]] if node[2] is not None else None)
        if kind == "array":
            return self.mark_array(_empty_array(node))
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
            import numpy

            target[...] = numpy.frombuffer(base64.b64decode(data), dtype=dtype).reshape(shape)

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


def _begun(items, end, told):
    yield from items
    if isinstance(end, Exception):
        raise end
    error = EndlessError(f"more than the first {len(items)} items of an iterator that does not end")
    told(error)
    raise error


def _flag(kind, value):
    if not (isinstance(kind, type) and issubclass(kind, enum.Flag) and type(value) is int):
        raise MalformedError("a flag that is none")
    return kind(value)


_PLAIN = {
    "tuple": lambda d, n: tuple(d.values(n[1])),
    "frozenset": lambda d, n: frozenset(d.values(n[1])),
    "iterator": lambda d, n: iter(d.values(n[1])),
    "generator": lambda d, n: (x for x in d.values(n[1])),
    "begun": lambda d, n: _begun(d.values(n[1]), d.value(n[2]), d.endless),
    "view": _view,
    "range": lambda d, n: range(*map(operator.index, d.values(n[1]))),
    "slice": lambda d, n: slice(*d.values(n[1])),
    "timedelta": lambda d, n: datetime.timedelta(*n[1]),
    "decimal": lambda d, n: decimal.Decimal(n[1]),
    "fraction": lambda d, n: fractions.Fraction(*map(int, n[1].split("/"))),
    "type": lambda d, n: BUILTIN_TYPES[n[1]],
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
    if node[0] not in MUTABLE or node[0] != sent[position][0]:
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
    if dtype.kind not in NUMPY_KINDS or dtype.names is not None:
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
