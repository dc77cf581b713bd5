"""Instances of the classes in a task's signature: which of them can be sent, and how they are rebuilt.

The receiving side takes these classes from the signature's text. The other side sends only data, which must never hide
a method.
"""

from __future__ import annotations

import builtins
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
        known = of_class(type(target), key)
        if _is_method(known):
            raise MalformedError("an attribute that hides a method")
        if isinstance(known, types.MemberDescriptorType):
            known.__set__(target, item)
        elif own is None:
            object.__setattr__(target, key, item)
        else:
            own[key] = item


def of_class(kind: type[Any], name: str) -> Any:
    """Return the entry of a class or its bases under a name, without calling descriptors."""
    return next((base.__dict__[name] for base in kind.__mro__ if name in base.__dict__), None)


def _is_method(known: Any) -> bool:
    """Whether an attribute of an instance under this name would redirect calls."""
    return isinstance(known, (classmethod, staticmethod)) or (callable(known) and not isinstance(known, type))


def make_named(kind: Any, values: list[Any]) -> Any:
    """Return an instance of a tuple class of the signature, with as many items as the class has fields."""
    if len(values) != len(getattr(kind, "_fields", values)):
        raise MalformedError("a named tuple without all of its fields")
    return tuple.__new__(kind, values)


def make_error(kind: Any, arguments: Iterable[Any], wanted: Mapping[Any, Any]) -> Exception:
    """Return an instance of an exception class of the signature."""
    if not (isinstance(kind, type) and issubclass(kind, Exception)):
        raise MalformedError("an exception that is none")
    error = kind.__new__(kind, *arguments)
    set_attributes(error, wanted)
    return error


def make_builtin_error(name: str, parts: list[Any], own: type[BaseException] | None = None) -> BaseException:
    """Return an instance of a built-in exception class, or of `own`, a class that derives from it."""
    kind = getattr(builtins, name)
    if not (isinstance(kind, type) and issubclass(kind, BaseException)):
        raise MalformedError("an exception that is none")
    try:
        return (own or kind)(*parts)
    except TypeError:
        return RuntimeError(*parts)
