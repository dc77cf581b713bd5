"""Instances of the classes in a task's signature: which of them can be sent, and how they are rebuilt.

The receiving side takes these classes from the signature's text. The other side sends only data, which must never
replace what a class computes.
"""

from __future__ import annotations

import builtins
import dis
import functools
import sys
import types

from grade_sandbox.values.wire import MalformedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any


def declared(names: Iterable[str], namespace: Mapping[str, Any]) -> dict[str, type[Any]]:
    """Return name -> class for those of `names` (`Outer.Inner` for a nested one) that are not library classes."""
    found = {}
    for name in names:
        first, *rest = name.split(".")
        kind = namespace.get(first)
        for part in rest:
            kind = vars(kind).get(part) if isinstance(kind, type) else None
        if isinstance(kind, type) and _known(kind) is not kind:
            found[name] = kind
    return found


def _known(kind: type[Any]) -> Any:
    """Return what a class's module has under the class's name. A class that `type` creates may have no module."""
    return getattr(sys.modules.get(getattr(kind, "__module__", "")), kind.__name__, None)


def attributes(value: Any) -> dict[Any, Any]:
    """Return an instance's own attributes, including `__slots__`, without names that Python reserves."""
    found = dict(getattr(value, "__dict__", {}))
    for kind in type(value).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            if hasattr(value, slot):
                found[slot] = getattr(value, slot)
    return {key: item for key, item in found.items() if not _reserved(key)}


def _reserved(name: object) -> bool:
    return isinstance(name, str) and name.startswith("__") and name.endswith("__")


def set_attributes(target: Any, wanted: Mapping[Any, Any]) -> None:
    """Set the attributes of `target` to exactly `wanted`."""
    own = getattr(target, "__dict__", None)
    for key in attributes(target).keys() - wanted.keys():
        if own is not None and key in own:
            del own[key]
        else:
            object.__delattr__(target, key)
    for key, item in wanted.items():
        if not isinstance(key, str) or _reserved(key):
            raise MalformedError("an attribute that is no plain name")
        known = _of_class(type(target), key)
        if _is_method(known):
            raise MalformedError("an attribute that hides a method")
        if _is_constant(type(target), key, known):
            raise MalformedError("an attribute that hides a constant of its class")
        if isinstance(known, types.MemberDescriptorType):
            known.__set__(target, item)
        elif own is None:
            object.__setattr__(target, key, item)
        elif _is_computed(known):
            own.pop(key, None)
        else:
            own[key] = item


def _of_class(kind: type[Any], name: str) -> Any:
    """Return the entry of a class or its bases under a name, without calling descriptors."""
    return next((base.__dict__[name] for base in kind.__mro__ if name in base.__dict__), None)


def _is_method(known: Any) -> bool:
    """Whether an attribute of an instance under this name would redirect calls."""
    return isinstance(known, (classmethod, staticmethod)) or (callable(known) and not isinstance(known, type))


def _is_constant(kind: type[Any], name: str, known: Any) -> bool:
    """Whether the class has a value under this name that its methods read from `self` but never write.

    A name in capitals is always a constant.
    """
    if known is None or isinstance(known, type) or hasattr(type(known), "__get__"):
        return False
    if name in getattr(kind, "__dataclass_fields__", {}):
        return False
    steps = [step for base in kind.__mro__ if base is not object for step in _attribute_steps(base)]
    return (name.isupper() or ("LOAD_ATTR", name) in steps) and ("STORE_ATTR", name) not in steps


@functools.cache
def _attribute_steps(kind: type[Any]) -> set[tuple[str, Any]]:
    """Return (instruction, name) for every attribute that a class's own functions read or write, at any depth."""
    found: set[tuple[str, Any]] = set()
    stack = [getattr(value, part, None) for value in kind.__dict__.values() for part in ("__code__", *_WRAPPING)]
    while stack:
        value = stack.pop()
        if isinstance(value, types.CodeType):
            found |= {(s.opname, s.argval) for s in dis.get_instructions(value) if s.opname.endswith("_ATTR")}
            # A comprehension or a lambda has its own code object.
            stack += value.co_consts
        elif value is not None:
            stack += [part for part in (getattr(value, name, None) for name in ("__code__", *_WRAPPING)) if part]
    return found


_WRAPPING = ("__func__", "__wrapped__", "fget", "fset", "func")
"""Attributes in which a wrapper keeps its function."""


def _is_computed(known: Any) -> bool:
    """Whether the class computes this value and an instance stores it, as `functools.cached_property` does."""
    kind = type(known)
    return hasattr(kind, "__get__") and not hasattr(kind, "__set__") and not hasattr(kind, "__delete__")


def make_named(kind: Any, values: list[Any]) -> Any:
    """Return an instance of a tuple class of the signature, with as many items as the class has fields."""
    if len(values) != len(getattr(kind, "_fields", values)):
        raise MalformedError("a named tuple without all of its fields")
    return tuple.__new__(kind, values)


def make_error(kind: Any, arguments: Iterable[Any], wanted: Mapping[Any, Any], notes: Iterable[Any]) -> Exception:
    """Return an instance of an exception class of the signature."""
    if not (isinstance(kind, type) and issubclass(kind, Exception)):
        raise MalformedError("an exception that is none")
    error = kind.__new__(kind, *arguments)
    set_attributes(error, wanted)
    _annotate(error, notes)
    return error


def library_error(module: Any, qualified: Any) -> type[Exception] | None:
    """Return the exception class of this name in a library that this process itself has imported, or None."""
    found: Any = sys.modules.get(module) if isinstance(module, str) and isinstance(qualified, str) else None
    if found is None or module.split(".")[0] in _TESTING:
        return None
    for part in qualified.split("."):
        found = getattr(found, "__dict__", {}).get(part)
    return found if isinstance(found, type) and issubclass(found, Exception) else None


_TESTING = {"unittest", "doctest", "pytest", "_pytest", "hypothesis", "nose", "bdb"}
"""Modules whose exceptions end or skip a test."""


def _annotate(error: BaseException, notes: Iterable[Any]) -> None:
    found = [note for note in notes if isinstance(note, str)]
    if found:
        error.__notes__ = found


def make_builtin_error(
    name: str,
    parts: Iterable[Any],
    own: type[BaseException] | None = None,
    wanted: Mapping[Any, Any] | None = None,
    notes: Iterable[Any] = (),
) -> BaseException:
    """Return an instance of a built-in exception class.

    `own`: a class that derives from it, to be used instead. Its own constructor is not run. `wanted`: attributes of the
    instance.
    """
    kind = getattr(builtins, name)
    if not (isinstance(kind, type) and issubclass(kind, BaseException)):
        raise MalformedError("an exception that is none")
    parts = list(parts)
    if issubclass(kind, getattr(builtins, "BaseExceptionGroup", ())):
        parts[1:] = map(list, parts[1:])
    try:
        error = kind(*parts) if own is None else own.__new__(own, *parts)
    except TypeError:
        return RuntimeError(*parts)
    if own is not None:
        kind.__init__(error, *parts)
    for key, item in (wanted or {}).items():
        if isinstance(key, str) and not _reserved(key) and not hasattr(type(error), key):
            vars(error)[key] = item
    _annotate(error, notes)
    return error
