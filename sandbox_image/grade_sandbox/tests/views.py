"""What a value is: its family, and its parts. Answers are compared part by part, and a part is replaced by its steps.

All values here were built from a program's messages, so they are plain data of exact types (receiving.py).
"""

from __future__ import annotations

import collections
import copy
import decimal
import enum
import math
import sys
from typing import NamedTuple

from grade_sandbox.values import constructed, remote_objects, standing_in
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
)
from grade_sandbox.values.instances import attributes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    Step = tuple[str, Any]
    """How a part is reached: `at` a position in a tuple, `item` in another sequence, `key`, or `attribute`."""

CONTAINERS = {SEQUENCE, SET, MAPPING, ITERATOR}
MAX_RANGE = 100_000
MAX_EVERY = 100_000


class View(NamedTuple):
    """What a value is. `value`: a number, a text, or the contents of another value without parts.

    `parts`: the items, or the values of a mapping, whose keys are then in `keys`; `name`: the type.
    """

    it: Any
    family: str
    name: str
    value: Any = None
    parts: Sequence[Any] = ()
    keys: Sequence[Any] = ()

    @property
    def shown(self) -> str:
        """The type as people know it."""
        if self.name in {"remote", "enum"}:
            return str(type(self.it).__name__)
        if self.family == OBJECT:
            return str(self.value)
        known = TYPES.get(self.name)
        return known.shown or self.name if known is not None else self.name


def view(value: Any) -> View:
    """Return what a value is."""
    kind = type(value)
    family = _ATOMS.get(kind)
    if family is not None:
        return View(value, family, kind.__name__, value)
    if remote_objects.is_object(value) or remote_objects.is_class(value):
        return View(value, OTHER, "remote", value.__name__ if remote_objects.is_class(value) else kind.__name__)
    name = constructed.name_of(kind)
    if name is not None:
        return _of_type(value, name)
    if kind is standing_in.Iterated:
        return View(value, ITERATOR, "iterator", parts=value.items)
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
        return _of_numpy(numpy, value)
    return _other(value, kind)


def _other(value: Any, kind: type[Any]) -> View:
    if isinstance(value, tuple):
        return View(value, SEQUENCE, "named tuple", parts=value)
    if isinstance(value, enum.Enum):
        return View(value, OTHER, "enum", value)
    if isinstance(value, BaseException):
        return View(value, ERROR, "exception", kind.__name__, parts=value.args)
    if isinstance(value, type):
        return View(value, FUNCTION, "type", value.__name__)
    if callable(value) and not isinstance(value, standing_in.Tree):
        return View(value, FUNCTION, "function", f"<function {getattr(value, '__name__', '')}>")
    if hasattr(kind, "__next__"):
        return View(value, OTHER, kind.__name__, str(kind))
    name = "tree" if isinstance(value, standing_in.Tree) else "instance"
    held = attributes(value)
    return View(value, OBJECT, name, kind.__name__, [*held.values()], [*held])


def _of_type(value: Any, name: str) -> View:
    """Return what a value of a type in the table is."""
    family = TYPES[name].family
    if family == NUMBER:
        return View(value, family, name, value)
    if family == TEXT:
        return View(value, family, name, next(iter(TYPES[name].parts(value))))
    if family == MAPPING:
        flat = [*TYPES[name].parts(value)]
        return View(value, family, name, name, flat[1::2], flat[::2])
    if name == "range" and value[MAX_RANGE:]:  # `len` has a limit
        return View(value, OTHER, "long range", str(value))
    if family == SEQUENCE:
        return View(value, family, name, parts=[*value])
    return View(value, family, name, None if family == SET else str(value), [*TYPES[name].parts(value)])


def _of_numpy(numpy: Any, value: Any) -> View:
    if isinstance(value, numpy.ndarray):
        items = (value.astype(str) if value.dtype.kind in "Mm" else value).tolist()
        return View(value, SEQUENCE, "array", parts=items) if value.shape else view(items)._replace(it=value)
    kind = value.dtype.kind
    if kind in "biufc":
        plain = value.item()
        number = plain if isinstance(plain, (bool, int, float, complex)) else float(plain)
        return View(value, NUMBER, f"numpy.{value.dtype}", number)
    if kind in "US":
        return View(value, TEXT, "str" if kind == "U" else "bytes", value.item())
    return View(value, OTHER, "scalar", str(value))


def every(values: Iterable[Any]) -> Iterator[View]:
    """Yield the views of some values and of everything in them, each object once."""
    kept: dict[int, Any] = {}
    stack = [*values][::-1]
    count = 0
    while stack and count < MAX_EVERY:
        value = stack.pop()
        if id(value) in kept:
            continue
        seen = view(value)
        if seen.parts:
            kept[id(value)] = value
        count += 1
        yield seen
        stack += [*seen.keys, *seen.parts]


# --- replacing a part ---


def put(value: Any, steps: Sequence[Step], new: Any) -> Any:
    """Return a value with another part; what can change is changed in place."""
    if not steps:
        return new
    (how, key), *rest = steps
    if how == "attribute":
        object.__setattr__(value, key, put(getattr(value, key), rest, new))
        return value
    if how == "key":
        value[key] = put(value[key], rest, new)
        return value
    if type(value) is standing_in.Iterated:
        items = value.items
        return value.with_items([*items[:key], put(items[key], rest, new), *items[key + 1 :]])
    items = (
        value if type(value) in {list, collections.deque} else value.tolist() if hasattr(value, "tolist") else [*value]
    )
    items[key] = put(items[key], rest, new)
    return tuple.__new__(type(value), items) if isinstance(value, tuple) else items


def copied(value: Any) -> Any:
    """Return a copy of a value. Iterators are not used up; what belongs to the program stays itself."""
    memo: dict[int, Any] = {}
    kept = []
    for seen in every([value]):
        if seen.family == ITERATOR:
            memo[id(seen.it)] = seen.it.with_items([copied(item) for item in seen.parts])
        elif seen.family in {OTHER, FUNCTION}:
            memo[id(seen.it)] = seen.it
        kept.append(seen.it)
    return copy.deepcopy(value, memo)


def is_finite(value: Any) -> bool:
    """Whether a number is finite."""
    if isinstance(value, complex):
        return math.isfinite(value.real) and math.isfinite(value.imag)
    if isinstance(value, decimal.Decimal):
        return value.is_finite()
    return not isinstance(value, float) or math.isfinite(value)


_ATOMS: dict[type[Any], str] = {
    type(None): NONE, bool: NUMBER, int: NUMBER, float: NUMBER, complex: NUMBER, str: TEXT, bytes: TEXT,
}  # fmt: skip
