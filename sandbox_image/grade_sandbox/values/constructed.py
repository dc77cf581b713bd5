"""The types of the standard library and NumPy whose values are sent as their parts: one record for each.

The node of such a value is `[name, atoms of its parts, ...]`; what follows the parts is plain JSON. A value that can
change is built empty and filled later, because it may contain itself.
"""

from __future__ import annotations

import collections
import datetime
import decimal
import fractions
import itertools
from typing import NamedTuple

from grade_sandbox.values.wire import BUILTIN_TYPES, UncrossableError, module_of, type_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

NUMBER, TEXT, NONE, OTHER = "number", "text", "None", "other"
SEQUENCE, SET, MAPPING, ITERATOR = "sequence", "set", "mapping", "iterator"
ERROR, FUNCTION, OBJECT = "exception", "function", "object"
"""Families of values that are compared with each other, whatever their types are (tests/sameness.py)."""


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


# --- factories of default dictionaries ---

_FACTORIES = {name: BUILTIN_TYPES[name] for name in ("int", "float", "str", "bool", "list", "dict", "set", "tuple")}


def _factory_name(value: collections.defaultdict[Any, Any]) -> str | None:
    """Return the name of a factory. Another one is not sent: only to read a missing key needs it."""
    name = getattr(value.default_factory, "__name__", "")
    return name if _FACTORIES.get(name) is value.default_factory is not None else None


# --- times ---


def _zone(value: Any) -> datetime.tzinfo | None:
    """Return the time zone of a time; only those of the standard library are sent."""
    zone: datetime.tzinfo | None = value.tzinfo
    if zone is not None and name_of(type(zone)) is None:
        raise UncrossableError(f"{type_name(value)} with a time zone")
    return zone


def _with_zone(kind: type[Any]) -> Callable[[list[Any]], Any]:
    return lambda parts: kind.fromisoformat(parts[0]).replace(fold=parts[1], tzinfo=parts[2])


def _place(parts: list[Any]) -> Any:
    import zoneinfo

    return zoneinfo.ZoneInfo(*parts)


TYPES: dict[str, Type] = {
    "list": Type(list, list.copy, list, SEQUENCE, fill=_replace),
    "tuple": Type(tuple, tuple.__iter__, tuple, SEQUENCE),
    "set": Type(set, set.__iter__, set, SET, fill=_refill),
    "frozenset": Type(frozenset, frozenset.__iter__, frozenset, SET),
    "dict": Type(dict, _pairs, dict, MAPPING, fill=_refill_mapping),
    "counter": Type(collections.Counter, _pairs, collections.Counter, MAPPING, "Counter", _refill_mapping),
    "ordered": Type(collections.OrderedDict, _pairs, collections.OrderedDict, MAPPING, "OrderedDict", _refill_mapping),
    "default": Type(
        collections.defaultdict, _pairs, lambda name: collections.defaultdict(name and _FACTORIES[name]), MAPPING,
        "defaultdict", _refill_mapping, lambda v: [_factory_name(v)],
    ),
    "deque": Type(
        collections.deque, collections.deque.__iter__, lambda most: collections.deque(maxlen=most), SEQUENCE,
        fill=_refill, more=lambda v: [v.maxlen],
    ),
    "bytearray": Type(
        bytearray, lambda v: [bytes(v)], bytearray, TEXT, fill=lambda v, parts: v.__setitem__(slice(None), *parts)
    ),
    "keys": Type(type({}.keys()), iter, lambda parts: dict.fromkeys(parts).keys(), SEQUENCE, "dict view"),
    "values": Type(type({}.values()), iter, lambda parts: dict(enumerate(parts)).values(), SEQUENCE, "dict view"),
    "items": Type(type({}.items()), iter, lambda parts: dict(parts).items(), SEQUENCE, "dict view"),
    "range": Type(range, lambda v: (v.start, v.stop, v.step), _spread(range), SEQUENCE),
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
    "zone": Type("zoneinfo.ZoneInfo", lambda v: [v.key], _place, OTHER, "ZoneInfo"),
}  # fmt: skip
"""Name -> how values of the type are sent."""
MUTABLE = {name for name, one in TYPES.items() if one.fill is not None} | {"array", "instance", "tree"}
"""The nodes of values that can change."""
NAMES: dict[Any, str] = {one.kind: name for name, one in TYPES.items()}
"""Type, or its name -> name in the table."""


def name_of(kind: type[Any]) -> str | None:
    """Return the name of exactly this type in the table, or None."""
    return NAMES.get(kind) or NAMES.get(f"{module_of(kind).partition('.')[0]}.{kind.__name__}")
