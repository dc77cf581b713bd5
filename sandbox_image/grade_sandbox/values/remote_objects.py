"""Objects of a class that the candidate must write. The tests' process has none of their contents: it asks for each.

In a task whose signature declares such a class, the tests get a substitute for the class. Its construction is a call of
the candidate, and so is every operation on an instance (reading an attribute, `len`, `a + b`, `for x in a`), with one
of OPERATORS as the function. The same substitutes record the calls and replay them.

A comparison of two such objects is a call as well. An object could claim to be equal to anything, so recording.py also
asks about the other objects of the class, and the answers have to be those of the reference solution. Beside any other
value, an object is equal only to itself.
"""

from __future__ import annotations

import copy
import operator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any, NoReturn, Protocol

    class Link(Protocol):
        """What the substitutes use of the process that they are in."""

        def operate(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            """Make a call of the candidate; `target`: a class, an object or an operator."""

        def compare(self, name: str, left: Any, right: Any) -> Any:
            """Compare two values, at least one of them such an object; `name`: one of COMPARISONS."""

        def refuse(self, why: str) -> NoReturn:
            """Raise the exception after which nothing can be confirmed."""


BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor", "lshift", "rshift")
_IN_PLACE = ("iadd", "isub", "imul", "itruediv", "ior", "iand", "ixor")
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
_CONVERSIONS: tuple[type[Any], ...] = (bool, str, int, float)


def _items(value: Any) -> Iterator[Any]:
    # An object may be its own iterator. A generator is sent as its items.
    return (item for item in value)


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    **{name: getattr(operator, name) for name in (*BINARY, *_IN_PLACE, "getitem", "contains", "neg", "pos", "abs")},
    **{kind.__name__: kind for kind in _CONVERSIONS},
    "isinstance": isinstance, "issubclass": issubclass,
    "getattr": getattr, "setattr": setattr, "delattr": delattr, "setitem": operator.setitem,
    "delitem": operator.delitem, "len": len, "repr": repr, "format": format, "index": operator.index,
    "iter": _items, "next": next, "round": round, "copy": copy.copy, "deepcopy": copy.deepcopy,
    "reversed": lambda value: _items(reversed(value)), "callable": callable,
    "enter": lambda value: type(value).__enter__(value),
    "exit": lambda value: bool(type(value).__exit__(value, None, None, None)),
    **{name: getattr(operator, name) for name in COMPARISONS},
}  # fmt: skip
"""Operator -> the function that carries it out, in the candidate's process."""


class Operator:
    """The function of a call that is an operation."""

    __slots__ = ("__name__",)

    def __init__(self, name: str) -> None:
        self.__name__ = name


OPERATORS = {name: Operator(name) for name in FUNCTIONS}


def class_of(name: str, stub: type[Any], link: Link) -> type[Any]:
    """Return the substitute for a class that the candidate must write."""

    def derive(cls: type[Any], /, **_: Any) -> None:
        link.refuse("the tests derive a class from one that the candidate must write")

    members = {"__slots__": (), "__doc__": stub.__doc__, "__link__": link, "__init_subclass__": classmethod(derive)}
    return _Class(name, (Opaque,), members)


def questions(link: Link) -> dict[str, Any]:
    """Return the built-in functions that ask for the kind of an object: a substitute has all methods, and no base."""

    def is_callable(value: Any, /) -> bool:
        if not is_object(value):
            return callable(value)
        return bool(link.operate(OPERATORS["callable"], (value,), {}))

    def is_instance(value: Any, kinds: Any, /) -> bool:
        if is_object(value):
            _known(kinds)
        is_own = isinstance(value, kinds)
        return is_own if is_own or not is_object(value) else link.operate(OPERATORS["isinstance"], (value, kinds), {})

    def is_subclass(value: Any, kinds: Any, /) -> bool:
        if is_class(value):
            _known(kinds)
        is_own = issubclass(value, kinds)
        return is_own if is_own or not is_class(value) else link.operate(OPERATORS["issubclass"], (value, kinds), {})

    def _known(kinds: Any) -> None:
        if not all(map(is_class, kinds if isinstance(kinds, tuple) else [kinds])):
            link.refuse("the tests ask what else an object of the candidate's is")

    return {"callable": is_callable, "isinstance": is_instance, "issubclass": is_subclass}


def is_class(value: Any) -> bool:
    """Whether a value is a substitute for a class."""
    return type(value) is _Class


def is_object(value: Any) -> bool:
    """Whether a value is a substitute for an object."""
    return type(type(value)) is _Class


def made(kind: Any, expression: Any = None, *, compares: bool = False) -> Any:
    """Return an object of a substitute for a class.

    `expression`: its name for a recorder. `compares`: the candidate's class overrides comparison.
    """
    if not is_class(kind):
        raise TypeError("not a substitute for a class")
    one = object.__new__(kind)
    object.__setattr__(one, "__expression__", expression)
    object.__setattr__(one, "__compares__", compares)
    return one


def compared(name: str, left: Any, right: Any, link: Link) -> Any:
    """Ask the candidate about two objects; compare one with another value by identity, as Python does by default.

    The latter is refused if the class overrides comparison.
    """
    if is_object(left) and is_object(right):
        return link.operate(OPERATORS[name], (left, right), {})
    if any(is_object(value) and value.__compares__ for value in (left, right)):
        link.refuse(f"the tests compare an object of {type(left).__name__!r}, whose class overrides comparison")
    if name in {"eq", "ne"}:
        return (left is right) == (name == "eq")
    return NotImplemented


_METHODS: set[str] = set()
"""The methods that every substitute has, and a class of the candidate's only if it defines them."""


def _reserved(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


class _Class(type):
    """The class of all substitutes for classes: reading an attribute of one of them is a call of the candidate."""

    __link__: Link

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return cls.__link__.operate(cls, args, kwargs)

    def __getattribute__(cls, name: str) -> Any:
        if name in _METHODS:
            return cls.__link__.operate(OPERATORS["getattr"], (cls, name), {})
        return super().__getattribute__(name)

    def __getattr__(cls, name: str) -> Any:
        if _reserved(name):
            raise AttributeError(name)
        return cls.__link__.operate(OPERATORS["getattr"], (cls, name), {})

    def __setattr__(cls, name: str, value: Any) -> None:
        if _reserved(name):
            super().__setattr__(name, value)
        else:
            cls.__link__.operate(OPERATORS["setattr"], (cls, name, value), {})


class Opaque:
    """An object of the candidate's. Its own names are reserved ones, so none of them hides an attribute."""

    __slots__ = ("__compares__", "__expression__", "__weakref__")
    if TYPE_CHECKING:
        __link__: Link
        __compares__: bool
        __expression__: Any

    def __getattribute__(self, name: str) -> Any:
        # Python itself looks for such a method in the class: then it is used. The tests ask whether there is one.
        return _operated("getattr", self, name) if name in _METHODS else super().__getattribute__(name)

    def __getattr__(self, name: str) -> Any:
        if _reserved(name):
            raise AttributeError(name)
        return _operated("getattr", self, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__link__.operate(self, args, kwargs)

    def __exit__(self, kind: object, *error: object) -> Any:
        # If the tests fail in the block, what the object makes of it does not matter.
        return _operated("exit", self) if kind is None else False

    def __deepcopy__(self, memo: Any) -> Any:
        return _operated("deepcopy", self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        self.__link__.refuse("the tests serialize an object of the candidate's")

    def __hash__(self) -> int:
        if self.__compares__:
            why = f"the tests hash an object of {type(self).__name__!r}, whose class overrides comparison"
            self.__link__.refuse(why)
        return id(self)


def _operated(name: str, *args: Any) -> Any:
    return args[0].__link__.operate(OPERATORS[name], args, {})


def _operation(name: str, kind: Callable[[Any], Any] | None = None, *, reflected: bool = False) -> Callable[..., Any]:
    """Return the method that carries out an operation; `kind` makes of the answer what Python asks of the method."""

    def operate(self: Any, *others: Any) -> Any:
        found = self.__link__.operate(OPERATORS[name], (*others, self) if reflected else (self, *others), {})
        return found if kind is None or type(found) is kind else kind(found)

    return operate


def _comparison(name: str) -> Callable[[Any, Any], Any]:
    return lambda self, other: self.__link__.compare(name, self, other)


_ASKED: dict[str, Callable[[Any], Any] | None] = {
    **{kind.__name__: kind for kind in _CONVERSIONS}, "repr": str, "format": str, "contains": bool,
    "len": operator.index, "index": operator.index, "iter": iter, "reversed": iter,
    **dict.fromkeys(("getitem", "setitem", "delitem", "setattr", "delattr", "enter", "copy", "next", "round")),
    **dict.fromkeys(("neg", "pos", "abs", *BINARY, *_IN_PLACE)),
}  # fmt: skip
"""Operator with a method of its name -> what converts the answer."""
for _name, _kind in _ASKED.items():
    setattr(Opaque, f"__{_name.rstrip('_')}__", _operation(_name, _kind))
for _name in BINARY:
    setattr(Opaque, f"__r{_name.rstrip('_')}__", _operation(_name, reflected=True))
for _name in COMPARISONS:
    setattr(Opaque, f"__{_name}__", _comparison(_name))
_METHODS |= {
    name for name in vars(Opaque) if _reserved(name) and not hasattr(object, name) and callable(vars(Opaque)[name])
} - {"__getattr__", "__copy__", "__deepcopy__"}
