"""Substitutes for a candidate's objects and functions in the tests' process.

They are built from plain data, and none of the candidate's code runs in them, so they cannot behave dishonestly.
"""

from __future__ import annotations

import builtins
import collections
import functools
from typing import NamedTuple

from grade_sandbox.values import remote_objects
from grade_sandbox.values.wire import EndlessError, MalformedError, UnconfirmedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
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

    def __enter__(self) -> Any:
        return self._call(remote_objects.OPERATORS["enter"], (self,), {})

    def __exit__(self, kind: object, *error: object) -> None:
        if kind is None:
            self._call(remote_objects.OPERATORS["exit"], (self,), {})

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


def fill_tree(tree: Any, held: Mapping[Any, Any], facts: Mapping[Any, Any], note: Note) -> None:
    """Fill a Tree. `note` gets the reason why nothing can be confirmed, and returns the exception to raise."""
    if not isinstance(tree, Tree):
        raise MalformedError("a tree that is none")
    if any(not isinstance(name, str) or name.startswith("__") for name in held):
        raise MalformedError("an attribute that is no plain name")
    kept = {name: facts[name] for name in ("__len__", "__iter__") if name in facts}
    if "__iter__" in kept:
        kept["__iter__"] = _Items(kept["__iter__"], kept.get("__len__"), note)
    object.__setattr__(tree, "__dict__", dict(held))
    object.__setattr__(tree, _FACTS, kept)


class _Items:
    """The items of an iterated object: the same each time, and as many as its reported length."""

    def __init__(self, source: Iterable[Any], length: Any, note: Note) -> None:
        self.source, self._length, self._note = iter(source), length, note
        self._taken: list[Any] = []
        self._end: Exception | None = None

    def __iter__(self) -> Iterator[Any]:
        position = 0
        while position < len(self._taken) or self._took_another():
            yield self._taken[position]
            position += 1
        if self._end is not None:
            raise self._end
        if self._length is not None and self._length != position:
            why = f"the candidate returned an object of length {self._length} that has {position} items"
            raise self._note(UnconfirmedError(why))

    def __deepcopy__(self, memo: object) -> _Items:
        """Return itself, for a program that copies the object: a generator cannot be copied."""
        return self

    def _took_another(self) -> bool:
        if self._end is None:
            try:
                self._taken.append(next(self.source))
            except StopIteration:
                return False
            except Exception as error:
                self._end = error
        return self._end is None

    def replace(self, source: Iterable[Any]) -> None:
        """Give other items, of any number."""
        self.source, self._length = iter(source), None


# --- iterators that a program answered: their items are known before somebody reads them ---


class _Iterated(NamedTuple):
    iterator: Any
    items: list[Any]
    kind: str
    end: Any
    note: Note


_ITERATED: dict[int, _Iterated] = {}
"""id() of an iterator -> what it gives. Only judges fill it, and a judge is a process that ends."""


def iterator(items: list[Any], kind: str = "iterator", end: Any = None, note: Note = lambda error: error) -> Any:
    """Return an iterator of known items, as `iterated` does."""
    made = iterated(items, kind, end, note)
    _ITERATED[id(made)] = _Iterated(made, items, kind, end, note)
    return made


def items_of(value: Any) -> list[Any] | None:
    """Return the items of an iterator, if they are known."""
    known = _ITERATED.get(id(value.source if type(value) is _Items else value))
    return None if known is None else known.items


def with_items(value: Any, items: list[Any]) -> Any:
    """Return an iterator like this one, with other items."""
    if type(value) is _Items:
        value.replace(iterator(items))
        return value
    known = _ITERATED[id(value)]
    return iterator(items, known.kind, known.end, known.note)


def iterated(items: list[Any], kind: str, end: Any, note: Note) -> Iterator[Any]:
    """Return an iterator of these items.

    `kind` is `iterator`; or `generator`, and `end` is what it returns; or `begun`, and `end` is the exception after the
    items, or None if it does not end.
    """
    if kind == "begun":
        return _begun(items, end, note)
    return iter(items) if kind == "iterator" else _generator(items, end)


def _generator(items: list[Any], returned: Any) -> Generator[Any, None, Any]:
    yield from items
    return returned


def _begun(items: list[Any], end: Any, note: Note) -> Iterator[Any]:
    yield from items
    if isinstance(end, Exception):
        raise end
    error = EndlessError(f"more than the first {len(items)} items of an iterator that does not end")
    note(error)
    raise error


@functools.cache
def error_class(name: Any, base: Any, library: type[Exception] | None) -> type[Exception]:
    """Return an exception class of this name; its base is a built-in class, or one of a library."""
    kind = getattr(builtins, base)
    if not (isinstance(kind, type) and issubclass(kind, Exception)):
        raise MalformedError("an exception that is none")
    return type(_name(name), (kind if library is None else library,), {})


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
