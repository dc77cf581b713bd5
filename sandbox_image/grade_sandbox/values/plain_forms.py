"""Send functions by name, and instances of a candidate's own types as plain data, unless they override comparison.

This decides no verdict: everything that is sent is data, and the tests compare data. It exists for honest programs
that return, for example, their own subclass of list, so that they keep the credit for its contents.
"""

from __future__ import annotations

import contextlib
import enum
import functools
import itertools
import operator
import sys
import types

from grade_sandbox.values import constructed, standing_in
from grade_sandbox.values.instances import attributes, of_class
from grade_sandbox.values.wire import UncrossableError, module_of, type_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from grade_sandbox.values.wire import NodeEncoder

_COMPARING = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__")
# Modules with classes that are not an attribute of the module, or that name another module as theirs.
_LIBRARIES = {"itertools", "functools", "collections", "types", "random", "json", "io", "socket"}
_HEAP_TYPE = 1 << 9
_CALLABLE: tuple[type[Any], ...] = (
    types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.MethodDescriptorType,
    types.BuiltinMethodType, types.WrapperDescriptorType, types.MethodWrapperType, functools.partial,
    functools._lru_cache_wrapper, operator.itemgetter, operator.attrgetter, operator.methodcaller,
)  # fmt: skip
SIGNATURE = "<signature>"
"""The file name of the signature's code."""
BUILTIN_MODULES = ("builtins", "math", "cmath", "operator", "statistics", "numpy")
_REFUSED = {
    "eval", "exec", "compile", "open", "input", "breakpoint", "__import__", "globals", "locals", "vars", "exit", "quit",
    "help", "getattr", "setattr", "delattr",
}  # fmt: skip


def overrides(kind: type[Any], base: type[Any]) -> bool:
    """Whether a class compares its instances in another way than `base` does."""
    return any(of_class(kind, name) is not of_class(base, name) for name in _COMPARING)


def is_own(kind: type[Any]) -> bool:
    """Whether a class is defined by the program and not by a library."""
    made_by_a_class_statement = kind.__flags__ & _HEAP_TYPE
    module = module_of(kind)
    known = getattr(sys.modules.get(module), kind.__name__, None) is kind
    return bool(made_by_a_class_statement) and not known and module not in _LIBRARIES


def node(encoder: NodeEncoder, value: Any) -> list[Any] | None:
    """Return a node for a value that is not plain data itself; None if no node can represent it."""
    kind = type(value)
    if isinstance(value, (*_CALLABLE, type)) or type_name(value) in {"numpy.ufunc", "numpy.vectorize"}:
        return _callable(encoder, value)
    if is_own(kind):
        return _own(encoder, value, kind)
    return ["function", kind.__name__] if encoder.functions and callable(value) else None


def _own(encoder: NodeEncoder, value: Any, kind: type[Any]) -> list[Any] | None:
    if isinstance(value, standing_in.Tree) or (encoder.functions and isinstance(value, enum.Enum)):
        return _tree(encoder, value, kind)
    base = next((base for base in kind.__mro__ if base in encoder.classes or constructed.name_of(base)), None)
    if base is not None and not overrides(kind, base):
        return _derived(encoder, value, kind, base)
    if base is not None or isinstance(value, _SCALARS):
        raise UncrossableError(f"{type_name(value)}, whose class overrides comparison")
    if not encoder.functions and (callable(value) or _has_behaviour(value)):
        return None
    return ["function", kind.__name__] if callable(value) else _tree(encoder, value, kind)


def _derived(encoder: NodeEncoder, value: Any, kind: type[Any], base: type[Any]) -> list[Any] | None:
    """Return a node for an object whose class derives from one that the other side has: an object of that class."""
    fields = getattr(kind, "_fields", None)
    if base is tuple and isinstance(fields, tuple):
        return ["record", kind.__name__, list(map(str, fields)), encoder.atoms(tuple.__iter__(value))]
    name = constructed.name_of(base)
    if name is not None:
        return encoder.constructed(name, value)
    is_plain = not isinstance(value, (enum.Enum, tuple, list, dict, set, *_SCALARS))
    return ["instance", encoder.classes[base], encoder.pairs(attributes(value))] if is_plain else None


def _has_behaviour(value: Any) -> bool:
    """Whether the class of an object of the tests has more than a constructor and what is sent of the object."""
    known = {"__init__", *_FACTS, *attributes(value)}
    members = (item for base in type(value).__mro__ if is_own(base) for item in vars(base).items())
    return any(callable(one) if name.startswith("__") else True for name, one in members if name not in known)


def scalar(value: Any) -> Any:
    """Return the plain number or text for an object whose class derives from such a type; None for other values."""
    base: Any = next((base for base in _SCALARS if isinstance(value, base)), None)
    if base is None or not is_own(type(value)) or overrides(type(value), base):
        return None
    return base.__str__(value) if base is str else base.__getnewargs__(value)[0]


def _tree(encoder: NodeEncoder, value: Any, kind: type[Any]) -> list[Any]:
    """Return a node for an object of the candidate's own class: its attributes, and facts that tests use."""
    held = attributes(value)
    if isinstance(value, enum.Enum):
        held = {"name": value.name, "value": value.value}
    for name in encoder.reads if encoder.asks(value) else ():
        if name not in held and hasattr(kind, name):
            with contextlib.suppress(Exception):
                held[name] = getattr(value, name)
    facts = _facts(value, kind) if encoder.asks(None) else {}
    sendable = [(name, item) for name, item in held.items() if type(name) is str and not name.startswith("__")]
    return ["tree", kind.__name__, encoder.pairs(dict(sendable)), encoder.pairs(facts)]


def _facts(value: Any, kind: type[Any]) -> dict[Any, Any]:
    """Return the length and the items of an object, as far as it has them."""
    if isinstance(value, standing_in.Tree):
        return standing_in.facts_of(value)
    facts: dict[Any, Any] = {}
    for name, ask in _FACTS.items():
        if of_class(kind, name) is not None:
            with contextlib.suppress(Exception):
                facts[name] = ask(value)
    if facts.keys() == _FACTS.keys() and min(facts["__len__"], MAX_ITEMS) != (items := len(facts["__iter__"])):
        raise UncrossableError(f"an object of length {facts['__len__']} that has {items} items")
    return facts


MAX_ITEMS = 1000
"""How many items of an object of the candidate's own class are sent at most."""
_FACTS: dict[str, Callable[[Any], Any]] = {
    "__len__": len,
    "__iter__": lambda value: [*itertools.islice(value, MAX_ITEMS)],
}
_SCALARS = (int, float, complex, str, bytes)


def _callable(encoder: NodeEncoder, value: Any) -> list[Any] | None:
    """Return a node for a function: of the candidate, else only one of a library, by its name."""
    name = getattr(value, "__name__", type(value).__name__)
    if encoder.functions:
        return ["function", name if type(name) is str else type(value).__name__]
    qualified = getattr(value, "__qualname__", name)
    for module in BUILTIN_MODULES:
        if find_builtin(module, qualified) is value:
            return ["builtin", module, qualified]
    return None


def find_builtin(module: Any, qualified: Any) -> Any:
    """Return a built-in function, type or method by its name, or None."""
    found: Any = sys.modules.get(module)
    if type(qualified) is not str or module not in BUILTIN_MODULES or qualified in _REFUSED or "__" in qualified:
        return None
    for part in qualified.split("."):
        found = getattr(found, part, None)
    return found if callable(found) else None
