"""The types of the standard library and NumPy whose values are sent as their parts: one record for each.

The node of such a value is `[name, atoms of its parts, ...]`; what follows the parts is plain JSON. A value that can
change is built empty and filled later, because it may contain itself.
"""

from __future__ import annotations

import array
import collections
import contextlib
import datetime
import decimal
import fractions
import importlib
import io
import itertools
import random
import re
import sys
import types
from typing import NamedTuple

from grade_sandbox.values.wire import BUILTIN_TYPES, MalformedError, UncrossableError, module_of, type_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

NUMBER, TEXT, NONE, OTHER = "number", "text", "None", "other"
SEQUENCE, SET, MAPPING, ITERATOR = "sequence", "set", "mapping", "iterator"
ERROR, FUNCTION, OBJECT = "exception", "function", "object"
"""Families of values that are compared with each other, whatever their types are (tests/sameness.py)."""
WRAPPER = "wrapper"
"""Values that are compared as their first part."""


class Type(NamedTuple):
    """How values of one type are sent."""

    kind: type[Any] | str
    """The type; its name where few programs load the module."""
    parts: Callable[[Any], Iterable[Any]]
    """Takes a value apart, by methods that no class of a program overrides."""
    build: Callable[..., Any]
    """Returns a value: of the list of its parts, or an empty one that is filled; the rest of the node follows."""
    family: str
    shown: str = ""
    """The name of the type for people, where the node has another one."""
    fill: Callable[[Any, list[Any]], object] | None = None
    """Replaces the contents of a value that can change."""
    more: Callable[[Any], list[Any]] | None = None
    """Returns the rest of the node."""


def _pairs(mapping: dict[Any, Any]) -> Iterable[Any]:
    return itertools.chain.from_iterable(dict.items(mapping))


def as_mapping(parts: list[Any]) -> dict[Any, Any]:
    """Return a mapping from alternating keys and items."""
    return dict(zip(parts[::2], parts[1::2], strict=True))


def _replace(target: list[Any], parts: list[Any]) -> None:
    target[:] = parts


def _refill(target: Any, parts: list[Any]) -> None:
    target.clear()
    (target.update if isinstance(target, set) else target.extend)(parts)


def _refill_mapping(target: Any, parts: list[Any]) -> None:
    target.clear()
    for key, item in zip(parts[::2], parts[1::2], strict=True):
        target[key] = item


def _spread(make: Callable[..., Any]) -> Callable[[list[Any]], Any]:
    """Return a function that makes a value of a list of arguments."""
    return lambda parts: make(*parts)


def _fill_namespace(target: Any, held: Mapping[Any, Any]) -> None:
    """Fill a SimpleNamespace. Names that Python reserves are refused, because some have a meaning, e.g. for NumPy."""
    if any(not isinstance(name, str) or name.startswith("__") for name in held):
        raise MalformedError("an attribute that is no plain name")
    vars(target).clear()
    vars(target).update(held)


# --- factories of default dictionaries ---

_FACTORIES = {name: BUILTIN_TYPES[name] for name in ("int", "float", "str", "bool", "list", "dict", "set", "tuple")}
_NESTED = "defaultdict of "
"""Begins the name of the factory that creates a `defaultdict` with another factory."""


def _factory_name(value: collections.defaultdict[Any, Any]) -> str | None:
    if value.default_factory is None:
        return None
    name = getattr(value.default_factory, "__name__", "")
    if _FACTORIES.get(name) is value.default_factory:
        return name
    # `lambda: []` is equivalent to `list`; its result shows that.
    with contextlib.suppress(Exception):
        made = value.default_factory()
        for name, kind in _FACTORIES.items():
            if type(made) is kind and made == kind():
                return name
        if type(made) is collections.defaultdict and not made and (inner := _factory_name(made)) is not None:
            return f"{_NESTED}{inner}"
    # The factory is needed only to read a missing key. The existing data is sent, the function is not.
    return None


def _factory(name: str | None) -> Callable[[], Any] | None:
    if name is None or not name.startswith(_NESTED):
        return None if name is None else _FACTORIES[name]
    inner = _factory(name.removeprefix(_NESTED))
    return lambda: collections.defaultdict(inner)


# --- times ---


def _zone(value: Any) -> datetime.tzinfo | None:
    """Return the time zone of a time; only those of the standard library are sent."""
    zone: datetime.tzinfo | None = value.tzinfo
    if zone is not None and name_of(type(zone)) is None:
        raise UncrossableError(f"{type_name(value)} with a time zone")
    return zone


def _with_zone(kind: type[Any]) -> Callable[[list[Any]], Any]:
    return lambda parts: kind.fromisoformat(parts[0]).replace(fold=parts[1], tzinfo=parts[2])


# --- others that take more than an expression ---


def _named(module: str, name: str) -> Callable[[list[Any]], Any]:
    """Return a function that makes a value with a class or function of a module that few programs load."""
    return lambda parts: getattr(importlib.import_module(module), name)(*parts)


def _stream_parts(stream: io.StringIO) -> tuple[str, int]:
    return ("", 0) if stream.closed else (stream.getvalue(), stream.tell())


def _write(stream: io.StringIO, parts: list[Any]) -> None:
    stream.seek(0)
    stream.truncate()
    stream.write(parts[0])
    stream.seek(parts[1])


def _bytes_of(view: memoryview[Any]) -> tuple[str, bytes]:
    if view.ndim != 1:
        raise UncrossableError(type_name(view))
    return view.format, view.tobytes()


def _match_parts(found: re.Match[Any]) -> tuple[Any, ...]:
    spans = tuple(found.span(number) for number in range(len(found.groups()) + 1))
    return (found.group(), *found.groups()), spans, dict(found.re.groupindex), found.string


class Match:
    """The result of matching a regular expression."""

    def __init__(self, found: Sequence[Any], spans: Sequence[Any], names: Mapping[Any, Any], string: Any) -> None:
        if len(found) != len(spans) or not all(len(span) == 2 for span in spans):
            raise MalformedError("a match without groups")
        self._found, self._names = found, names
        self._spans = [tuple(map(int, span)) for span in spans]
        self.string = string

    def __bool__(self) -> bool:
        return True

    def _one(self, key: Any) -> int:
        number = self._names.get(key, key) if isinstance(key, str) else key
        if not isinstance(number, int) or not 0 <= number < len(self._found):
            raise IndexError("no such group")
        return number

    def group(self, *keys: Any) -> Any:
        """Return one group, or a tuple of several."""
        found = tuple(self._found[self._one(key)] for key in keys or (0,))
        return found[0] if len(found) == 1 else found

    def groups(self, default: Any = None) -> tuple[Any, ...]:
        """Return all groups except the first."""
        return tuple(default if text is None else text for text in self._found[1:])

    def groupdict(self, default: Any = None) -> dict[Any, Any]:
        """Return the named groups."""
        return {name: default if (text := self.group(name)) is None else text for name in self._names}

    def span(self, key: Any = 0) -> tuple[int, ...]:
        """Return the start and end of a group."""
        return self._spans[self._one(key)]

    def start(self, key: Any = 0) -> int:
        """Return the start of a group."""
        return self.span(key)[0]

    def end(self, key: Any = 0) -> int:
        """Return the end of a group."""
        return self.span(key)[1]

    __getitem__ = group


def _random_parts(generator: random.Random) -> tuple[Any, ...]:
    version, state, gauss = generator.getstate()
    return version, *state, gauss


_PCG64 = ("state", "inc"), ("has_uint32", "uinteger")


def _generator_parts(generator: Any) -> list[Any]:
    state = generator.bit_generator.state
    if state["bit_generator"] != "PCG64":
        raise UncrossableError(type_name(generator))
    return [*(state["state"][name] for name in _PCG64[0]), *(state[name] for name in _PCG64[1])]


def _set_generator(generator: Any, parts: list[Any]) -> None:
    inner, rest = (dict(zip(names, parts[at:], strict=False)) for names, at in zip(_PCG64, (0, 2), strict=True))
    generator.bit_generator.state = {"bit_generator": "PCG64", "state": inner, **rest}


def _masked_parts(value: Any) -> tuple[Any, Any]:
    numpy = sys.modules["numpy"]
    return numpy.array(value.data), numpy.array(numpy.ma.getmaskarray(value))


def _masked(data: Any, mask: Any) -> Any:
    import numpy

    if type(data) is not numpy.ndarray or type(mask) is not numpy.ndarray:
        raise MalformedError("a masked array of something else")
    return numpy.ma.MaskedArray(data, mask)


MAPPINGS = (dict, collections.Counter, collections.OrderedDict, collections.defaultdict)


def _only(kinds: tuple[type[Any], ...], value: Any) -> Any:
    """Return a value of exactly one of these types; raises MalformedError."""
    if type(value) not in kinds:
        raise MalformedError("a wrapper of something else")
    return value


def _wrapper(kind: Any, *of: type[Any]) -> Callable[[list[Any]], Any]:
    """Return a function that makes a UserList, UserDict or UserString around its data."""

    def wrap(parts: list[Any]) -> Any:
        made = kind.__new__(kind)
        made.data = _only(of, *parts)
        return made

    return wrap


TYPES: dict[str, Type] = {
    "list": Type(list, list.copy, list, SEQUENCE, fill=_replace),
    "tuple": Type(tuple, tuple.__iter__, tuple, SEQUENCE),
    "set": Type(set, set.__iter__, set, SET, fill=_refill),
    "frozenset": Type(frozenset, frozenset.__iter__, frozenset, SET),
    "dict": Type(dict, _pairs, dict, MAPPING, fill=_refill_mapping),
    "counter": Type(collections.Counter, _pairs, collections.Counter, MAPPING, "Counter", _refill_mapping),
    "ordered": Type(collections.OrderedDict, _pairs, collections.OrderedDict, MAPPING, "OrderedDict", _refill_mapping),
    "default": Type(
        collections.defaultdict, _pairs, lambda name: collections.defaultdict(_factory(name)), MAPPING, "defaultdict",
        _refill_mapping, lambda v: [_factory_name(v)],
    ),
    "deque": Type(
        collections.deque, collections.deque.__iter__, lambda most: collections.deque(maxlen=most), SEQUENCE,
        fill=_refill, more=lambda v: [v.maxlen],
    ),
    "bytearray": Type(
        bytearray, lambda v: [bytes(v)], bytearray, TEXT, fill=lambda v, parts: v.__setitem__(slice(None), *parts)
    ),
    "stringio": Type(io.StringIO, _stream_parts, io.StringIO, OTHER, "StringIO", _write),
    "random": Type(
        random.Random, _random_parts, random.Random, OTHER,
        fill=lambda v, parts: v.setstate((parts[0], tuple(parts[1:-1]), parts[-1])),
    ),
    "generator of numbers": Type(
        "numpy.Generator", _generator_parts, lambda: importlib.import_module("numpy.random").default_rng(), OTHER,
        fill=_set_generator,
    ),
    "namespace": Type(
        types.SimpleNamespace, lambda v: _pairs(vars(v)), types.SimpleNamespace, OBJECT,
        fill=lambda v, parts: _fill_namespace(v, as_mapping(parts)),
    ),
    "keys": Type(type({}.keys()), iter, lambda parts: dict.fromkeys(parts).keys(), SEQUENCE, "dict view"),
    "values": Type(type({}.values()), iter, lambda parts: dict(enumerate(parts)).values(), SEQUENCE, "dict view"),
    "items": Type(type({}.items()), iter, lambda parts: dict(parts).items(), SEQUENCE, "dict view"),
    "range": Type(range, lambda v: (v.start, v.stop, v.step), _spread(range), SEQUENCE),
    "slice": Type(slice, lambda v: (v.start, v.stop, v.step), _spread(slice), OTHER),
    "array.array": Type(array.array, lambda v: (v.typecode, v.tobytes()), _spread(array.array), SEQUENCE),
    "memoryview": Type(
        memoryview, _bytes_of, lambda parts: memoryview(_only((bytes,), parts[1])).cast(parts[0]), SEQUENCE
    ),
    "masked": Type("numpy.MaskedArray", _masked_parts, _spread(_masked), SEQUENCE),
    "masked constant": Type(
        "numpy.MaskedConstant", lambda v: (), lambda parts: importlib.import_module("numpy.ma").masked, OTHER
    ),
    "decimal": Type(decimal.Decimal, lambda v: [decimal.Decimal.__str__(v)], _spread(decimal.Decimal), NUMBER),
    "fraction": Type(
        # `Fraction("1e999999999")` would compute this power.
        fractions.Fraction, lambda v: (v.numerator, v.denominator),
        lambda parts: fractions.Fraction(*map(int, parts)), NUMBER,
    ),
    "date": Type(datetime.date, lambda v: [v.isoformat()], _spread(datetime.date.fromisoformat), TEXT),
    "time": Type(datetime.time, lambda v: (v.isoformat(), v.fold, _zone(v)), _with_zone(datetime.time), TEXT),
    "datetime": Type(
        datetime.datetime, lambda v: (v.isoformat(), v.fold, _zone(v)), _with_zone(datetime.datetime), TEXT
    ),
    "timedelta": Type(
        datetime.timedelta, lambda v: (v.days, v.seconds, v.microseconds), _spread(datetime.timedelta), OTHER
    ),
    "timezone": Type(
        datetime.timezone, lambda v: v.__getinitargs__(), _spread(datetime.timezone), OTHER
    ),
    "zone": Type("zoneinfo.ZoneInfo", lambda v: [v.key], _named("zoneinfo", "ZoneInfo"), OTHER, "ZoneInfo"),
    "PosixPath": Type("pathlib.PosixPath", lambda v: [str(v)], _named("pathlib", "PosixPath"), WRAPPER),
    "PurePosixPath": Type("pathlib.PurePosixPath", lambda v: [str(v)], _named("pathlib", "PurePosixPath"), WRAPPER),
    "userlist": Type(collections.UserList, lambda v: [v.data], _wrapper(collections.UserList, list), WRAPPER),
    "userdict": Type(collections.UserDict, lambda v: [v.data], _wrapper(collections.UserDict, *MAPPINGS), WRAPPER),
    "userstring": Type(collections.UserString, lambda v: [v.data], _wrapper(collections.UserString, str), WRAPPER),
    "mappingproxy": Type(
        types.MappingProxyType, lambda v: [dict(v)],
        lambda parts: types.MappingProxyType(_only(MAPPINGS, *parts)), WRAPPER,
    ),
    "chainmap": Type(
        collections.ChainMap, lambda v: v.maps,
        lambda parts: collections.ChainMap(*(_only(MAPPINGS, part) for part in parts)), MAPPING, "ChainMap",
    ),
    "match": Type(re.Match, _match_parts, _spread(Match), OTHER),
    "ellipsis": Type(type(...), lambda v: (), lambda parts: ..., OTHER),
    "notimplemented": Type(type(NotImplemented), lambda v: (), lambda parts: NotImplemented, OTHER),
}  # fmt: skip
"""Name -> how values of the type are sent."""
MUTABLE = {name for name, one in TYPES.items() if one.fill is not None} | {"array", "instance", "tree"}
"""The nodes of values that can change."""
NAMES: dict[Any, str] = {one.kind: name for name, one in TYPES.items()}
"""Type, or its name -> name in the table."""


def name_of(kind: type[Any]) -> str | None:
    """Return the name of exactly this type in the table, or None."""
    return NAMES.get(kind) or NAMES.get(f"{module_of(kind).partition('.')[0]}.{kind.__name__}")
