"""Values as a judge sees them: what they are, their parts, and texts for people. No attribute of theirs is called.

All values here were read from messages, so they are plain data of exact types (values.py).
"""

from __future__ import annotations

import collections
import datetime
import decimal
import enum
import fractions
import sys
from typing import NamedTuple

from grade_sandbox import values
from grade_sandbox.judging import asking

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from grade_sandbox.judging.asking import Reply

NONE, TRUTH, NUMBER, TEXT, CONTAINER, OBJECT, ERROR, FUNCTION, REMOTE, OTHER = (
    "None", "truth", "number", "text", "container", "object", "error", "function", "remote", "other",
)  # fmt: skip


class Ref(NamedTuple):
    """What stays with the program, or is an earlier answer: the node of it."""

    kind: str
    content: Any


class Seen(values.Context):
    """The context of a judge that compares values: what stays with the program is a Ref."""

    def value_of(self, kind: str, content: Any) -> Any:
        return Ref(kind, tuple(content) if isinstance(content, list) else content)

    def node_of(self, value: Any) -> tuple[str, Any] | None:
        if type(value) is not Ref:
            return None
        return value.kind, list(value.content) if isinstance(value.content, tuple) else value.content

    def reply(self, text: str) -> Reply:
        """Return what a reply says; raises MalformedError."""
        return asking.read_reply(text, self)


class View(NamedTuple):
    """What a value is."""

    family: str
    kind: str
    """Its kind in a message."""
    value: Any = None
    """A number, a text, or what else has no parts."""
    keys: Sequence[Any] | None = None
    """Keys of a mapping, or names of attributes."""
    parts: Sequence[Any] = ()
    """Items, or what belongs to the keys."""
    dtype: str = ""
    """The type of numbers of NumPy."""

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
    """Return what a value is."""
    kind = type(value)
    if (family := _ATOMS.get(kind)) is not None:
        return View(family, kind.__name__, value)
    if kind is Ref:
        if value.kind == "function":
            return View(FUNCTION, "function")
        # What else is said of an object: whether its class overrides comparison.
        return View(REMOTE, value.kind, value.content[:2] if isinstance(value.content, tuple) else value.content)
    if isinstance(value, dict):
        return View(CONTAINER, kind.__name__, None, [*value.keys()], [*value.values()])
    if kind in _CONTAINERS:
        return View(CONTAINER, kind.__name__, None, None, [*value])
    if kind is range:
        return View(CONTAINER, "range", None, None, value if len(value) < _LONG else [str(value)])
    if kind is values.SentIterator:
        return View(CONTAINER, "iterator", value.is_complete, None, value.items)
    return _of_table(value) or _other(value, kind)


_LONG = 100_000


def _other(value: Any, kind: type[Any]) -> View:
    if isinstance(value, tuple):
        return View(OBJECT, "record", kind.__name__, list(getattr(kind, "_fields", range(len(value)))), [*value])
    if isinstance(value, BaseException):
        return View(ERROR, "exception", kind.__name__, None, value.args)
    if isinstance(value, type):
        return View(OTHER, "class", value.__name__)
    if isinstance(value, enum.Enum):
        return View(OTHER, "member", f"{kind.__name__}.{value._name_}")
    if isinstance(value, (datetime.date, datetime.time, datetime.timedelta, datetime.timezone, slice)):
        return View(OTHER, kind.__name__, value)
    if kind in {type(len), type(values.write)}:
        return View(OTHER, "function", getattr(value, "__name__", ""))
    held = values.attributes(value)
    return View(
        OBJECT, "tree" if isinstance(value, values.Tree) else "object", kind.__name__, [*held], [*held.values()]
    )


def _of_table(value: Any) -> View | None:
    """Return what a value of NumPy or pandas is; None for any other."""
    numpy, pandas = sys.modules.get("numpy"), sys.modules.get("pandas")
    if numpy is not None and isinstance(value, numpy.ndarray):
        items = (value.astype(str) if value.dtype.kind in "Mm" else value).tolist()
        found = View(CONTAINER, "array", None, None, items) if value.shape else view(items)
        return found._replace(dtype=str(value.dtype) if value.dtype.kind in "biufcMm" else "")
    if numpy is not None and isinstance(value, numpy.generic):
        family = TRUTH if value.dtype.kind == "b" else NUMBER if value.dtype.kind in "iufc" else TEXT
        item = value.item()
        is_atom = isinstance(item, (bool, int, float, complex, str, bytes))
        return View(family if is_atom else OTHER, "scalar", item, dtype="" if family == TEXT else str(value.dtype))
    if pandas is not None and isinstance(value, pandas.DataFrame):
        columns = [*value.columns, "index"]
        return View(
            CONTAINER, "frame", None, columns, [*(value.iloc[:, n] for n in range(value.shape[1])), value.index]
        )
    if pandas is not None and isinstance(value, (pandas.Series, pandas.Index)):
        items = [None if item is pandas.NA else item for item in value.tolist()]
        kind = f"{type(value).__name__} {value.dtype}"
        if isinstance(value, pandas.Series):
            return View(CONTAINER, kind, None, ["values", "index", "name"], [items, value.index, value.name])
        return View(CONTAINER, kind, None, None, items)
    return None


def is_unordered(value: Any) -> bool:
    """Whether the items of a value have no order."""
    return type(value) in _UNORDERED


def every(value: Any, most: int = 100_000) -> Iterator[View]:
    """Yield the views of a value and of everything in it, each object once."""
    kept: dict[int, Any] = {}
    stack = [value]
    while stack and most:
        one = stack.pop()
        if id(one) in kept:
            continue
        seen = view(one)
        if seen.parts:
            kept[id(one)] = one
        most -= 1
        yield seen
        stack += [*(seen.keys or ()), *seen.parts]


# --- texts for people ---

MAX_SHOWN = 500
_DEPTH = 6
_BRACKETS = {"tuple": ("(", ")"), "set": ("{", "}"), "frozenset": ("{", "}")}


def clipped(pieces: Iterable[str]) -> str:
    """Join pieces of a text up to its maximum length."""
    text = ""
    for piece in pieces:
        text += piece[: MAX_SHOWN + 1]
        if len(text) > MAX_SHOWN:
            return text[: MAX_SHOWN - 3] + "..."
    return text


def shown(value: Any) -> str:
    """Return a value as it would be written in Python, cut at MAX_SHOWN characters."""
    return clipped(pieces(value))


def pieces(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield the text of a value."""
    if depth > _DEPTH:
        yield "..."
        return
    seen = view(value)
    if seen.family in {NUMBER, TRUTH, NONE}:
        yield _number(seen.value)
    elif seen.family == TEXT:
        yield repr(seen.value)
    elif seen.family == REMOTE:
        yield f"<{seen.value[1]} object>" if isinstance(seen.value, tuple) else "<an earlier answer>"
    elif seen.family == FUNCTION:
        yield "<function>"
    elif seen.family == OTHER:
        yield _plain(seen.value)
    else:
        yield from _whole(seen, depth)


def _plain(value: Any) -> str:
    if type(value) is datetime.timedelta:
        return f"timedelta({value.days}, {value.seconds}, {value.microseconds})"
    return str(value)


def _number(value: Any) -> str:
    try:
        return str(value)
    except ValueError:  # Python converts no integer with more than 4,300 digits
        return "a number with very many digits"


def _whole(seen: View, depth: int) -> Iterator[str]:
    named = seen.family in {OBJECT, ERROR}
    usual = ("(", ")") if named else ("{", "}") if seen.keys is not None else ("[", "]")
    begin, end = _BRACKETS.get(seen.kind, usual)
    prefix = f"{seen.value}" if named else "iter(" if seen.kind == "iterator" else ""
    yield prefix + begin
    for number, part in enumerate(seen.parts):
        yield ", " if number else ""
        if seen.keys is not None:
            key = seen.keys[number]
            yield from [f"{key}="] if named else [*pieces(key, depth + 1), ": "]
        yield from pieces(part, depth + 1)
    yield "," if seen.kind == "tuple" and len(seen.parts) == 1 else ""
    yield end + (")" if seen.kind == "iterator" else "")
