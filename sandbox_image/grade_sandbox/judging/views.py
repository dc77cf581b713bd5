"""Views of values, as a judge sees them: what they are, their parts, and texts for people. Nothing of theirs is called.

All values here were read from messages, so they are plain data of exact types (values.py).
"""

from __future__ import annotations

import collections
import datetime
import decimal
import enum
import fractions
import sys
import types
from typing import NamedTuple

from grade_sandbox import values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

NONE, TRUTH, NUMBER, TEXT, CONTAINER, OBJECT, ERROR, FUNCTION, REMOTE, OTHER = (
    "None", "truth", "number", "text", "container", "object", "error", "function", "remote", "other",
)  # fmt: skip


class Ref(NamedTuple):
    """What stays with the program, or is an earlier answer: the node of it."""

    kind: str
    content: Any


class JudgeContext(values.Context):
    """The context of a judge that compares values: what stays with the program is a Ref."""

    def value_of(self, kind: str, content: Any) -> Any:
        return Ref(kind, tuple(content) if isinstance(content, list) else content)

    def node_of(self, value: Any) -> tuple[str, Any] | None:
        if type(value) is not Ref:
            return None
        return value.kind, list(value.content) if isinstance(value.content, tuple) else value.content


class View(NamedTuple):
    """What a value is, independent of its type: values of one family are compared with each other."""

    family: str
    """One of the constants above."""
    kind: str
    """The name of its type, or its kind in a message."""
    value: Any = None
    """A number, a text, or what else has no parts."""
    keys: Sequence[Any] | None = None
    """Keys of a mapping, or names of attributes."""
    parts: Sequence[Any] = ()
    """Items, or what belongs to the keys."""
    dtype: str = ""
    """The type of NumPy's numbers and truth values; empty for any other value, its texts included."""

    @property
    def names(self) -> Sequence[Any]:
        """The keys, or the positions."""
        return range(len(self.parts)) if self.keys is None else self.keys


_ATOMS: dict[type[Any], str] = {
    type(None): NONE, bool: TRUTH, int: NUMBER, float: NUMBER, complex: NUMBER, decimal.Decimal: NUMBER,
    fractions.Fraction: NUMBER, str: TEXT, bytes: TEXT, bytearray: TEXT,
}  # fmt: skip
_CONTAINERS: tuple[type[Any], ...] = (
    list, tuple, set, frozenset, collections.deque, type({}.keys()), type({}.values()), type({}.items()),
)  # fmt: skip
_UNORDERED: tuple[type[Any], ...] = (set, frozenset, type({}.keys()), type({}.items()))


def view(value: Any) -> View:
    """Describe a value: its family, its kind, and its parts."""
    cls = type(value)
    if (family := _ATOMS.get(cls)) is not None:
        return View(family, cls.__name__, value)
    if cls is Ref:
        if value.kind == "function":  # all count as the same: only calls tell them apart
            return View(FUNCTION, "function")
        # Only number and class: whether the class overrides comparison makes no other object of it.
        return View(REMOTE, value.kind, value.content[:2] if isinstance(value.content, tuple) else value.content)
    if isinstance(value, dict):
        return View(CONTAINER, cls.__name__, keys=[*value.keys()], parts=[*value.values()])
    if cls in _CONTAINERS:
        return View(CONTAINER, cls.__name__, parts=[*value])
    if cls is range:
        return View(CONTAINER, "range", parts=value if len(value) < _MAX_RANGE else [str(value)])
    if cls is values.SentIterator:
        return View(CONTAINER, "iterator", value.is_complete, parts=value.items)
    return _numpy_view(value) or _pandas_view(value) or _other_view(value, cls)


_MAX_RANGE = 100_000
"""A longer range counts as its text: it may have more items than memory has room for."""


def _other_view(value: Any, cls: type[Any]) -> View:
    """Describe a named tuple, an exception, a class, a date, a function, or another object."""
    if isinstance(value, tuple):  # a named one: plain ones are containers
        fields = list(getattr(cls, "_fields", range(len(value))))
        return View(OBJECT, "record", cls.__name__, keys=fields, parts=[*value])
    if isinstance(value, BaseException):
        return View(ERROR, "exception", cls.__name__, parts=value.args)
    if isinstance(value, type):
        return View(OTHER, "class", value.__name__)
    if isinstance(value, enum.Enum):
        return View(OTHER, "member", f"{cls.__name__}.{value._name_}")
    if isinstance(value, (datetime.date, datetime.time, datetime.timedelta, datetime.timezone, slice)):
        return View(OTHER, cls.__name__, value)
    if isinstance(value, (types.BuiltinFunctionType, types.FunctionType)):
        return View(OTHER, "function", getattr(value, "__name__", ""))
    members = values.attributes(value)
    kind = "tree" if isinstance(value, values.Tree) else "object"
    return View(OBJECT, kind, cls.__name__, keys=[*members], parts=[*members.values()])


_NUMBERS = "iufc"
"""Letters of NumPy's types: integers, floats and complex numbers. `b`: truth values."""


def _numpy_view(value: Any) -> View | None:
    """Describe an array or a scalar of NumPy; None for any other value."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(value, (numpy.ndarray, numpy.generic)):
        return None
    letter, dtype = value.dtype.kind, str(value.dtype)
    if isinstance(value, numpy.ndarray):
        items = value.tolist()
        # Without dimensions, it is described as its only item.
        described = View(CONTAINER, "array", parts=items) if value.shape else view(items)
        return described._replace(dtype=dtype if letter in "b" + _NUMBERS else "")
    family = TRUTH if letter == "b" else NUMBER if letter in _NUMBERS else TEXT
    item = value.item()
    # A float of more bits than Python's has no value of its plain types.
    is_atom = isinstance(item, (bool, int, float, complex, str, bytes))
    return View(family if is_atom else OTHER, "scalar", item, dtype="" if family == TEXT else dtype)


def _pandas_view(value: Any) -> View | None:
    """Describe a table, a column or an index of pandas; None for any other value."""
    pandas = sys.modules.get("pandas")
    if pandas is None:
        return None
    if isinstance(value, pandas.DataFrame):
        columns = [value.iloc[:, n] for n in range(value.shape[1])]
        return View(CONTAINER, "frame", keys=[*value.columns, "index"], parts=[*columns, value.index])
    if not isinstance(value, (pandas.Series, pandas.Index)):
        return None
    items = [None if item is pandas.NA else item for item in value.tolist()]
    kind = f"{type(value).__name__} {value.dtype}"
    if isinstance(value, pandas.Series):
        return View(CONTAINER, kind, keys=["values", "index", "name"], parts=[items, value.index, value.name])
    return View(CONTAINER, kind, parts=items)


def is_unordered(value: Any) -> bool:
    """Whether the items of a value have no order."""
    return type(value) in _UNORDERED


def iter_views(value: Any, max_views: int = 100_000) -> Iterator[View]:
    """Yield the views of a value and of everything in it, each object once."""
    visited: dict[int, Any] = {}
    """id() of an object -> the object, which must live on."""
    stack = [value]
    while stack and max_views:
        part = stack.pop()
        if id(part) in visited:
            continue
        its_view = view(part)
        if its_view.parts:
            visited[id(part)] = part
        max_views -= 1
        yield its_view
        stack += [*(its_view.keys or ()), *its_view.parts]


# --- texts for people ---

MAX_SHOWN = 500
MAX_DEPTH = 6
_BRACKETS = {"tuple": ("(", ")"), "set": ("{", "}"), "frozenset": ("{", "}")}


def join_clipped(pieces: Iterable[str]) -> str:
    """Join pieces of a text up to its maximum length."""
    text = ""
    for piece in pieces:
        text += piece[: MAX_SHOWN + 1]
        if len(text) > MAX_SHOWN:
            return text[: MAX_SHOWN - 3] + "..."
    return text


def format_value(value: Any) -> str:
    """Return a value as it would be written in Python, cut at MAX_SHOWN characters."""
    return join_clipped(value_pieces(value))


def value_pieces(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield the text of a value in pieces: the whole may be too long."""
    if depth > MAX_DEPTH:
        yield "..."
        return
    its_view = view(value)
    family, content = its_view.family, its_view.value
    if family in {NUMBER, TRUTH, NONE}:
        yield _number_text(content)
    elif family == TEXT:
        yield repr(content)
    elif family == REMOTE:
        # (number, class) of an object; or the number of the call that gave the answer.
        yield f"<{content[1]} object>" if isinstance(content, tuple) else "<an earlier answer>"
    elif family == FUNCTION:
        yield "<function>"
    elif family == OTHER:
        yield str(content)
    else:
        yield from _container_pieces(its_view, depth)


def _number_text(value: Any) -> str:
    try:
        return str(value)
    except ValueError:  # Python converts no integer with more than 4,300 digits
        return "a number with very many digits"


def _container_pieces(container: View, depth: int) -> Iterator[str]:
    """Yield the text of an object, an exception or a container in pieces."""
    has_name = container.family in {OBJECT, ERROR}
    usual = ("(", ")") if has_name else ("{", "}") if container.keys is not None else ("[", "]")
    begin, end = _BRACKETS.get(container.kind, usual)
    prefix = f"{container.value}" if has_name else "iter(" if container.kind == "iterator" else ""
    yield prefix + begin
    for number, part in enumerate(container.parts):
        yield ", " if number else ""
        if container.keys is not None:
            key = container.keys[number]
            yield from [f"{key}="] if has_name else [*value_pieces(key, depth + 1), ": "]
        yield from value_pieces(part, depth + 1)
    yield "," if container.kind == "tuple" and len(container.parts) == 1 else ""
    yield end + (")" if container.kind == "iterator" else "")
