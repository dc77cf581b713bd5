"""Names that tests may use without defining them: the candidate's functions, constants and imported modules."""

from __future__ import annotations

import builtins

import codes
import instances

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import CodeType
    from typing import Any

    from receiving import Decoder
    from standing_in import Makers

# Modules in which to look up a name that the signature forgot to import but the candidate imported.
_TRUSTED = (
    "math", "collections", "itertools", "functools", "typing", "copy", "random", "re", "string", "heapq", "bisect",
    "operator", "datetime", "json", "cmath", "statistics", "fractions", "decimal", "time",
)  # fmt: skip
_ALIASES = {"np": "numpy", "pd": "pandas", "numpy": "numpy", "pandas": "pandas"} | {name: name for name in _TRUSTED}


def open_names(code: CodeType, namespace: dict[str, Any]) -> list[str]:
    """Return the global names that the tests read, but neither they nor the signature define."""
    return sorted(global_names(code) - namespace.keys() - set(dir(builtins)))


def global_names(code: CodeType) -> set[str]:
    """Return the global names that the tests read but do not define."""
    read: set[str]
    stored: set[str]
    read, stored = set(), set()
    _collect(code, read, stored, top=True)
    return read - stored


def _collect(code: CodeType, read: set[str], stored: set[str], *, top: bool) -> None:
    for name, used in codes.names(code):
        if used in {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}:
            read.add(name)
        elif used == "STORE_GLOBAL" or (top and used == "STORE_NAME"):
            stored.add(name)
    for constant in code.co_consts:
        if hasattr(constant, "co_consts"):
            _collect(constant, read, stored, top=False)


def read_attributes(code: CodeType) -> list[str]:
    """Return the names of all attributes that the tests read."""
    found = {name for name, used in codes.names(code) if used in {"LOAD_ATTR", "LOAD_METHOD"}}
    for constant in code.co_consts:
        if hasattr(constant, "co_consts"):
            found.update(read_attributes(constant))
    return sorted(found)


def classes_and_stubs(spec: dict[str, Any], namespace: dict[str, Any]) -> tuple[dict[str, type[Any]], dict[str, Any]]:
    """Remove the stubs from a signature's namespace; return the signature's classes, and the stubs by name."""
    classes = instances.declared(spec["classes"], namespace)
    return classes, {name: namespace.pop(name) for name in spec["stubs"] if name in namespace}


def library(name: str) -> Any:
    """Return the module or library function that a candidate most likely means by this name, or None."""
    if name in _ALIASES:
        try:
            return __import__(_ALIASES[name])
        except ImportError:
            return None
    for module in map(__import__, _TRUSTED):
        if hasattr(module, name):
            return getattr(module, name)
    return None


def lend(
    namespace: dict[str, Any],
    names: Iterable[str],
    hello: dict[str, Any],
    decoder: Decoder,
    makers: Makers,
    proxy: Callable[[str], object],
) -> int:
    """Define in the tests' namespace the names that a candidate has; return the number of values.

    Modules and library functions come from this process's own library, whatever the candidate binds to `isclose` or
    `pi`. `proxy(name)` creates the proxy of a function.
    """
    functions = {name for name in hello["functions"] if isinstance(name, str)}
    for name in names:
        found = library(name)
        if name in _ALIASES:
            if name in hello["modules"]:
                namespace[name] = found
        elif found is not None:
            if name in functions | hello["errors"].keys() | hello["values"].keys():
                namespace[name] = found
        elif name in hello["errors"]:
            namespace[name] = makers.error_class(name, hello["errors"][name])
        elif name in hello["values"]:
            namespace[name] = decoder.value(hello["values"][name])
        elif name in functions:
            namespace[name] = proxy(name)
    return len(hello["values"].keys() & set(names))
