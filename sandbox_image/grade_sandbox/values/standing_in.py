"""Substitutes for a candidate's objects and functions in the tests' process.

They are built from plain data, and none of the candidate's code runs in them, so they cannot behave dishonestly.
"""

from __future__ import annotations

import builtins
import collections
import functools

from grade_sandbox.values import remote_objects
from grade_sandbox.values.wire import EndlessError, MalformedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

    CallBack = Callable[["Proxy | remote_objects.Operator", tuple[Any, ...], dict[str, Any]], Any]
    """Calls a function of the candidate, or an operation on one of its objects."""
    Note = Callable[[BaseException], BaseException]
    """Records why nothing can be confirmed; returns the error."""

_FACTS = "__facts__"


class Proxy:
    """Represents one function of the candidate in the tests' namespace."""

    def __init__(self, name: str, stub: Any, call: CallBack) -> None:
        """`call(proxy, args, kwargs)` makes the call."""
        self.__name__ = self.__qualname__ = name
        if stub is not None:
            self.__doc__, self.__wrapped__ = stub.__doc__, stub
        self._call = call

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(self, args, kwargs)

    def __repr__(self) -> str:
        return f"<function {self.__name__}>"


class Tree:
    """An object of a class that only the other side has: its attributes, its length and its items."""

    __slots__ = (_FACTS, "__dict__", "__weakref__")

    def __bool__(self) -> bool:
        return bool(facts_of(self).get("__len__", True))

    def __len__(self) -> Any:
        return _reported(self, "__len__")

    def __iter__(self) -> Iterator[Any]:
        return iter(_reported(self, "__iter__"))


def facts_of(tree: Tree) -> dict[Any, Any]:
    """Return the length and the items of an object, as far as it has them."""
    try:
        facts: dict[Any, Any] = object.__getattribute__(tree, _FACTS)
    except AttributeError:
        return {}
    return facts


def _reported(tree: Tree, name: str) -> Any:
    facts = facts_of(tree)
    if name not in facts:
        raise TypeError(f"{type(tree).__name__!r} object has no {name}")
    return facts[name]


def _name(name: Any) -> str:
    if not isinstance(name, str) or not name.isidentifier():
        raise MalformedError("a class without a name")
    return name


@functools.cache
def tree_class(name: Any) -> type[Tree]:
    """Return a Tree class of this name."""
    return type(_name(name), (Tree,), {"__slots__": ()})


def fill_tree(tree: Any, held: Mapping[Any, Any], facts: Mapping[Any, Any]) -> None:
    """Fill a Tree."""
    if not isinstance(tree, Tree):
        raise MalformedError("a tree that is none")
    if any(not isinstance(name, str) or name.startswith("__") for name in held):
        raise MalformedError("an attribute that is no plain name")
    kept = {name: facts[name] for name in ("__len__", "__iter__") if name in facts}
    object.__setattr__(tree, "__dict__", dict(held))
    object.__setattr__(tree, _FACTS, kept)


class Iterated:
    """An iterator of which all items are known, or the first ones.

    `end`: None, the exception after the items, or True if it does not end. `note` gets the reason why nothing can be
    confirmed, and returns the exception to raise.
    """

    def __init__(self, items: list[Any], end: Any = None, note: Note = lambda error: error) -> None:
        self.items, self.end, self.note = items, end, note
        self._next = 0

    def __iter__(self) -> Iterated:
        return self

    def __next__(self) -> Any:
        self._next += 1
        if self._next <= len(self.items):
            return self.items[self._next - 1]
        if self.end is None:
            raise StopIteration
        if isinstance(self.end, Exception):
            raise self.end
        raise self.note(EndlessError(f"more than the first {len(self.items)} items of an iterator that does not end"))

    def with_items(self, items: list[Any]) -> Iterated:
        """Return an iterator like this one, with other items."""
        return Iterated(items, self.end, self.note)


@functools.cache
def error_class(name: Any, base: Any) -> type[Exception]:
    """Return an exception class of this name; its base is a built-in class."""
    kind = getattr(builtins, base)
    if not (isinstance(kind, type) and issubclass(kind, Exception)):
        raise MalformedError("an exception that is none")
    return type(_name(name), (kind,), {})


def record(name: Any, fields: Any, values: Iterable[Any]) -> Any:
    """Return a named tuple."""
    if not (isinstance(fields, list) and all(isinstance(field, str) for field in fields)):
        raise MalformedError("a named tuple without names")
    return collections.namedtuple(_name(name), fields, rename=True)._make(values)  # type: ignore[attr-defined]


def part(kind: Any, value: Any, key: Any) -> Any:
    """Return an item, an attribute, or an item of an iteration (`item`, `attr`, `nth`) of a value."""
    if remote_objects.is_object(value):
        raise LookupError("a part of an object is known only to the candidate")
    if kind == "attr":
        return getattr(value, key)
    if kind == "nth" and not isinstance(value, (list, tuple, str)):
        return list(value)[key]
    return value[key]
