"""Substitutes for a candidate's objects and functions in the tests' process.

They are built from plain data, and none of the candidate's code runs in them, so they cannot behave dishonestly.
"""

from __future__ import annotations

import builtins
import collections
import functools

from grade_sandbox.values import remote_objects
from grade_sandbox.values.wire import MalformedError, UnconfirmedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any, NoReturn

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
    """An object of a class that only the other side has: its attributes, and its reported length and truth value."""

    __slots__ = (_FACTS, "__dict__", "__weakref__")

    def __bool__(self) -> bool:
        facts = facts_of(self)
        return bool(facts.get("__bool__", facts.get("__len__", True)))

    def __str__(self) -> str:
        facts = facts_of(self)
        return str(facts.get("__str__", facts.get("__repr__", object.__repr__(self))))

    def __repr__(self) -> str:
        return str(facts_of(self).get("__repr__", object.__repr__(self)))

    def __len__(self) -> Any:
        return _reported(self, "__len__")

    def __iter__(self) -> Iterator[Any]:
        return iter(_reported(self, "__iter__"))


def facts_of(tree: Tree) -> Mapping[Any, Any]:
    """Return what built-in functions got from the object; nothing if the program has made it."""
    try:
        facts: Mapping[Any, Any] = object.__getattribute__(tree, _FACTS)
    except AttributeError:
        return {}
    return facts


def _reported(tree: Tree, name: str) -> Any:
    facts = facts_of(tree)
    if name not in facts:
        raise TypeError(f"{type(tree).__name__!r} object has no {name}")
    return facts[name]


def _refusing(name: Any, note: Note) -> Callable[[Any, Any], Any]:
    def refuse(self: Any, other: Any) -> NoReturn:
        why = f"the tests compare an object of {name!r}, whose class overrides comparison"
        raise note(UnconfirmedError(why))

    return refuse


def _name(name: Any) -> str:
    if not isinstance(name, str) or not name.isidentifier():
        raise MalformedError("a class without a name")
    return name


@functools.cache
def tree_class(name: Any, compares: bool, note: Note) -> type[Tree]:
    """Return a Tree class of this name. `compares`: the candidate's class overrides comparison, which is never used."""
    members: dict[str, Any] = {"__slots__": ()}
    if compares:
        members |= dict.fromkeys(("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"), _refusing(name, note))
        members["__hash__"] = object.__hash__
    return type(_name(name), (Tree,), members)


def fill_tree(tree: Any, held: Mapping[Any, Any], facts: Mapping[Any, Any], note: Note) -> None:
    """Fill a Tree. `note` gets the reason why nothing can be confirmed, and returns the exception to raise."""
    if not isinstance(tree, Tree):
        raise MalformedError("a tree that is none")
    if any(not isinstance(name, str) or name.startswith("__") for name in held):
        raise MalformedError("an attribute that is no plain name")
    if "__iter__" in facts:
        facts = {**facts, "__iter__": _Items(facts["__iter__"], facts.get("__len__"), note)}
    object.__setattr__(tree, "__dict__", dict(held))
    object.__setattr__(tree, _FACTS, facts)


class _Items:
    """The items of an iterated object: the same each time, and as many as its reported length."""

    def __init__(self, source: Iterable[Any], length: Any, note: Note) -> None:
        self._source, self._length, self._note = iter(source), length, note
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
                self._taken.append(next(self._source))
            except StopIteration:
                return False
            except Exception as error:
                self._end = error
        return self._end is None


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
